"""Real networks with the sha256 of every tensor as TensorFlow Lite's reference kernels compute it."""

import dataclasses
import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.graph import Graph
from runtime.tflite import load_tflite
from tests.support.shared import shared_json, shared_path

Array = npt.NDArray[Any]

UINT8_MOBILENETS = (
    "coral_mobilenet_v1_0.25_128_quant",
    "coral_mobilenet_v1_0.5_160_quant",
    "coral_mobilenet_v2_1.0_224_quant",
    "coral_mobilenet_v2_1.0_224_inat_bird_quant",
)
INPUT_KINDS = ("random", "gradient")


@dataclasses.dataclass(frozen=True, slots=True)
class GoldenRun:
    """A network, its inputs, and the expected sha256 of every operation's outputs by operand number."""

    graph: Graph
    inputs: tuple[Array, ...]
    sha256_of_operand: dict[int, str]


def sha256(value: Array) -> str:
    """Hash of a tensor's bytes in row-major order."""
    return hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()


def fixed_input(shape: tuple[int, ...], kind: str, index: int) -> Array:
    """The uint8 input [batch, height, width, channels] that the goldens of this kind were made with."""
    if kind == "random":
        return np.random.default_rng(index).integers(0, 255, shape, np.uint8, endpoint=True)
    row, column, channel = np.ogrid[: shape[1], : shape[2], : shape[3]]
    values = (row * 7 + column * 3 + channel * 50 + row * column // 16) % 256
    return np.broadcast_to(values.astype(np.uint8), shape)


def load_golden(network: str, kind: str) -> GoldenRun:
    """One network with one kind of input; skips where the evidence is absent."""
    hashes = shared_json("golden", f"{network}.json")["runs"][kind]["tensor_sha256"]
    model = load_tflite(shared_path("models", f"{network}.tflite"))
    graph = model.graph
    produced = [number for operation in graph.operations for number in operation.outputs]
    shapes = [graph.operands[number].type.dimensions for number in graph.inputs]
    return GoldenRun(
        graph=graph,
        inputs=tuple(fixed_input(shape, kind, index) for index, shape in enumerate(shapes)),
        sha256_of_operand={number: hashes[str(model.tensor_indices[number])] for number in produced},
    )
