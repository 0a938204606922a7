"""Conformance cases in the form of their files, small enough to judge by hand."""

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Document = dict[str, Any]


def tensor(lifetime: str, dims: Sequence[int], type_: str = "TENSOR_FLOAT32", **more: Any) -> Document:
    """An operand that is a tensor."""
    return {"type": type_, "dims": list(dims), "lifetime": lifetime, **more}


def case(
    operands: Sequence[Document], op: str, examples: Sequence[tuple[list[Any], list[Any]]], **more: Any
) -> Document:
    """A case of one operation, which reads every operand but the outputs.

    `examples` are flat inputs and expected outputs.
    """
    by_role = {
        role: [number for number, operand in enumerate(operands) if operand["lifetime"] == role]
        for role in ("input", "output")
    }
    read = [number for number, operand in enumerate(operands) if operand["lifetime"] != "output"]
    return {
        "format": 1,
        "name": "small",
        "api_level": 27,
        "expect_failure": False,
        "lifetime_variants": [],
        "model": {
            "operands": copy.deepcopy(list(operands)),
            "operations": [{"op": op, "in": read, "out": by_role["output"]}],
            "inputs": by_role["input"],
            "outputs": by_role["output"],
        },
        "examples": [{"test": "small", "inputs": inputs, "outputs": outputs} for inputs, outputs in examples],
        **more,
    }


def sum_case(expected: Sequence[Any] = ("3", "5"), **more: Any) -> Document:
    """[1, 2] + [2, 3] in float32, the second one constant; `expected` is what the file says."""
    operands = [
        tensor("input", [2]),
        tensor("const", [2], value=["2", "3"]),
        {"type": "INT32", "dims": [], "lifetime": "const", "value": [0]},
        tensor("output", [2]),
    ]
    variants = ["all_tensors_as_inputs", "all_inputs_as_internal"]
    example = (["1", "2"], list(expected))
    return case(operands, "ADD", [([example[0]], [example[1]])], lifetime_variants=variants, **more)


def relu_case(expected: Sequence[int] = (128, 200), **more: Any) -> Document:
    """RELU of quant8 codes [100, 200] with zero point 128; `expected` is what the file says."""
    quantized: Document = {"type_": "TENSOR_QUANT8_ASYMM", "scale": 0.5, "zp": 128}
    operands = [tensor("input", [2], **quantized), tensor("output", [2], **quantized)]
    variants = ["all_inputs_as_internal"]
    return case(operands, "RELU", [([[100, 200]], [list(expected)])], lifetime_variants=variants, **more)


def write(folder: Path, name: str, document: Document) -> Path:
    """The document as a file; the case is called like the file."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps({**document, "name": name}))
    return path
