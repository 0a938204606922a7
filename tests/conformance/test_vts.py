"""AOSP's quant8 conformance cases, bit for bit."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from compiler.errors import CompilerError, UnsupportedError
from compiler.nnapi import Numerics
from compiler.reference.registry import references
from tests.support.execute import DEVICES, EXECUTORS, REFERENCE
from tests.support.shared import shared_path
from tests.support.vts import (
    VtsCase,
    load_vts,
    vts_names,
    with_internal_inputs,
    with_tensors_as_inputs,
)

OPERATIONS = frozenset(references())

QUANTIZED_FLOAT_ANSWERS = {"conv2d_v1_2_large_nchw_quant8", "conv2d_v1_2_large_nhwc_quant8"}
"""Cases whose expected bytes are a float answer rounded to even; `test_…_ties_to_even` proves it."""


def is_only_on_reference(name: str) -> bool:
    """The compiler implements neither NCHW nor SOFTMAX along another axis than the last."""
    axis = re.search(r"dim(\d)_axis(\d)", name)
    return "_nchw_" in name or (axis is not None and int(axis[2]) != int(axis[1]) - 1)


def cases(*directories: str) -> list[tuple[str, str]]:
    return [(directory, name) for directory in directories for name in vts_names(directory, OPERATIONS)]


LATER = [case for case in cases("V1_1", "V1_2") if case[1] not in QUANTIZED_FLOAT_ANSWERS]


@pytest.mark.parametrize("directory", ["V1_0", "V1_2"])
def test_there_are_cases(directory: str) -> None:
    shared_path("nnapi", "vts", directory)
    assert len(vts_names(directory, OPERATIONS)) >= 30


@pytest.mark.parametrize("numerics", list(Numerics))
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("directory", "name"), cases("V1_0"))
def test_level_27_cases_are_exact(directory: str, name: str, device: str, numerics: Numerics) -> None:
    assert_exact(load_vts(directory, name), device, numerics)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("directory", "name"), LATER)
def test_later_cases_are_exact(directory: str, name: str, device: str) -> None:
    assert_exact(load_vts(directory, name), device, Numerics.NNAPI)


@pytest.mark.parametrize("variant", [with_tensors_as_inputs, with_internal_inputs])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("directory", "name"), cases("V1_0") + LATER)
def test_variants_are_exact(
    directory: str, name: str, device: str, variant: Callable[[VtsCase], VtsCase]
) -> None:
    assert_exact(variant(load_vts(directory, name)), device, Numerics.NNAPI)


def assert_exact(case: VtsCase, device: str, numerics: Numerics) -> None:
    for example in case.examples:
        if case.expect_failure or (device != REFERENCE and is_only_on_reference(case.name)):
            with pytest.raises(CompilerError if case.expect_failure else UnsupportedError):
                EXECUTORS[device](case.graph, example.inputs, numerics)
            continue
        outputs = EXECUTORS[device](case.graph, example.inputs, numerics)
        for output, expected in zip(outputs, example.outputs, strict=True):
            if expected is not None:
                np.testing.assert_array_equal(output, expected, strict=True)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", sorted(QUANTIZED_FLOAT_ANSWERS))
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
    assert expected is not None
    if device != REFERENCE and is_only_on_reference(name):
        pytest.skip("the compiler does not implement NCHW")
    (output,) = EXECUTORS[device](case.graph, example.inputs, Numerics.NNAPI)
    image = example.inputs[0].astype(np.int64) - kinds[0].zero_point
    is_channels_first = name.endswith("nchw_quant8")
    image = image.transpose(0, 2, 3, 1) if is_channels_first else image
    sums = image @ (weights[:, 0, 0].astype(np.int64) - kinds[1].zero_point).T + offsets.astype(np.int64)
    # Scales of the file are decimal fractions; as such the quotient is the answer before rounding.
    scales = [round(kind.scale, 6) for kind in kinds]
    steps = np.round(sums * scales[0] * scales[1] / scales[2], 6)
    steps = steps.transpose(0, 3, 1, 2) if is_channels_first else steps
    differs = output != expected
    np.testing.assert_array_equal(expected, np.rint(steps) + kinds[2].zero_point)
    assert differs.any()
    assert (np.abs(steps[differs] % 1) == 0.5).all()
