"""A program for a Python with TFLite: runs a network with and without TFLite's own delegate for NNAPI.

    python tflite_client.py FOLDER_OF_THE_DELEGATE MODEL.tflite

Writes a JSON object: `nodes` that the delegate left to TFLite, and whether the outputs are `equal`.
"""

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def outputs(model: str, delegates: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """Outputs for a fixed random input, and the operations that TFLite executes itself."""
    from tflite_runtime.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(
        model,
        experimental_delegates=list(delegates),
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
    )
    interpreter.allocate_tensors()
    random = np.random.default_rng(1)
    for given in interpreter.get_input_details():
        values = random.integers(0, 256, given["shape"]).astype(given["dtype"])
        interpreter.set_tensor(given["index"], values)
    interpreter.invoke()
    results = [interpreter.get_tensor(made["index"]) for made in interpreter.get_output_details()]
    nodes = [node["op_name"] for node in interpreter._get_ops_details()]
    return results, nodes


def main(folder: str, model: str) -> None:
    """Run both ways and compare."""
    sys.path.insert(0, folder)
    from tflite_nnapi_delegate import NnapiDelegate

    support = importlib.util.find_spec("tensorflow_lite_support")
    assert support is not None
    (home,) = support.submodule_search_locations or []
    library = Path(home) / "python/task/vision/pybinds/_pywrap_image_classifier.so"
    expected, all_nodes = outputs(model, [])
    found, nodes = outputs(model, [NnapiDelegate(str(library))])
    equal = [bool(np.array_equal(*pair)) for pair in zip(expected, found, strict=True)]
    answer = {"delegates": nodes.count("DELEGATE"), "nodes": len(all_nodes), "equal": equal}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
