from pathlib import Path

import numpy as np
import pytest

from compiler.nnapi import OperationCode
from runtime.conformance.case import Case
from runtime.conformance.case_file import read_case
from runtime.conformance.variants import variants, with_internal_inputs, with_tensors_as_inputs
from tests.support.case_files import case, relu_case, sum_case, tensor, write


@pytest.fixture
def small(tmp_path: Path) -> Case:
    return read_case(write(tmp_path, "sum", sum_case()))


def test_constant_tensors_become_inputs_with_their_values(small: Case) -> None:
    derived = with_tensors_as_inputs(small)
    assert derived.graph.inputs == (0, 1)
    assert not derived.graph.operands[1].is_constant
    assert derived.graph.operands[2].is_constant  # a scalar stays what it is
    np.testing.assert_array_equal(derived.examples[0].inputs[1], [2.0, 3.0])


def test_inputs_become_sums_of_new_inputs_and_zero(small: Case) -> None:
    derived = with_internal_inputs(small)
    first, second = derived.graph.operations
    assert (first.code, first.outputs, second) == (OperationCode.ADD, (0,), small.graph.operations[0])
    assert derived.graph.inputs == (first.inputs[0],)
    assert derived.graph.operands[first.inputs[0]].type == small.graph.operands[0].type
    assert derived.graph.operands[first.inputs[1]].value == np.zeros(1, np.float32)
    assert derived.examples == small.examples


def test_zero_is_the_zero_point_of_a_quantised_input(tmp_path: Path) -> None:
    derived = with_internal_inputs(read_case(write(tmp_path, "relu", relu_case())))
    zero = derived.graph.operands[derived.graph.operations[0].inputs[1]]
    assert zero.value == np.array([128], np.uint8)
    assert (zero.type.scale, zero.type.zero_point) == (0.5, 128)


def test_inputs_that_an_example_leaves_out_stay(tmp_path: Path) -> None:
    operands = [tensor("input", [2]), tensor("input", [2]), tensor("output", [2])]
    document = case(operands, "RNN", [([None, ["1", "2"]], [["3", "5"]])])
    derived = with_internal_inputs(read_case(write(tmp_path, "optional", document)))
    assert derived.graph.inputs[0] == 0
    assert len(derived.graph.operations) == 2


def test_integers_cannot_be_summed(tmp_path: Path) -> None:
    operands = [tensor("input", [2], "TENSOR_INT32"), tensor("output", [2], "TENSOR_INT32")]
    original = read_case(write(tmp_path, "integers", case(operands, "RESHAPE", [([[1, 2]], [[1, 2]])])))
    assert with_internal_inputs(original).graph == original.graph


def test_a_case_says_which_variants_there_are(tmp_path: Path, small: Case) -> None:
    assert [each.variant for each in variants(small)] == ["all_tensors_as_inputs", "all_inputs_as_internal"]
    relu = read_case(write(tmp_path, "relu", relu_case()))
    assert [each.variant for each in variants(relu)] == ["all_inputs_as_internal"]
    assert {each.subjects for each in variants(relu)} == {relu.subjects}
