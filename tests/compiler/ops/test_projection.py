import numpy as np
import pytest

from compiler.errors import UnsupportedError
from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperandCode, OperationCode, ResultCode
from compiler.operation import ConstantInput, OmittedInput, ScalarInput
from compiler.ops.projection import from_tflite
from tests.support.one_operation import Given, Omitted, float32, int32, operation, quant8
from tests.support.operations import inferred, npu_refusal, refused
from tests.support.tflite_operators import tflite_operator, tflite_tensor

OP_FAILED, BAD_DATA = ResultCode.OP_FAILED, ResultCode.BAD_DATA
SPARSE, DENSE, OFFSET = 1, 2, 3
NONE = Omitted(float32(3))
HASHES, ITEMS, WEIGHT = float32(4, 2), int32(3, 5), float32(3)


def project(
    kind: Given, weight: Given = NONE, hashes: OperandType = HASHES, items: OperandType = ITEMS
) -> Graph:
    return operation(OperationCode.LSH_PROJECTION, [hashes, items, weight, kind], [int32()])


@pytest.mark.parametrize("items", [float32(3), int32(3, 5), quant8(3, 1, 2, 7, 1)])
def test_a_dense_projection_has_a_place_for_each_bit(items: OperandType) -> None:
    assert inferred(project(DENSE, WEIGHT, items=items)) == int32(8)


@pytest.mark.parametrize("kind", [SPARSE, OFFSET])
def test_a_sparse_projection_has_a_number_for_each_function(kind: int) -> None:
    assert inferred(project(kind)) == int32(4)


def test_offsets_came_with_level_29() -> None:
    refused(project(OFFSET), "projection type (input 3) is 3, must be one of", OP_FAILED, Numerics.NNAPI27)


def test_a_sparse_projection_may_leave_out_a_model_input_at_execution() -> None:
    assert inferred(project(SPARSE, WEIGHT)) == int32(4)


@pytest.mark.parametrize(
    ("graph", "fragment"),
    [
        (project(0), "projection type (input 3) is 0, must be one of 1 (SPARSE), 2 (DENSE), 3"),
        (project(DENSE), "weight (input 2) is omitted; a dense projection must have one"),
        (project(SPARSE, (WEIGHT, np.ones(3))), "weight (input 2) is given; a sparse projection must have"),
        (project(DENSE, float32(4)), "weight (input 2) has shape [4], must have [3] (one for each item"),
        (project(SPARSE, hashes=float32(4, 33)), "has 33 seeds per function, must have at most 32"),
        (project(SPARSE, hashes=float32(4)), "hash functions (input 0) has rank 1"),
    ],
)
def test_operands_that_no_projection_can_have_fail(graph: Graph, fragment: str) -> None:
    refused(graph, fragment, OP_FAILED)


@pytest.mark.parametrize(
    ("graph", "fragment"),
    [
        (project(2.0, WEIGHT), "projection type (input 3) is FLOAT32, must be INT32"),
        (project(SPARSE, hashes=int32(4, 2)), "hash functions (input 0) is TENSOR_INT32"),
        (project(DENSE, int32(3)), "weight (input 2) is TENSOR_INT32, must be TENSOR_FLOAT32"),
    ],
)
def test_operands_of_other_types_are_bad_data(graph: Graph, fragment: str) -> None:
    refused(graph, fragment, BAD_DATA)


def test_it_never_runs_on_the_npu() -> None:
    assert npu_refusal(project(SPARSE)) is not None


FILE_INPUTS = [tflite_tensor(HASHES), tflite_tensor(ITEMS)]


def test_a_sparse_projection_of_a_file_adds_offsets() -> None:
    _, _, weight, kind = from_tflite(tflite_operator("LSH_PROJECTION", FILE_INPUTS, type="SPARSE"))
    assert isinstance(weight, OmittedInput)
    assert kind == ScalarInput(OperandCode.INT32, OFFSET)


def test_a_dense_projection_of_a_file_without_weights_gets_ones() -> None:
    _, _, weight, kind = from_tflite(tflite_operator("LSH_PROJECTION", FILE_INPUTS, type="DENSE"))
    assert isinstance(weight, ConstantInput)
    assert (weight.type, weight.value.tolist()) == (float32(3), [1.0, 1.0, 1.0])
    assert kind == ScalarInput(OperandCode.INT32, DENSE)


@pytest.mark.parametrize(
    ("inputs", "kind", "fragment"),
    [
        ([*FILE_INPUTS, tflite_tensor(WEIGHT)], "SPARSE", "a sparse projection with weights is not in NNAPI"),
        (FILE_INPUTS, "UNKNOWN", "type UNKNOWN is not in NNAPI"),
    ],
)
def test_projections_of_a_file_that_nnapi_has_not_are_unsupported(
    inputs: list[object], kind: str, fragment: str
) -> None:
    with pytest.raises(UnsupportedError, match=fragment):
        from_tflite(tflite_operator("LSH_PROJECTION", inputs, type=kind))  # type: ignore[arg-type]
