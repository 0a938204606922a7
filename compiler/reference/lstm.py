"""LSTM: one step, with all its variants; float only.

Every variant is told by which optional operands are present: without input gate weights the gate is coupled
to the forget gate (CIFG), with cell-to-gate weights the gates peep at the cell, with projection weights the
output is projected. The state is handed on as operands.
"""

import dataclasses

import numpy as np

from compiler.nnapi import OperationCode
from compiler.reference import real
from compiler.reference.recurrent import (
    activate,
    activation,
    expect_float_results,
    floats,
    floats_or_none,
    matrix_shape,
)
from compiler.reference.registry import Array, Call, Floats, reference

_INPUT = 0
_GATES = range(4)
"""Input gate, forget gate, cell candidate, output gate: their order in every group of operands."""
_INPUT_GATE, _FORGET_GATE, _CELL, _OUTPUT_GATE = _GATES
_FROM_INPUT, _FROM_STATE, _FROM_CELL, _BIAS = 1, 5, 9, 12
"""First operand of each group; the group of peepholes has none for the candidate."""
_PEEPHOLES = {_INPUT_GATE: _FROM_CELL, _FORGET_GATE: _FROM_CELL + 1, _OUTPUT_GATE: _FROM_CELL + 2}
_PROJECTION, _PROJECTION_BIAS, _STATE_IN, _CELL_IN = 16, 17, 18, 19
_ACTIVATION, _CELL_CLIP, _PROJECTION_CLIP = 20, 21, 22


@dataclasses.dataclass(frozen=True, slots=True)
class _Sizes:
    """Sizes of the tensors."""

    batches: int
    inputs: int
    cells: int
    outputs: int


@reference(OperationCode.LSTM, outputs=4)
def lstm(call: Call) -> list[Array]:
    """Outputs: scratch (its contents mean nothing: zeros), output state, cell state, output.

    Scratch is [batch, 4 · cells], 3 · cells with CIFG; level 27's header gives it three dimensions.
    """
    call.expect_count(23)
    expect_float_results(call)
    sizes = _sizes(call)
    _check_variants(call)
    code = activation(call, _ACTIVATION)
    has_input_gate = call.has(_FROM_INPUT + _INPUT_GATE)
    old_cell = floats(call, _CELL_IN, sizes.batches, sizes.cells)

    forget = real.logistic(_gate(call, sizes, _FORGET_GATE, old_cell))
    enter = real.logistic(_gate(call, sizes, _INPUT_GATE, old_cell)) if has_input_gate else 1.0 - forget
    candidate = activate(_gate(call, sizes, _CELL, None), code)
    cell = _clip(call, _CELL_CLIP, old_cell * forget + candidate * enter)
    leave = real.logistic(_gate(call, sizes, _OUTPUT_GATE, cell))
    output = real.to_single(_projected(call, sizes, leave * activate(cell, code)))

    scratch = np.zeros((sizes.batches, (4 if has_input_gate else 3) * sizes.cells), np.float32)
    return [scratch, output, real.to_single(cell), output.copy()]


def _sizes(call: Call) -> _Sizes:
    batches, inputs = matrix_shape(call, _INPUT)
    cells = matrix_shape(call, _FROM_INPUT + _OUTPUT_GATE)[0]
    outputs = matrix_shape(call, _FROM_STATE + _OUTPUT_GATE)[1]
    if not call.has(_PROJECTION) and outputs != cells:
        raise call.error(
            f"{cells} cells give {outputs} outputs; without projection the numbers must be equal"
        )
    return _Sizes(batches, inputs, cells, outputs)


def _check_variants(call: Call) -> None:
    """Refuse optional operands that come without those they belong to."""
    has_input_gate = call.has(_FROM_INPUT + _INPUT_GATE)
    for position in (_FROM_STATE + _INPUT_GATE, _BIAS + _INPUT_GATE):
        if call.has(position) != has_input_gate:
            raise call.error(
                f"input gate: of the weights and the bias (inputs {_FROM_INPUT}, {_FROM_STATE} and {_BIAS}) "
                "all or none must be present"
            )
    peepholes = [position for gate, position in _PEEPHOLES.items() if gate != _INPUT_GATE or has_input_gate]
    if len({call.has(position) for position in peepholes}) > 1:
        raise call.error(f"peepholes: of inputs {peepholes} all or none must be present")
    if call.has(_PROJECTION_BIAS) and not call.has(_PROJECTION):
        raise call.error(f"a projection bias (input {_PROJECTION_BIAS}) without projection weights")


def _gate(call: Call, sizes: _Sizes, gate: int, cell: Floats | None) -> Floats:
    """What goes into a gate: input, old output, peephole at `cell` (None: this one has none) and bias."""
    inputs = floats(call, _INPUT, sizes.batches, sizes.inputs)
    state = floats(call, _STATE_IN, sizes.batches, sizes.outputs)
    from_input = floats(call, _FROM_INPUT + gate, sizes.cells, sizes.inputs)
    from_state = floats(call, _FROM_STATE + gate, sizes.cells, sizes.outputs)
    sums = inputs @ from_input.T + state @ from_state.T + floats(call, _BIAS + gate, sizes.cells)
    if cell is None:
        return sums
    peephole = floats_or_none(call, _PEEPHOLES[gate], sizes.cells)
    return sums if peephole is None else sums + cell * peephole


def _projected(call: Call, sizes: _Sizes, output: Floats) -> Floats:
    weights = floats_or_none(call, _PROJECTION, sizes.outputs, sizes.cells)
    if weights is None:
        return output
    bias = floats_or_none(call, _PROJECTION_BIAS, sizes.outputs)
    projected = output @ weights.T
    return _clip(call, _PROJECTION_CLIP, projected if bias is None else projected + bias)


def _clip(call: Call, position: int, values: Floats) -> Floats:
    """`values` within ± the FLOAT32 scalar at `position`; as they are where it is 0."""
    limit = call.number(position)
    if not limit >= 0:
        raise call.error(f"clipping at {limit} (input {position}); it must not be negative")
    return values if limit == 0 else np.clip(values, -limit, limit)
