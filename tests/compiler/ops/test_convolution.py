import dataclasses
from typing import Any

import numpy as np
import pytest

from compiler.graph import Graph, OperandType
from compiler.nnapi import FuseCode, Numerics, OperationCode, ResultCode
from compiler.operation import OperationView
from compiler.ops.convolution import parse
from compiler.ops.window import WindowAxis
from tests.support.one_operation import float32, int32, one_operation, quant8
from tests.support.operations import inferred, npu_refusal, refused, unsupported

OP_FAILED, BAD_DATA = ResultCode.OP_FAILED, ResultCode.BAD_DATA
EXPLICIT = (1, 2, 0, 1, 2, 1, 0)
"""Pads left, right, top, bottom; strides width, height; no activation."""


IMAGE, FILTERS = quant8(2, 5, 8, 3, scale=0.5), quant8(4, 3, 3, 3, scale=0.25)
BIAS, UNSHAPED = int32(4, scale=0.125), quant8(scale=1.0)


def convolution(
    *scalars: Any,
    image: OperandType = IMAGE,
    filters: OperandType = FILTERS,
    bias: OperandType = BIAS,
    output: OperandType = UNSHAPED,
) -> Graph:
    weights = np.zeros(filters.dimensions, filters.dtype)
    constants = (filters, weights), (bias, np.zeros(bias.dimensions, bias.dtype))
    return one_operation(OperationCode.CONV_2D, [(image, None), *constants], scalars, output)


def view(graph: Graph) -> OperationView:
    return OperationView(graph, graph.operations[0])


def test_explicit_padding_gives_the_output_size() -> None:
    assert inferred(convolution(*EXPLICIT)).dimensions == (2, 4, 5, 4)


def test_explicit_padding_is_left_right_top_bottom_and_strides_are_width_height() -> None:
    window = parse(view(convolution(*EXPLICIT))).window
    assert (window.width.pad_head, window.width.pad_tail) == (1, 2)
    assert (window.height.pad_head, window.height.pad_tail) == (0, 1)
    assert (window.width.stride, window.height.stride) == (2, 1)


def test_same_padding_keeps_the_size_divided_by_the_stride() -> None:
    assert inferred(convolution(1, 2, 3, 0)).dimensions == (2, 2, 4, 4)


def test_valid_padding_uses_whole_windows_only() -> None:
    assert inferred(convolution(2, 2, 2, 0)).dimensions == (2, 2, 3, 4)


def test_level_29_takes_layout_and_dilations_after_an_implicit_list() -> None:
    graph = convolution(2, 1, 1, 0, False, 3, 2)
    assert parse(view(graph)).window.width == WindowAxis(3, 1, 3, 0, 0)
    assert parse(view(graph)).window.height == WindowAxis(3, 1, 2, 0, 0)
    assert inferred(graph).dimensions == (2, 1, 2, 4)


def test_level_29_takes_layout_and_dilations_after_an_explicit_list() -> None:
    assert inferred(convolution(*EXPLICIT, False, 1, 2)).dimensions == (2, 2, 5, 4)


def test_level_27_refuses_dilation_and_says_why() -> None:
    graph = convolution(2, 1, 1, 0, False, 2, 2)
    refused(graph, "data layout and dilation came with level 29", BAD_DATA, Numerics.NNAPI27)


def test_channels_may_come_first_but_not_in_filters() -> None:
    graph = convolution(2, 2, 1, 0, True, image=quant8(2, 3, 5, 8, scale=0.5))
    assert inferred(graph).dimensions == (2, 4, 3, 3)
    assert npu_refusal(graph) == "data layout is NCHW; the NPU takes NHWC only"


def test_the_fused_activation_is_read() -> None:
    assert parse(view(convolution(1, 1, 1, 3))).activation is FuseCode.RELU6


@pytest.mark.parametrize(
    ("scalars", "fragment"),
    [
        ((3, 1, 1, 0), "padding scheme (input 3) is 3, must be 1 (SAME) or 2 (VALID)"),
        ((1, 0, 1, 0), "stride width (input 4) is 0, must be at least 1"),
        ((1, 1, -1, 0), "stride height (input 5) is -1, must be at least 1"),
        ((1, 1, 1, 4), "fused activation (input 6) is 4, must be one of 0 (NONE)"),
        ((1, 1, 1, 0, False, 0, 1), "dilation width (input 8) is 0, must be at least 1"),
        ((3, 0, 0, 0, 1, 1, 0), "padding left (input 3) is 3, must be at least 0 and less than the filter's"),
        ((0, 0, -1, 0, 1, 1, 0), "padding top (input 5) is -1, must be at least 0"),
        ((2, 1, 1, 0, False, 1, 4), "output would have shape [2, -3, 6, 4]"),
    ],
)
def test_values_that_no_convolution_can_have_fail_the_operation(
    scalars: tuple[Any, ...], fragment: str
) -> None:
    refused(convolution(*scalars), fragment, OP_FAILED)


@pytest.mark.parametrize("count", [0, 3, 6, 9])
def test_other_operand_counts_are_bad_data(count: int) -> None:
    refused(
        convolution(*[1] * count), f"has {3 + count} inputs, must have 7 or 8 or 10 or 11 or 13", BAD_DATA
    )


def test_a_number_in_the_place_of_the_data_layout_is_bad_data() -> None:
    refused(convolution(1, 1, 1, 0, 0), "has 8 inputs, but input 7 is not a BOOL data layout", BAD_DATA)


def test_a_scalar_of_another_type_is_bad_data() -> None:
    refused(convolution(1, 1.0, 1, 0), "stride width (input 4) is FLOAT32, must be INT32", BAD_DATA)


def test_a_filter_of_other_depth_fails() -> None:
    graph = convolution(1, 1, 1, 0, filters=quant8(4, 3, 3, 2, scale=0.25))
    refused(graph, "filter (input 1) has depth 2, must have the input's depth 3", OP_FAILED)


def test_an_input_of_other_rank_fails() -> None:
    graph = convolution(1, 1, 1, 0, image=quant8(5, 8, 3, scale=0.5))
    refused(graph, "input (input 0) has rank 3 [5, 8, 3], must have rank 4", OP_FAILED)


FLOATS = {"image": float32(1, 5, 8, 3), "filters": float32(4, 3, 3, 3), "output": float32()}


def test_floats_convolve_with_a_float_bias_and_not_on_the_npu() -> None:
    graph = convolution(1, 1, 1, 0, bias=float32(4), **FLOATS)
    assert inferred(graph) == float32(1, 5, 8, 4)
    assert npu_refusal(graph) == "input 0 is TENSOR_FLOAT32; the NPU takes TENSOR_QUANT8_ASYMM here"


def test_floats_with_an_integer_bias_are_bad_data() -> None:
    graph = convolution(1, 1, 1, 0, **FLOATS)
    refused(graph, "bias (input 2) is TENSOR_INT32, must be TENSOR_FLOAT32", BAD_DATA)


def test_a_filter_of_another_type_than_the_input_is_bad_data() -> None:
    graph = convolution(1, 1, 1, 0, image=float32(1, 5, 8, 3))
    refused(graph, "filter (input 1) is TENSOR_QUANT8_ASYMM, must be TENSOR_FLOAT32", BAD_DATA)


def test_an_output_of_another_type_than_the_input_is_bad_data() -> None:
    graph = convolution(1, 1, 1, 0, output=float32())
    refused(graph, "output is TENSOR_FLOAT32, must be TENSOR_QUANT8_ASYMM", BAD_DATA)


def test_an_int32_input_is_bad_data() -> None:
    graph = convolution(1, 1, 1, 0, image=int32(1, 5, 8, 3))
    refused(graph, "input (input 0) is TENSOR_INT32, must be TENSOR_FLOAT32 or TENSOR_QUANT8_ASYMM", BAD_DATA)


def test_an_input_of_unknown_size_is_unsupported() -> None:
    graph = convolution(1, 1, 1, 0, image=quant8(0, 5, 8, 3, scale=0.5))
    unsupported(graph, "input (input 0) has unspecified dimensions [0, 5, 8, 3]")


@pytest.mark.parametrize(
    ("bias", "fragment"),
    [
        (int32(5, scale=0.125), "bias (input 2) has shape [5], must have [4]"),
        (int32(4, scale=0.126), "has scale 0.126000002, must have input scale x filter scale = 0.125"),
        (int32(4, scale=0.0), "has scale 0, must have input scale x filter scale = 0.125"),
        (dataclasses.replace(int32(4, scale=0.125), zero_point=1), "has zero point 1, must have 0"),
    ],
)
def test_a_bias_of_other_shape_scale_or_zero_point_fails(bias: OperandType, fragment: str) -> None:
    refused(convolution(1, 1, 1, 0, bias=bias), fragment, OP_FAILED)


def test_a_bias_scale_may_be_off_by_one_millionth() -> None:
    assert inferred(convolution(1, 1, 1, 0, bias=int32(4, scale=0.125 * (1 + 5e-7)))).dimensions[3] == 4


def test_a_quant8_bias_is_bad_data() -> None:
    graph = convolution(1, 1, 1, 0, bias=quant8(4, scale=0.125))
    refused(graph, "bias (input 2) is TENSOR_QUANT8_ASYMM, must be TENSOR_INT32", BAD_DATA)


def test_level_29_accepts_multipliers_of_one_and_more() -> None:
    graph = convolution(1, 1, 1, 0, output=quant8(scale=0.125))
    assert inferred(graph).scale == 0.125


def test_level_27_refuses_multipliers_of_one_and_more() -> None:
    graph = convolution(1, 1, 1, 0, output=quant8(scale=0.125))
    fragment = "output scale 0.125 must be greater than input scale x filter scale = 0.125"
    refused(graph, fragment, OP_FAILED, Numerics.NNAPI27)


def test_a_multiplier_that_no_shift_can_hold_fails() -> None:
    refused(convolution(1, 1, 1, 0, output=quant8(scale=1e-12)), "must be less than 2^30", OP_FAILED)


def test_a_declared_shape_must_be_the_computed_one() -> None:
    refused(convolution(1, 1, 1, 0, output=quant8(2, 5, 8, 3)), "[2, 5, 8, 3]", OP_FAILED)


def test_messages_name_operation_and_place() -> None:
    refused(convolution(1, 0, 1, 0), "CONV_2D (operation 0): ", OP_FAILED)


def test_weights_need_not_be_constant() -> None:
    tensors = [(quant8(1, 4, 4, 1), None), (quant8(2, 1, 1, 1), None), (int32(2, scale=1.0), None)]
    graph = one_operation(OperationCode.CONV_2D, tensors, (1, 1, 1, 0), quant8(scale=2.0))
    assert inferred(graph).dimensions == (1, 4, 4, 2)
