"""Lookups and keys that are known only at execution: every device answers bad ones with OP_FAILED."""

from collections.abc import Sequence

import numpy as np
import pytest

from compiler.graph import OperandType
from compiler.nnapi import OperationCode
from runtime.compilation import Compilation
from runtime.device import Device
from runtime.device_registry import get_device
from runtime.errors import OpFailedError
from runtime.execution import Execution
from runtime.model import Model
from tests.support.one_operation import int32, quant8

VALUES = np.arange(12, dtype=np.uint8).reshape(4, 3)
ROWS = quant8(2, 3, scale=0.5, zero_point=10)
TABLE = quant8(4, 3, scale=0.5, zero_point=10)
DEVICES = [get_device("reference"), get_device("npu", "tiny")]


def compute(
    device: Device,
    code: OperationCode,
    inputs: Sequence[tuple[OperandType, object]],
    outputs: Sequence[OperandType],
) -> list[np.ndarray]:
    """One operation whose inputs are all given at execution; its outputs."""
    model = Model("lookup")
    given = [model.add_operand(kind) for kind, _ in inputs]
    made = [model.add_operand(kind) for kind in outputs]
    model.add_operation(code, given, made)
    model.identify_inputs_and_outputs(given, made)
    model.finish()
    compilation = Compilation(model, device)
    compilation.finish()
    run = Execution(compilation)
    for index, (kind, value) in enumerate(inputs):
        run.set_input(index, np.asarray(value, kind.dtype))
    buffers = [np.zeros(kind.dimensions, kind.dtype) for kind in outputs]
    for index, buffer in enumerate(buffers):
        run.set_output(index, buffer)
    run.compute()
    return buffers


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_embedding_lookup_takes_row_numbers_at_execution(device: Device) -> None:
    lookups = (int32(2), [3, 1])
    (rows,) = compute(device, OperationCode.EMBEDDING_LOOKUP, [lookups, (TABLE, VALUES)], [ROWS])
    assert rows.tolist() == [[9, 10, 11], [3, 4, 5]]


@pytest.mark.parametrize("number", [-1, 4])
@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_a_row_number_outside_the_table_fails(device: Device, number: int) -> None:
    lookups = (int32(2), [0, number])
    with pytest.raises(OpFailedError, match=rf"EMBEDDING_LOOKUP .*: lookup {number} is outside the 4 rows"):
        compute(device, OperationCode.EMBEDDING_LOOKUP, [lookups, (TABLE, VALUES)], [ROWS])


def look_up(device: Device, keys: list[int]) -> list[np.ndarray]:
    """Look 7 and 5 up."""
    inputs = [(int32(2), [7, 5]), (int32(4), keys), (TABLE, VALUES)]
    return compute(device, OperationCode.HASHTABLE_LOOKUP, inputs, [ROWS, quant8(2)])


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_hashtable_lookup_takes_keys_at_execution(device: Device) -> None:
    rows, hits = look_up(device, [-2, 1, 7, 9])
    assert (rows.tolist(), hits.tolist()) == ([[6, 7, 8], [0, 0, 0]], [1, 0])


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_keys_that_descend_fail(device: Device) -> None:
    with pytest.raises(OpFailedError, match=r"HASHTABLE_LOOKUP .*: key \d+ at \d"):
        look_up(device, [-2, 7, 1, 9])
