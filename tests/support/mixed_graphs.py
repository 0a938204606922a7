"""Random branching graphs of both types: each operation reads any tensors that are there already.

Quantised tensors become float ones through DEQUANTIZE; no operation leads back. The makers of layers are
those of the chains, over a builder that makes either type; numbers stay moderate, as in the float chains.
"""

import math
from collections.abc import Callable

import numpy as np

from compiler.graph import Graph, Operand, OperandType
from compiler.nnapi import FuseCode, OperandCode, OperationCode
from tests.support.float_graphs import FLOAT32, FloatGraphBuilder, FloatLayers
from tests.support.graphs import QUANT8, RandomLayers

MOST_ELEMENTS = 2000
"""Larger tensors are not read again, which keeps graphs small however their layers follow each other."""
LARGEST_SCALE = 1.0
"""Tensors of larger scale are not dequantised: float numbers stay moderate."""
_RECURRENT_ACTIVATIONS = (0, 1, 2, 3, 4, 6)
_SPARSE, _DENSE, _SPARSE_OFFSET = 1, 2, 3
_LSTM_GATES = 4


class MixedGraphBuilder(FloatGraphBuilder):
    """A builder whose makers of quantised tensors make float ones if the scale is 0, as that of floats is."""

    def tensor(self, shape: tuple[int, ...], scale: float, zero_point: int) -> int:
        return self.real(shape) if scale == 0 else super().tensor(shape, scale, zero_point)

    def integers(self, shape: tuple[int, ...]) -> int:
        return self._add(Operand(OperandType(OperandCode.TENSOR_INT32, shape)))

    def omitted(self, shape: tuple[int, ...]) -> int:
        return self._add(Operand(OperandType(FLOAT32, shape), omitted=True))


class MixedFloatLayers(FloatLayers):
    """Float layers for the NPU and for its host: products of matrices, recurrent cells, bilinear resizing."""

    builder: MixedGraphBuilder

    def weights(self, *shape: int) -> int:
        """Constants by which a row of products does not grow."""
        spread = 1 / math.sqrt(math.prod(shape[1:]))
        return self.builder.real_constant(self.rng.normal(0, spread, shape).astype(np.float32))

    def _weights_and_bias(
        self, shape: tuple[int, ...], channels: int, input_scale: float
    ) -> tuple[int, int, float]:
        return self.weights(*shape), self.weights(channels), input_scale

    def _recurrent_activation(self) -> int:
        return self.builder.scalar(int(self.rng.choice(_RECURRENT_ACTIVATIONS)))

    def rnn(self, source: int) -> int:
        b = self.builder
        batches, size = b.shape(source)
        units = self.integer(1, 6)
        weights = [self.weights(units, size), self.weights(units, units), self.weights(units)]
        inputs = [source, *weights, b.real_input((batches, units)), self._recurrent_activation()]
        following, output = (b.real((batches, units)) for _ in range(2))
        b.operation(OperationCode.RNN, inputs, following, output)
        return output

    def svdf(self, source: int) -> int:
        b = self.builder
        batches, size = b.shape(source)
        rank, units, memory = (self.integer(1, 4) for _ in range(3))
        filters = rank * units
        bias = b.omitted((units,)) if self.rng.random() < 0.3 else self.weights(units)
        state = b.real_input((batches, memory * filters))
        weights = [self.weights(filters, size), self.weights(filters, memory), bias]
        inputs = [source, *weights, state, b.scalar(rank), self._recurrent_activation()]
        following, output = b.real((batches, memory * filters)), b.real((batches, units))
        b.operation(OperationCode.SVDF, inputs, following, output)
        return output

    def lstm(self, source: int) -> int:
        """With an input gate or without, no peephole connections, no projection."""
        b = self.builder
        batches, size = b.shape(source)
        units, coupled = self.integer(1, 5), int(self.rng.random() < 0.5)

        def gates(*shape: int) -> list[int]:
            return [b.omitted(shape)] * coupled + [self.weights(*shape) for _ in range(_LSTM_GATES - coupled)]

        parts = [*gates(units, size), *gates(units, units), *(b.omitted((units,)) for _ in range(3))]
        projection = [b.omitted((units, units)), b.omitted((units,))]
        state, cell = (b.real_input((batches, units)) for _ in range(2))
        clips = [b.scalar(float(self.rng.choice([0, 1.5]))), b.scalar(0.0)]
        inputs = [source, *parts, *gates(units), *projection, state, cell, self._recurrent_activation()]
        scratch = b.real((batches, units * (_LSTM_GATES - coupled)))
        results = [b.real((batches, units)) for _ in range(3)]
        b.operation(OperationCode.LSTM, [*inputs, *clips], scratch, *results)
        return results[-1]


# What RandomLayers and FloatLayers make of one tensor; "join" and the crossings are made here.
_OF_BOTH_RANKS = ("join", "join", "join", "softmax", "tanh", "logistic", "fully_connected", "embedding",
                  "hashtable")  # fmt: skip
_OF_MATRICES = ("projection",)
_OF_IMAGES = ("convolution", "depthwise", "pool", "reshape", "l2_normalization", "resize", "depth_to_space",
              "space_to_depth")  # fmt: skip
_QUANTISED = ("relu", "dequantize", "dequantize")
_REAL = ("clamp", "floor")
_REAL_IMAGES = ("local_response",)
_REAL_MATRICES = ("rnn", "svdf", "lstm")


class MixedGraphMaker:
    """Grows a graph from a pool of live tensors, each of which may be read any number of times."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.builder = MixedGraphBuilder()
        self.quantised = RandomLayers(self.builder, rng)
        self.real = MixedFloatLayers(self.builder, rng)
        self.live: list[int] = []

    def sources(self) -> None:
        """Inputs of both types: images, and tensors that broadcast to them."""
        one = self.quantised
        n, h, w, c = one.integer(1, 2), one.integer(1, 8), one.integer(1, 8), one.integer(1, 8)
        for shape in ((n, h, w, c), (1, 1, w, c), (h, c)):
            self.live += [
                self.builder.input(shape, one.scale(), one.integer(0, 255)),
                self.builder.real_input(shape),
            ]

    def step(self) -> None:
        """Append one operation that reads any tensor; all it makes can be read from then on."""
        source = self._drawn(self.live)
        kinds = self._kinds(source)
        self._maker(source, str(self.rng.choice(kinds)))(source)
        made = self.builder.operations[-1].outputs
        self.live += [number for number in made if self._is_readable(number)]

    def _drawn(self, live: list[int]) -> int:
        """Any of the tensors, mostly a made one: else graphs stay shallow, for inputs are many."""
        made = [number for number in live if number not in self.builder.inputs]
        return int(self.rng.choice(made if made and self.rng.random() < 0.8 else live))

    def _kinds(self, source: int) -> tuple[str, ...]:
        image, real = len(self.builder.shape(source)) == 4, self._is_real(source)
        kinds = _OF_BOTH_RANKS + (_OF_IMAGES if image else _OF_MATRICES)
        if real:
            return kinds + _REAL + (_REAL_IMAGES if image else _REAL_MATRICES)
        return kinds + _QUANTISED[: 3 if self.builder.type(source).scale <= LARGEST_SCALE else 1]

    def _maker(self, source: int, kind: str) -> Callable[[int], int]:
        own = {"join": self.join, "dequantize": self.dequantize, "projection": self.projection}
        layers = self.real if self._is_real(source) else self.quantised
        return own[kind] if kind in own else getattr(layers, kind)

    def _is_real(self, number: int) -> bool:
        return self.builder.type(number).code is FLOAT32

    def _is_readable(self, number: int) -> bool:
        type_ = self.builder.type(number)
        known = type_.code in (QUANT8, FLOAT32) and len(type_.dimensions) in (2, 4)
        return known and math.prod(type_.dimensions) <= MOST_ELEMENTS

    def dequantize(self, source: int) -> int:
        b = self.builder
        return b.operation(OperationCode.DEQUANTIZE, [source], b.real(b.shape(source)))

    def projection(self, source: int) -> int:
        """LSH_PROJECTION of the tensor's rows; the hashes are not read again."""
        b, one = self.builder, self.real
        hashes, bits = one.integer(1, 3), one.integer(1, 4)
        kind = int(self.rng.choice([_SPARSE, _DENSE, _SPARSE_OFFSET]))
        items = b.shape(source)[:1]
        weight = one.weights(*items) if kind == _DENSE else b.omitted(items)
        output = b.integers((hashes * bits if kind == _DENSE else hashes,))
        inputs = [one.weights(hashes, bits), source, weight, b.scalar(kind)]
        return b.operation(OperationCode.LSH_PROJECTION, inputs, output)

    def join(self, source: int) -> int:
        """Several tensors of one type, perhaps the same ones, become one."""
        return self.concatenation(source) if self.rng.random() < 0.4 else self.elementwise(source)

    def elementwise(self, source: int) -> int:
        b, one = self.builder, self.quantised
        other = self._drawn([number for number in self.live if self._broadcasts(source, number)])
        pair = [source, other] if self.rng.random() < 0.5 else [other, source]
        scales = [b.type(number).scale for number in pair]
        activation, scale = one.activation(), max(scales) * self.rng.uniform(0.5, 3)
        code = OperationCode(self.rng.choice([OperationCode.ADD, OperationCode.MUL]))
        if code is OperationCode.MUL:
            scale = max(math.prod(scales) * self.rng.uniform(2, 200), 1e-3 * max(scales))
        if code is OperationCode.MUL and self._is_real(source):  # products must not grow from layer to layer
            activation = b.scalar(int(self.rng.choice([FuseCode.RELU1, FuseCode.RELU6])))
        shape = np.broadcast_shapes(b.shape(source), b.shape(other))
        output = b.tensor(shape, scale, one.integer(0, 255))
        return b.operation(code, [*pair, activation], output)

    def _broadcasts(self, source: int, other: int) -> bool:
        b = self.builder
        pairs = zip(reversed(b.shape(source)), reversed(b.shape(other)), strict=False)
        same_type = self._is_real(source) == self._is_real(other)
        return same_type and all(1 in pair or pair[0] == pair[1] for pair in pairs)

    def concatenation(self, source: int) -> int:
        b, one = self.builder, self.quantised
        kind = b.type(source)
        axis = one.integer(0, len(kind.dimensions) - 1)
        alike = [number for number in self.live if self._differs_only_at(axis, source, number)]
        parts = [source, *(self._drawn(alike) for _ in range(one.integer(0, 3)))]
        shape = list(kind.dimensions)
        shape[axis] = sum(b.shape(number)[axis] for number in parts)
        scale = kind.scale * float(self.rng.choice([1, 1.5]))
        output = b.tensor(tuple(shape), scale, kind.zero_point)
        return b.operation(OperationCode.CONCATENATION, [*parts, b.scalar(axis)], output)

    def _differs_only_at(self, axis: int, source: int, other: int) -> bool:
        b = self.builder
        first, second = list(b.shape(source)), list(b.shape(other))
        if len(first) != len(second) or self._is_real(source) != self._is_real(other):
            return False
        first[axis] = second[axis]
        return first == second

    def graph(self) -> Graph:
        """All that nothing reads is an output, and some of what something reads."""
        operations = self.builder.operations
        read = {number for operation in operations for number in operation.inputs}
        made = [number for operation in operations for number in operation.outputs]
        return self.builder.graph(*(n for n in made if n not in read or self.rng.random() < 0.15))


def random_mixed_graph(seed: int) -> Graph:
    """A graph of 2 to 12 operations on tensors of both types."""
    rng = np.random.default_rng(seed)
    maker = MixedGraphMaker(rng)
    maker.sources()
    for _ in range(rng.integers(2, 12, endpoint=True)):
        maker.step()
    return maker.graph()


def random_mixed_inputs(graph: Graph, seed: int) -> list[np.ndarray]:
    """A value for every input of a graph: quant8, float32, or the int32 of a bias."""
    rng = np.random.default_rng([seed, 1])
    draw: dict[OperandCode, Callable[[tuple[int, ...]], np.ndarray]] = {
        QUANT8: lambda shape: rng.integers(0, 256, shape, np.uint8),
        FLOAT32: lambda shape: np.asarray(rng.normal(0, 2, shape), np.float32),
        OperandCode.TENSOR_INT32: lambda shape: rng.integers(-4000, 4000, shape, np.int32),
    }
    types = [graph.operands[number].type for number in graph.inputs]
    return [draw[type_.code](type_.dimensions) for type_ in types]
