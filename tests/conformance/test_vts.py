"""AOSP's conformance cases: quant8 bit for bit, float32 within AOSP's tolerance."""

from collections.abc import Callable

import numpy as np
import pytest

import compiler.ops  # noqa: F401  (fills the registry)
from compiler.errors import CompilerError
from compiler.nnapi import LEVEL_27_OPERATIONS, Numerics, OperandCode, OperationCode
from compiler.operation import REGISTRY
from compiler.reference.registry import references
from runtime.conformance.case import Case
from runtime.conformance.variants import with_internal_inputs, with_tensors_as_inputs
from tests.support.execute import EXECUTORS, on_devices
from tests.support.shared import shared_path
from tests.support.vts import assert_agrees, load_vts, vts_names

Name = tuple[str, str]
"""Directory and name of a case."""

QUANTIZED_FLOAT_ANSWERS = {"conv2d_v1_2_large_nchw_quant8", "conv2d_v1_2_large_nhwc_quant8"}
"""Cases whose expected bytes are a float answer rounded to even; `test_…_ties_to_even` proves it."""


def reference_cases(*directories: str) -> list[Name]:
    operations = frozenset(references())
    return [(directory, name) for directory in directories for name in vts_names(directory, operations)]


def npu_cases(*directories: str) -> list[Name]:
    """The cases of the operations that the compiler has, which are all on quant8."""
    operations, floats = frozenset(REGISTRY), frozenset({OperandCode.TENSOR_FLOAT32})
    return [
        (directory, name) for directory in directories for name in vts_names(directory, operations, floats)
    ]


def later(cases: list[Name]) -> list[Name]:
    return [(directory, name) for directory, name in cases if name not in QUANTIZED_FLOAT_ANSWERS]


LEVEL_27_CASES = on_devices(reference_cases("V1_0"), npu_cases("V1_0"))
LATER_CASES = on_devices(later(reference_cases("V1_1", "V1_2")), later(npu_cases("V1_1", "V1_2")))


def test_level_27_has_103_cases_of_every_operation_but_tanh() -> None:
    shared_path("nnapi", "vts", "V1_0")
    names = [load_vts(directory, name) for directory, name in reference_cases("V1_0")]
    assert len(names) == 103
    covered = {operation.code for case in names for operation in case.graph.operations}
    assert set(LEVEL_27_OPERATIONS) - covered == {OperationCode.TANH}


def test_there_are_later_cases() -> None:
    shared_path("nnapi", "vts", "V1_2")
    assert len(reference_cases("V1_1", "V1_2")) == 269


@pytest.mark.parametrize("numerics", list(Numerics))
@pytest.mark.parametrize(("device", "name"), LEVEL_27_CASES)
def test_level_27_cases_pass(name: Name, device: str, numerics: Numerics) -> None:
    assert_passes(load_vts(*name), device, numerics)


@pytest.mark.parametrize(("device", "name"), LATER_CASES)
def test_later_cases_pass(name: Name, device: str) -> None:
    assert_passes(load_vts(*name), device, Numerics.NNAPI)


@pytest.mark.parametrize("variant", [with_tensors_as_inputs, with_internal_inputs])
@pytest.mark.parametrize(("device", "name"), LEVEL_27_CASES + LATER_CASES)
def test_variants_pass(name: Name, device: str, variant: Callable[[Case], Case]) -> None:
    assert_passes(variant(load_vts(*name)), device, Numerics.NNAPI)


def assert_passes(case: Case, device: str, numerics: Numerics) -> None:
    for example in case.examples:
        if case.expect_failure:
            with pytest.raises(CompilerError):
                EXECUTORS[device](case.graph, example.inputs, numerics)
            continue
        outputs = EXECUTORS[device](case.graph, example.inputs, numerics)
        for output, expected in zip(outputs, example.outputs, strict=True):
            if expected is not None:
                assert_agrees(output, expected)


@pytest.mark.parametrize(("device", "name"), on_devices(*[sorted(QUANTIZED_FLOAT_ANSWERS)] * 2))
def test_differences_are_exact_ties_that_the_vector_rounds_to_even(name: str, device: str) -> None:
    """These are 1×1 convolutions without padding and activation, so the real answer is a dot product."""
    shared_path("nnapi", "vts", "V1_2", f"{name}.json")
    case = load_vts("V1_2", name)
    inputs, filters, bias = case.graph.operations[0].inputs[:3]
    operands = case.graph.operands
    kinds = [operands[number].type for number in (inputs, filters, case.graph.outputs[0])]
    weights, offsets = operands[filters].value, operands[bias].value
    assert weights is not None
    assert offsets is not None
    (example,) = case.examples
    (expected,) = example.outputs
    image = example.inputs[0]
    assert expected is not None
    assert image is not None
    (output,) = EXECUTORS[device](case.graph, example.inputs, Numerics.NNAPI)
    is_channels_first = name.endswith("nchw_quant8")
    image = image.transpose(0, 2, 3, 1) if is_channels_first else image
    steps_in = image.astype(np.int64) - kinds[0].zero_point
    sums = steps_in @ (weights[:, 0, 0].astype(np.int64) - kinds[1].zero_point).T + offsets.astype(np.int64)
    # Scales of the file are decimal fractions; as such the quotient is the answer before rounding.
    scales = [round(kind.scale, 6) for kind in kinds]
    steps = np.round(sums * scales[0] * scales[1] / scales[2], 6)
    steps = steps.transpose(0, 3, 1, 2) if is_channels_first else steps
    differs = output != expected
    np.testing.assert_array_equal(expected, np.rint(steps) + kinds[2].zero_point)
    assert differs.any()
    assert (np.abs(steps[differs] % 1) == 0.5).all()
