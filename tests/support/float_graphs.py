"""Random float32 graphs of the operations that the NPU's float lanes have.

Numbers stay moderate, so that one operation in single precision differs from the reference by roundings
only, which AOSP's tolerance covers.
"""

import numpy as np

from compiler.graph import Graph, Operand, OperandType
from compiler.nnapi import FuseCode, OperandCode, OperationCode
from tests.support.graphs import QUANT8, GraphBuilder, RandomLayers

FLOAT32 = OperandCode.TENSOR_FLOAT32
_POOLS = (OperationCode.AVERAGE_POOL_2D, OperationCode.MAX_POOL_2D, OperationCode.L2_POOL_2D)
_CLAMPS = (OperationCode.RELU, OperationCode.RELU1, OperationCode.RELU6)
_BOUNDED = (FuseCode.RELU1, FuseCode.RELU6)


class FloatGraphBuilder(GraphBuilder):
    """A builder of float tensors besides the quantised ones."""

    def real(self, shape: tuple[int, ...]) -> int:
        return self._add(Operand(OperandType(FLOAT32, shape)))

    def real_input(self, shape: tuple[int, ...]) -> int:
        self.inputs.append(self.real(shape))
        return self.inputs[-1]

    def real_constant(self, value: np.ndarray) -> int:
        return self._add(Operand(OperandType(FLOAT32, value.shape), value=value))


class FloatLayers(RandomLayers):
    """Appends random, valid float layers to a builder; the shapes of images stay of rank 4."""

    builder: FloatGraphBuilder

    def unary(self, source: int, code: OperationCode) -> int:
        return self.builder.operation(code, [source], self.builder.real(self.builder.shape(source)))

    def clamp(self, source: int) -> int:
        return self.unary(source, OperationCode(self.rng.choice(_CLAMPS)))

    def floor(self, source: int) -> int:
        return self.unary(source, OperationCode.FLOOR)

    def logistic(self, source: int) -> int:
        return self.unary(source, OperationCode.LOGISTIC)

    def tanh(self, source: int) -> int:
        return self.unary(source, OperationCode.TANH)

    def l2_normalization(self, source: int) -> int:
        return self.unary(source, OperationCode.L2_NORMALIZATION)

    def binary(self, source: int) -> int:
        b = self.builder
        code = OperationCode(self.rng.choice([OperationCode.ADD, OperationCode.MUL]))
        choice, activation = self.rng.random(), self.activation()
        if choice < 0.2:  # a square must not grow from layer to layer
            other, activation = source, b.scalar(int(self.rng.choice(_BOUNDED)))
        elif choice < 0.4:
            other = self.dequantized(self._repeating(source))
        elif choice < 0.7:
            other = b.real_constant(self.rng.uniform(-1.5, 1.5, self._repeating(source)).astype(np.float32))
        else:
            other = b.real_input(self._repeating(source))
        inputs = [source, other] if self.rng.random() < 0.5 else [other, source]
        return b.operation(code, [*inputs, activation], b.real(b.shape(source)))

    def _repeating(self, source: int) -> tuple[int, ...]:
        """A shape that broadcasts to the source's."""
        shape = [1 if self.rng.random() < 0.2 else extent for extent in self.builder.shape(source)]
        return tuple(shape[self.integer(0, len(shape) - 1) if self.rng.random() < 0.2 else 0 :])

    def dequantized(self, shape: tuple[int, ...]) -> int:
        b = self.builder
        quantised = b.input(shape, float(self.rng.uniform(0.001, 0.02)), self.integer(0, 255))
        return b.operation(OperationCode.DEQUANTIZE, [quantised], b.real(shape))

    def pool(self, source: int) -> int:
        b = self.builder
        n, h, w, c = b.shape(source)
        kernel = (self.integer(1, min(h, 5)), self.integer(1, min(w, 5)))
        padding, strides, _, size = self.window(h, w, kernel, dilate=False)
        inputs = [source, *padding, *strides, b.scalar(kernel[1]), b.scalar(kernel[0]), self.activation()]
        return b.operation(OperationCode(self.rng.choice(_POOLS)), inputs, b.real((n, *size, c)))

    def softmax(self, source: int) -> int:
        beta = self.builder.scalar(float(self.rng.uniform(0.1, 3)))
        return self.builder.operation(
            OperationCode.SOFTMAX, [source, beta], self.builder.real(self.builder.shape(source))
        )

    def local_response(self, source: int) -> int:
        b = self.builder
        bias, alpha, beta = (float(self.rng.uniform(*ends)) for ends in ((0.5, 9), (0, 4), (0.1, 1)))
        scalars = [b.scalar(self.integer(0, 3)), b.scalar(bias), b.scalar(alpha), b.scalar(beta)]
        return b.operation(
            OperationCode.LOCAL_RESPONSE_NORMALIZATION, [source, *scalars], b.real(b.shape(source))
        )


LAYERS = (
    "binary", "binary", "clamp", "floor", "logistic", "tanh", "pool", "pool", "softmax",
    "l2_normalization", "local_response",
)  # fmt: skip


def random_float_graph(seed: int, layers: int, *, size: int = 10, channels: int = 12) -> Graph:
    """A chain of random float layers with side inputs and a few tensors that are outputs as well."""
    rng = np.random.default_rng(seed)
    builder = FloatGraphBuilder()
    maker = FloatLayers(builder, rng)
    shape = (
        maker.integer(1, 2), maker.integer(1, size), maker.integer(1, size), maker.integer(1, channels),
    )  # fmt: skip
    tensor = builder.real_input(shape) if rng.random() < 0.7 else maker.dequantized(shape)
    outputs = []
    for _ in range(layers):
        tensor = getattr(maker, str(rng.choice(LAYERS)))(tensor)
        if rng.random() < 0.15:
            outputs.append(tensor)
    return builder.graph(*dict.fromkeys([*outputs, tensor]))


def random_float_inputs(graph: Graph, seed: int) -> list[np.ndarray]:
    """A value for every input of a graph."""
    rng = np.random.default_rng([seed, 1])
    values = []
    for operand in graph.inputs:
        type_ = graph.operands[operand].type
        if type_.code is QUANT8:
            values.append(rng.integers(0, 256, type_.dimensions, np.uint8))
        else:
            values.append(rng.normal(0, 2, type_.dimensions).astype(np.float32))
    return values
