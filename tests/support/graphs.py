"""Graphs for tests: a builder, and random layers and networks drawn from a NumPy generator."""

import math

import numpy as np

from compiler.graph import Graph, Operand, OperandType, Operation
from compiler.nnapi import FuseCode, OperandCode, OperationCode, PaddingCode

QUANT8 = OperandCode.TENSOR_QUANT8_ASYMM


class GraphBuilder:
    """Adds operands and operations; every method that makes a tensor returns its operand number."""

    def __init__(self) -> None:
        self.operands: list[Operand] = []
        self.operations: list[Operation] = []
        self.inputs: list[int] = []

    def _add(self, operand: Operand) -> int:
        self.operands.append(operand)
        return len(self.operands) - 1

    def tensor(self, shape: tuple[int, ...], scale: float, zero_point: int) -> int:
        return self._add(Operand(OperandType(QUANT8, shape, float(np.float32(scale)), zero_point)))

    def input(self, shape: tuple[int, ...], scale: float = 0.05, zero_point: int = 128) -> int:
        self.inputs.append(self.tensor(shape, scale, zero_point))
        return self.inputs[-1]

    def constant(self, value: np.ndarray, scale: float = 0.0, zero_point: int = 0) -> int:
        code = QUANT8 if value.dtype == np.uint8 else OperandCode.TENSOR_INT32
        type_ = OperandType(code, value.shape, float(np.float32(scale)), zero_point)
        return self._add(Operand(type_, value=value))

    def bias_input(self, channels: int, scale: float) -> int:
        type_ = OperandType(OperandCode.TENSOR_INT32, (channels,), float(np.float32(scale)), 0)
        self.inputs.append(self._add(Operand(type_)))
        return self.inputs[-1]

    def scalar(self, value: int | float | bool) -> int:
        code, dtype = OperandCode.INT32, np.int32
        if isinstance(value, bool):
            code, dtype = OperandCode.BOOL, np.bool_
        elif isinstance(value, float):
            code, dtype = OperandCode.FLOAT32, np.float32
        return self._add(Operand(OperandType(code), value=np.array(value, dtype)))

    def type(self, operand: int) -> OperandType:
        return self.operands[operand].type

    def shape(self, operand: int) -> tuple[int, ...]:
        return self.type(operand).dimensions

    def operation(self, code: OperationCode, inputs: list[int], output: int, *others: int) -> int:
        self.operations.append(Operation(code, tuple(inputs), (output, *others)))
        return output

    def graph(self, *outputs: int) -> Graph:
        return Graph(tuple(self.operands), tuple(self.operations), tuple(self.inputs), tuple(outputs), "test")


class RandomLayers:
    """Appends random, valid layers to a builder."""

    def __init__(self, builder: GraphBuilder, rng: np.random.Generator) -> None:
        self.builder = builder
        self.rng = rng

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high, endpoint=True))

    def scale(self) -> float:
        return float(np.float32(self.rng.uniform(0.002, 0.3)))

    def activation(self) -> int:
        return self.builder.scalar(int(self.rng.choice([int(f) for f in FuseCode])))

    def bytes(self, shape: tuple[int, ...]) -> np.ndarray:
        return self.rng.integers(0, 256, shape, np.uint8)

    def window(self, height: int, width: int, kernel: tuple[int, int], *, dilate: bool):
        """Padding operands, strides, dilations and the output size of a random window that fits."""
        b = self.builder
        dilation = (self.integer(1, 3), self.integer(1, 3)) if dilate and self.rng.random() < 0.4 else (1, 1)
        extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
        strides = (self.integer(1, 3), self.integer(1, 3))
        if self.rng.random() < 0.5 or extent[0] > height or extent[1] > width:
            same = extent[0] > height or extent[1] > width or self.rng.random() < 0.6
            padding = [b.scalar(int(PaddingCode.SAME if same else PaddingCode.VALID))]
            size = [
                -(-n // s) if same else (n - e) // s + 1
                for n, e, s in zip((height, width), extent, strides, strict=True)
            ]
        else:
            pads = [self.integer(0, extent[1] - 1), self.integer(0, extent[1] - 1)]
            pads += [self.integer(0, extent[0] - 1), self.integer(0, extent[0] - 1)]
            padding = [b.scalar(p) for p in pads]
            size = [
                (height + pads[2] + pads[3] - extent[0]) // strides[0] + 1,
                (width + pads[0] + pads[1] - extent[1]) // strides[1] + 1,
            ]
        stride_operands = [b.scalar(strides[1]), b.scalar(strides[0])]
        tail = []
        if dilation != (1, 1) or (dilate and self.rng.random() < 0.2):
            tail = [b.scalar(False), b.scalar(dilation[1]), b.scalar(dilation[0])]
        return padding, stride_operands, tail, size

    def _weights_and_bias(self, shape: tuple[int, ...], channels: int, input_scale: float):
        b = self.builder
        weight_scale, zero = self.scale(), self.integer(0, 255)
        bias_scale = float(np.float32(input_scale) * np.float32(weight_scale))
        if self.rng.random() < 0.15:
            weights = b.input(shape, weight_scale, zero)
        else:
            weights = b.constant(self.bytes(shape), weight_scale, zero)
        if self.rng.random() < 0.1:
            return weights, b.bias_input(channels, bias_scale), bias_scale
        value = self.rng.integers(-4000, 4000, channels, np.int32)
        return weights, b.constant(value, bias_scale), bias_scale

    def _output(self, shape: tuple[int, ...], sum_scale: float, depth: int) -> int:
        spread = sum_scale * 4000 * math.sqrt(depth) / 100
        return self.builder.tensor(shape, spread * self.rng.uniform(0.5, 2.0), self.integer(0, 255))

    def convolution(self, source: int) -> int:
        b = self.builder
        n, h, w, c = b.shape(source)
        kernel = (self.integer(1, 4), self.integer(1, 4))
        channels = self.integer(1, 20)
        weights, bias, scale = self._weights_and_bias((channels, *kernel, c), channels, b.type(source).scale)
        padding, strides, tail, size = self.window(h, w, kernel, dilate=True)
        output = self._output((n, *size, channels), scale, c * kernel[0] * kernel[1])
        inputs = [source, weights, bias, *padding, *strides, self.activation(), *tail]
        return b.operation(OperationCode.CONV_2D, inputs, output)

    def depthwise(self, source: int) -> int:
        b = self.builder
        n, h, w, c = b.shape(source)
        kernel, multiplier = (self.integer(1, 4), self.integer(1, 4)), self.integer(1, 3)
        channels = c * multiplier
        weights, bias, scale = self._weights_and_bias((1, *kernel, channels), channels, b.type(source).scale)
        padding, strides, tail, size = self.window(h, w, kernel, dilate=True)
        output = self._output((n, *size, channels), scale, kernel[0] * kernel[1])
        inputs = [source, weights, bias, *padding, *strides, b.scalar(multiplier), self.activation(), *tail]
        return b.operation(OperationCode.DEPTHWISE_CONV_2D, inputs, output)

    def fully_connected(self, source: int) -> int:
        b = self.builder
        shape = b.shape(source)
        depth = math.prod(shape[1:]) if len(shape) > 1 else shape[0]
        units = self.integer(1, 30)
        weights, bias, scale = self._weights_and_bias((units, depth), units, b.type(source).scale)
        output = self._output((math.prod(shape) // depth, units), scale, depth)
        return b.operation(OperationCode.FULLY_CONNECTED, [source, weights, bias, self.activation()], output)

    def pool(self, source: int) -> int:
        b = self.builder
        n, h, w, c = b.shape(source)
        kernel = (self.integer(1, min(h, 5)), self.integer(1, min(w, 5)))
        padding, strides, _, size = self.window(h, w, kernel, dilate=False)
        kind = b.type(source)
        output = b.tensor((n, *size, c), kind.scale, kind.zero_point)
        code = self.rng.choice([OperationCode.AVERAGE_POOL_2D, OperationCode.MAX_POOL_2D])
        inputs = [source, *padding, *strides, b.scalar(kernel[1]), b.scalar(kernel[0]), self.activation()]
        return b.operation(OperationCode(code), inputs, output)

    def relu(self, source: int) -> int:
        b = self.builder
        kind = b.type(source)
        code = self.rng.choice([OperationCode.RELU, OperationCode.RELU1, OperationCode.RELU6])
        output = b.tensor(kind.dimensions, kind.scale, kind.zero_point)
        return b.operation(OperationCode(code), [source], output)

    def logistic(self, source: int) -> int:
        output = self.builder.tensor(self.builder.shape(source), 1 / 256, 0)
        return self.builder.operation(OperationCode.LOGISTIC, [source], output)

    def softmax(self, source: int) -> int:
        b = self.builder
        output = b.tensor(b.shape(source), 1 / 256, 0)
        return b.operation(OperationCode.SOFTMAX, [source, b.scalar(float(self.rng.uniform(0.1, 3)))], output)

    def add(self, source: int) -> int:
        b = self.builder
        shape = list(b.shape(source))
        for axis in range(len(shape)):
            if self.rng.random() < 0.2:
                shape[axis] = 1
        shape = shape[self.integer(0, len(shape) - 1) if self.rng.random() < 0.2 else 0 :]
        if self.rng.random() < 0.3:
            other = b.constant(self.bytes(tuple(shape)), self.scale(), self.integer(0, 255))
        elif self.rng.random() < 0.3:
            other = source
        else:
            other = b.input(tuple(shape), self.scale(), self.integer(0, 255))
        output = b.tensor(b.shape(source), self.scale(), self.integer(0, 255))
        return b.operation(OperationCode.ADD, [source, other, self.activation()], output)

    def reshape(self, source: int) -> int:
        b = self.builder
        kind = b.type(source)
        n, *rest = kind.dimensions
        shape = (n, math.prod(rest)) if self.rng.random() < 0.5 else (n, 1, math.prod(rest), 1)
        output = b.tensor(shape, kind.scale, kind.zero_point)
        shape_operand = b.constant(np.array([n, -1, *shape[2:]], np.int32))
        return b.operation(OperationCode.RESHAPE, [source, shape_operand], output)

    def concatenation(self, source: int) -> int:
        b = self.builder
        kind = b.type(source)
        axis = self.integer(0, len(kind.dimensions) - 1)
        shape = list(kind.dimensions)
        shape[axis] = self.integer(1, 5)
        other = b.input(tuple(shape), self.scale(), self.integer(0, 255))
        if self.rng.random() < 0.5:
            other = b.input(tuple(shape), kind.scale, kind.zero_point)
        parts = [source, other] if self.rng.random() < 0.5 else [other, source, source]
        total = sum(b.shape(p)[axis] for p in parts)
        shape[axis] = total
        same = self.rng.random() < 0.5
        output = b.tensor(tuple(shape), kind.scale if same else self.scale(), kind.zero_point if same else 77)
        return b.operation(OperationCode.CONCATENATION, [*parts, b.scalar(axis)], output)

    def multiply(self, source: int) -> int:
        b = self.builder
        shape = tuple(1 if self.rng.random() < 0.2 else n for n in b.shape(source))
        scale = self.scale()
        if self.rng.random() < 0.3:
            other = b.constant(self.bytes(shape), scale, self.integer(0, 255))
        else:
            other = b.input(shape, scale, self.integer(0, 255))
        spread = b.type(source).scale * scale * self.rng.uniform(2, 200)
        output = b.tensor(b.shape(source), spread, self.integer(0, 255))
        parts = [source, other] if self.rng.random() < 0.5 else [other, source]
        return b.operation(OperationCode.MUL, [*parts, self.activation()], output)

    def tanh(self, source: int) -> int:
        output = self.builder.tensor(self.builder.shape(source), 1 / 128, 128)
        return self.builder.operation(OperationCode.TANH, [source], output)

    def l2_normalization(self, source: int) -> int:
        output = self.builder.tensor(self.builder.shape(source), 1 / 128, 128)
        return self.builder.operation(OperationCode.L2_NORMALIZATION, [source], output)

    def resize(self, source: int) -> int:
        b = self.builder
        n, h, w, c = b.shape(source)
        kind = b.type(source)
        height, width = self.integer(1, min(2 * h + 1, 24)), self.integer(1, min(2 * w + 1, 24))
        output = b.tensor((n, height, width, c), kind.scale, kind.zero_point)
        return b.operation(OperationCode.RESIZE_BILINEAR, [source, b.scalar(width), b.scalar(height)], output)

    def depth_to_space(self, source: int) -> int:
        """Needs a depth that is a multiple of a square; others are left as they are (block size 1)."""
        b = self.builder
        n, h, w, c = b.shape(source)
        block = int(self.rng.choice([block for block in (1, 2, 3) if c % block**2 == 0]))
        kind = b.type(source)
        output = b.tensor((n, h * block, w * block, c // block**2), kind.scale, kind.zero_point)
        return b.operation(OperationCode.DEPTH_TO_SPACE, [source, b.scalar(block)], output)

    def space_to_depth(self, source: int) -> int:
        b = self.builder
        n, h, w, c = b.shape(source)
        block = int(self.rng.choice([block for block in (1, 2, 3) if h % block == 0 == w % block]))
        kind = b.type(source)
        output = b.tensor((n, h // block, w // block, c * block**2), kind.scale, kind.zero_point)
        return b.operation(OperationCode.SPACE_TO_DEPTH, [source, b.scalar(block)], output)

    def embedding(self, source: int) -> int:
        """Picks rows of the tensor along its first dimension."""
        b = self.builder
        rows, *row = b.shape(source)
        kind = b.type(source)
        lookups = self.rng.integers(0, rows, self.integer(1, 4), np.int32)
        output = b.tensor((lookups.size, *row), kind.scale, kind.zero_point)
        return b.operation(OperationCode.EMBEDDING_LOOKUP, [b.constant(lookups), source], output)

    def hashtable(self, source: int) -> int:
        """Picks rows of the tensor by keys, which some lookups miss; the hits are left unread."""
        b = self.builder
        rows, *row = b.shape(source)
        kind = b.type(source)
        keys = np.sort(self.rng.integers(-4, 4, rows, np.int32))
        lookups = self.rng.integers(-4, 4, self.integer(1, 4), np.int32)
        output = b.tensor((lookups.size, *row), kind.scale, kind.zero_point)
        hits = b.tensor((lookups.size,), 1.0, 0)
        inputs = [b.constant(lookups), b.constant(keys), source]
        return b.operation(OperationCode.HASHTABLE_LOOKUP, inputs, output, hits)


LAYERS_OF_IMAGES = (
    "convolution", "depthwise", "pool", "add", "relu", "logistic", "softmax", "concatenation",
    "fully_connected", "reshape", "multiply", "tanh", "l2_normalization", "resize", "depth_to_space",
    "space_to_depth", "embedding", "hashtable",
)  # fmt: skip
LAYERS_OF_VECTORS = (
    "fully_connected", "add", "relu", "softmax", "concatenation", "logistic", "multiply", "tanh",
    "l2_normalization", "embedding", "hashtable",
)  # fmt: skip


def random_graph(seed: int, layers: int, *, size: int = 12, channels: int = 12) -> Graph:
    """A chain of random layers with side inputs and a few tensors that are outputs as well."""
    rng = np.random.default_rng(seed)
    builder = GraphBuilder()
    maker = RandomLayers(builder, rng)
    shape = (
        maker.integer(1, 2), maker.integer(1, size), maker.integer(1, size), maker.integer(1, channels),
    )  # fmt: skip
    tensor = builder.input(shape, maker.scale(), maker.integer(0, 255))
    outputs = []
    for _ in range(layers):
        kinds = LAYERS_OF_IMAGES if len(builder.shape(tensor)) == 4 else LAYERS_OF_VECTORS
        tensor = getattr(maker, str(rng.choice(kinds)))(tensor)
        if rng.random() < 0.15:
            outputs.append(tensor)
    return builder.graph(*dict.fromkeys([*outputs, tensor]))


def random_inputs(graph: Graph, seed: int) -> list[np.ndarray]:
    """A value for every input of a graph."""
    rng = np.random.default_rng([seed, 1])
    values = []
    for operand in graph.inputs:
        type_ = graph.operands[operand].type
        if type_.code is QUANT8:
            values.append(rng.integers(0, 256, type_.dimensions, np.uint8))
        else:
            values.append(rng.integers(-4000, 4000, type_.dimensions, np.int32))
    return values
