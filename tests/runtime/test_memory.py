from pathlib import Path

import numpy as np
import pytest

from compiler.nnapi import OperationCode
from runtime.errors import BadDataError
from runtime.memory import Memory
from runtime.model import Model
from runtime.runner import run
from tests.support.mixed_models import scalar
from tests.support.one_operation import float32, quant8

X = np.array([1, 2, 3, 4], np.uint8)


def sum_model(memory: Memory, offset_bytes: int, length_bytes: int) -> Model:
    """x + a constant that lies in the memory."""
    model = Model()
    x, weights, y = (model.add_operand(quant8(4), name) for name in ("x", "weights", "y"))
    model.set_operand_value_from_memory(weights, memory, offset_bytes, length_bytes)
    model.add_operation(OperationCode.ADD, [x, weights, scalar(model, 0)], [y])
    model.identify_inputs_and_outputs([x], [y])
    model.finish()
    return model


def test_a_constant_may_lie_in_a_memory() -> None:
    memory = Memory(bytes(range(16)))
    result = run(sum_model(memory, 8, 4), [X], machine="tiny")
    assert result.outputs["y"].tolist() == [9, 11, 13, 15]


def test_a_constant_in_a_memory_is_not_copied() -> None:
    owned = bytearray(8)
    value = sum_model(Memory(owned), 0, 4).graph.operands[1].value
    assert value is not None
    assert np.shares_memory(value, np.frombuffer(owned, np.uint8))
    assert not value.flags.writeable


def test_a_memory_may_be_a_mapped_file(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(bytes([5, 6, 7, 8]))
    with path.open("rb") as file:
        memory = Memory.from_file(file.fileno(), 4)
    assert memory.size_bytes == 4
    assert run(sum_model(memory, 0, 4), [X], machine="tiny").outputs["y"].tolist() == [6, 8, 10, 12]


def test_a_file_that_cannot_be_mapped_is_bad_data(tmp_path: Path) -> None:
    path = tmp_path / "short"
    path.write_bytes(b"1")
    with path.open("rb") as file, pytest.raises(BadDataError, match="100 bytes at offset 0 of file"):
        Memory.from_file(file.fileno(), 100)


@pytest.mark.parametrize(
    ("offset_bytes", "length_bytes", "fragment"),
    [
        (13, 4, "offset 13 and length 4 must lie within the memory's 16 bytes"),
        (-1, 4, "must lie within"),
        (0, -4, "must lie within"),
        (0, 3, "length is 3 bytes, must be 4 for TENSOR_QUANT8_ASYMM [4]"),
        (0, 0, "must not be 0"),
    ],
)
def test_a_range_that_does_not_fit_is_bad_data(offset_bytes: int, length_bytes: int, fragment: str) -> None:
    with pytest.raises(BadDataError) as caught:
        sum_model(Memory(bytes(16)), offset_bytes, length_bytes)
    assert str(caught.value).startswith("Model.set_operand_value_from_memory: operand 1 “weights”: ")
    assert fragment in str(caught.value)


def test_an_odd_offset_is_no_problem_for_wider_elements() -> None:
    array = Memory(b"\0" + np.array([1.5], np.float32).tobytes()).array(float32(1), 1, 4)
    assert array.tolist() == [1.5]


def test_a_buffer_without_contiguous_bytes_is_bad_data() -> None:
    with pytest.raises(BadDataError, match="must expose contiguous bytes"):
        Memory(np.zeros((4, 4), np.uint8)[:, ::2])


def test_a_model_input_cannot_lie_in_a_memory() -> None:
    model = Model()
    operand = model.add_operand(quant8(4))
    model.identify_inputs_and_outputs([operand], [])
    with pytest.raises(BadDataError, match="is a model input, must not have a value"):
        model.set_operand_value_from_memory(operand, Memory(bytes(4)), 0, 4)
