import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import GraphError
from compiler.nnapi import OperationCode, ResultCode
from tests.compiler.reference.calls import FLOAT, Array, compute_all, floats
from tests.support.one_operation import Given, Omitted, float32

BATCHES, INPUTS, CELLS, OUTPUTS = 2, 3, 4, 5
INPUT_GATE = (1, 5, 9, 12)
"""Weights from input and state, peephole and bias of the input gate."""
PEEPHOLES = (9, 10, 11)
PROJECTION, PROJECTION_BIAS = 16, 17
ACTIVATION, CELL_CLIP, PROJECTION_CLIP = 20, 21, 22


def operands(outputs: int) -> list[Given]:
    """All operands, with an output of `outputs` elements."""
    random = np.random.default_rng(0)
    shapes = [
        (BATCHES, INPUTS),
        *[(CELLS, INPUTS)] * 4,
        *[(CELLS, outputs)] * 4,
        *[(CELLS,)] * 7,
        (outputs, CELLS),
        (outputs,),
        (BATCHES, outputs),
        (BATCHES, CELLS),
    ]
    return [*(floats(random.normal(size=shape)) for shape in shapes), 4, 0.0, 0.0]


def omit(inputs: list[Given], *positions: int) -> list[Given]:
    return [Omitted(float32(0)) if i in positions else value for i, value in enumerate(inputs)]


def replace(inputs: list[Given], position: int, value: Given) -> list[Given]:
    return [value if i == position else kept for i, kept in enumerate(inputs)]


def lstm(inputs: list[Given]) -> list[Array]:
    return compute_all(OperationCode.LSTM, inputs, [FLOAT] * 4)


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


ACTIVATIONS: dict[int, Callable[[float], float]] = {
    0: lambda x: x,
    1: lambda x: max(0.0, x),
    2: lambda x: min(1.0, max(-1.0, x)),
    3: lambda x: min(6.0, max(0.0, x)),
    4: math.tanh,
    6: sigmoid,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Expected:
    """Output and cell state of one batch."""

    output: list[float]
    cells: list[float]


def by_elements(inputs: list[Given], batch: int) -> Expected:
    """The definition, one number at a time."""
    values: list[Any] = [
        None if isinstance(value, Omitted) else value[1] if isinstance(value, tuple) else value
        for value in inputs
    ]
    x, h, old = values[0][batch], values[18][batch], values[19][batch]
    activate = ACTIVATIONS[values[ACTIVATION]]

    def clip(value: float, limit: float) -> float:
        return max(-limit, min(limit, value)) if limit > 0 else value

    def gate(number: int, cell: int, peephole: int | None, seen: float) -> float:
        total = float(values[12 + number][cell])
        total += sum(float(a) * float(b) for a, b in zip(values[1 + number][cell], x, strict=True))
        total += sum(float(a) * float(b) for a, b in zip(values[5 + number][cell], h, strict=True))
        if peephole is not None and values[peephole] is not None:
            total += float(values[peephole][cell]) * seen
        return total

    cells, leaving = [], []
    for cell in range(CELLS):
        forget = sigmoid(gate(1, cell, 10, old[cell]))
        enter = 1 - forget if values[1] is None else sigmoid(gate(0, cell, 9, old[cell]))
        state = clip(old[cell] * forget + activate(gate(2, cell, None, 0)) * enter, values[CELL_CLIP])
        cells.append(state)
        leaving.append(sigmoid(gate(3, cell, 11, state)) * activate(state))
    if values[PROJECTION] is None:
        return Expected(leaving, cells)
    bias = [0.0] * OUTPUTS if values[PROJECTION_BIAS] is None else values[PROJECTION_BIAS]
    projected = [
        clip(
            sum(float(w) * v for w, v in zip(row, leaving, strict=True)) + float(b),
            values[PROJECTION_CLIP],
        )
        for row, b in zip(values[PROJECTION], bias, strict=True)
    ]
    return Expected(projected, cells)


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_every_variant_equals_its_definition(data: st.DataObject) -> None:
    is_projected, has_bias, is_coupled, peeps = (data.draw(st.booleans()) for _ in range(4))
    inputs = operands(OUTPUTS if is_projected else CELLS)
    inputs = inputs if is_projected else omit(inputs, PROJECTION, PROJECTION_BIAS)
    inputs = inputs if has_bias else omit(inputs, PROJECTION_BIAS)
    inputs = omit(inputs, *INPUT_GATE) if is_coupled else inputs
    inputs = inputs if peeps else omit(inputs, *PEEPHOLES)
    inputs[ACTIVATION] = data.draw(st.sampled_from(sorted(ACTIVATIONS)))
    inputs[CELL_CLIP], inputs[PROJECTION_CLIP] = (data.draw(st.sampled_from([0.0, 0.5])) for _ in range(2))
    scratch, state, cells, output = lstm(inputs)
    assert scratch.shape == (BATCHES, CELLS * (3 if is_coupled else 4))
    assert (state == output).all()
    for batch in range(BATCHES):
        expected = by_elements(inputs, batch)
        assert output[batch] == pytest.approx(expected.output, rel=1e-6, abs=1e-6)
        assert cells[batch] == pytest.approx(expected.cells, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("omitted", "fragment"),
    [
        ((1,), "input gate"),
        ((5,), "input gate"),
        ((12,), "input gate"),
        ((9,), "peepholes"),
        ((10, 11), "peepholes"),
        ((PROJECTION,), "must be equal"),
    ],
)
def test_operands_that_belong_together_come_together(omitted: tuple[int, ...], fragment: str) -> None:
    with pytest.raises(GraphError, match=fragment) as caught:
        lstm(omit(operands(OUTPUTS), *omitted))
    assert caught.value.result_code is ResultCode.OP_FAILED


def test_a_projection_bias_needs_a_projection() -> None:
    with pytest.raises(GraphError, match="without projection weights"):
        lstm(omit(operands(CELLS), PROJECTION))


def test_a_coupled_gate_may_leave_out_its_peephole() -> None:
    inputs = operands(OUTPUTS)
    without = lstm(omit(inputs, *INPUT_GATE))
    ignored = lstm(omit(inputs, 1, 5, 12))
    assert all((a == b).all() for a, b in zip(without, ignored, strict=True))


@pytest.mark.parametrize("position", [0, 2, 3, 4, 6, 7, 8, 13, 14, 15, 18, 19])
def test_other_operands_are_mandatory(position: int) -> None:
    with pytest.raises(GraphError, match=f"input {position} has no value") as caught:
        lstm(omit(operands(OUTPUTS), position))
    assert caught.value.result_code is ResultCode.BAD_DATA


@pytest.mark.parametrize("position", range(20))
def test_shapes_that_do_not_fit_fail(position: int) -> None:
    inputs = operands(OUTPUTS)
    kind = inputs[position]
    assert isinstance(kind, tuple)
    shape = tuple(size + 1 for size in kind[0].dimensions)
    with pytest.raises(GraphError) as caught:
        lstm(replace(inputs, position, floats(np.ones(shape))))
    assert caught.value.result_code is ResultCode.OP_FAILED


@pytest.mark.parametrize("position", [CELL_CLIP, PROJECTION_CLIP])
@pytest.mark.parametrize("limit", [-1.0, float("nan")])
def test_clipping_limits_are_not_negative(position: int, limit: float) -> None:
    with pytest.raises(GraphError, match="must not be negative"):
        lstm(replace(operands(OUTPUTS), position, limit))


def test_state_runs_on_through_several_executions() -> None:
    inputs = omit(operands(CELLS), PROJECTION, PROJECTION_BIAS)
    together = []
    for _ in range(3):
        _, state, cells, output = lstm(inputs)
        inputs = replace(replace(inputs, 18, floats(state)), 19, floats(cells))
        together.append(output)
    assert (together[0] != together[1]).all()
    assert (together[1] != together[2]).all()
