"""RNN and SVDF: one step of a layer that hands its state on as an operand; float only."""

import numpy as np

from compiler.nnapi import FuseCode, OperandCode, OperationCode
from compiler.reference import real
from compiler.reference.registry import Array, Call, Floats, reference

_TANH, _SIGMOID = 4, 6
"""Activations that these operations know besides the fuse codes."""


def floats(call: Call, position: int, *shape: int) -> Floats:
    """Value of the float tensor at `position`, of exactly this shape, in double precision."""
    value = call.real(position)
    call.expect_shape(position, *shape)
    return value.astype(np.float64)


def floats_or_none(call: Call, position: int, *shape: int) -> Floats | None:
    """As `floats` for an optional tensor; None where it is absent."""
    return floats(call, position, *shape) if call.has(position) else None


def matrix_shape(call: Call, position: int) -> tuple[int, int]:
    """Rows and columns of the float tensor at `position`, which must have rank 2 and be present."""
    value = call.real(position)
    call.expect_rank(position, 2)
    return value.shape[0], value.shape[1]


def activation(call: Call, position: int) -> int:
    """Read the activation that the INT32 scalar at `position` names: a fuse code, tanh or sigmoid."""
    value = call.integer(position)
    if value not in (*FuseCode, _TANH, _SIGMOID):
        raise call.error(f"activation {value} is none of the fuse codes 0…3, 4 (tanh) or 6 (sigmoid)")
    return value


def activate(values: Floats, code: int) -> Floats:
    """Apply an activation that `activation` read."""
    if code == _TANH:
        return np.tanh(values)
    if code == _SIGMOID:
        return real.logistic(values)
    return real.clamp(values, FuseCode(code))


def expect_float_results(call: Call) -> None:
    """Refuse outputs that are not float tensors."""
    for index in range(len(call.results)):
        call.result(OperandCode.TENSOR_FLOAT32, index)


@reference(OperationCode.RNN, outputs=2)
def rnn(call: Call) -> list[Array]:
    """activation(W·x + R·h + b), as the new state h and once more as the output."""
    call.expect_count(6)
    expect_float_results(call)
    batches, size = matrix_shape(call, 0)
    units = matrix_shape(call, 1)[0]
    inputs, weights = floats(call, 0, batches, size), floats(call, 1, units, size)
    recurrent, bias = floats(call, 2, units, units), floats(call, 3, units)
    state = floats(call, 4, batches, units)
    sums = inputs @ weights.T + state @ recurrent.T + bias
    output = real.to_single(activate(sums, activation(call, 5)))
    return [output, output.copy()]


@reference(OperationCode.SVDF, outputs=2)
def svdf(call: Call) -> list[Array]:
    """A dense layer over the last `memory` inputs whose weights have been factored, `rank` factors per unit.

    State is [batch, filters · memory], not one memory step less as level 27's header says. The newest step
    of each filter is its feature weights times the input; the output sums the steps by the time weights.
    The state handed on is one step older, its newest step zero.
    """
    call.expect_count(7)
    expect_float_results(call)
    batches, size = matrix_shape(call, 0)
    filters, memory = matrix_shape(call, 2)
    rank = call.integer(5)
    if rank < 1 or filters % rank or memory < 1:
        raise call.error(f"{filters} filters of {memory} steps do not divide into units of rank {rank}")
    units = filters // rank
    inputs, features = floats(call, 0, batches, size), floats(call, 1, filters, size)
    times, bias = floats(call, 2, filters, memory), floats_or_none(call, 3, units)
    state = floats(call, 4, batches, filters * memory).reshape(batches, filters, memory)
    # The state is an operand of single precision, so what enters it is rounded before it is used.
    state[:, :, -1] = real.to_single(inputs @ features.T)
    sums = (state * times).sum(axis=2).reshape(batches, units, rank).sum(axis=2)
    output = activate(sums if bias is None else sums + bias, activation(call, 6))
    older = np.concatenate([state[:, :, 1:], np.zeros((batches, filters, 1))], axis=2)
    return [real.to_single(older.reshape(batches, filters * memory)), real.to_single(output)]
