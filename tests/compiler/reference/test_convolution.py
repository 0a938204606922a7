from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import GraphError
from compiler.nnapi import Numerics, OperationCode, ResultCode
from compiler.reference.arithmetic import multiply_by_quantized_multiplier, quantize_multiplier
from tests.compiler.reference.calls import FLOAT, Array, compute
from tests.support.one_operation import int32, quant8

CONV, DEPTHWISE, DENSE = (
    OperationCode.CONV_2D,
    OperationCode.DEPTHWISE_CONV_2D,
    OperationCode.FULLY_CONNECTED,
)
SAME, VALID = 1, 2
RELU = 1


def unit_conv(inputs: Any, filters: Any, scalars: list[Any], bias: Any = (0,), **options: Any) -> Array:
    """CONV_2D with input scale 1/2, filter scale 1/2 and output scale 1/2: real multiplier 1/2."""
    tensors = [
        (quant8(scale=0.5, zero_point=options.get("input_zero", 0)), inputs),
        (quant8(scale=0.5, zero_point=options.get("filter_zero", 0)), filters),
        (int32(scale=0.25), bias),
    ]
    output = quant8(scale=0.5, zero_point=options.get("output_zero", 0))
    return compute(CONV, tensors, scalars, output, options.get("numerics", Numerics.NNAPI))


IMAGE = np.arange(1, 10).reshape(1, 3, 3, 1)
ONES = np.ones((1, 2, 2, 1))


def test_valid_windows_sum_their_taps() -> None:
    # Sums 12, 16, 24, 28, halved.
    assert unit_conv(IMAGE, ONES, [VALID, 1, 1, 0]).ravel().tolist() == [6, 8, 12, 14]


def test_same_padding_of_an_even_filter_goes_to_the_end() -> None:
    sums = [12, 16, 9, 24, 28, 15, 15, 17, 9]
    expected = [(value + 1) // 2 for value in sums]
    assert unit_conv(IMAGE, ONES, [SAME, 1, 1, 0]).ravel().tolist() == expected


def test_strides_are_width_then_height() -> None:
    assert unit_conv(IMAGE, np.ones((1, 1, 1, 1)), [VALID, 2, 1, 0]).shape == (1, 3, 2, 1)


def test_explicit_padding_is_left_right_top_bottom() -> None:
    # Only the left column is padded: windows of [0, 1, 0, 4], [1, 2, 4, 5], [2, 3, 5, 6], ...
    output = unit_conv(IMAGE, ONES, [1, 0, 0, 0, 1, 1, 0])
    assert output[0, :, :, 0].tolist() == [[3, 6, 8], [6, 12, 14]]


def test_padded_taps_count_as_the_zero_point() -> None:
    output = unit_conv(np.full((1, 1, 1, 1), 9), ONES, [SAME, 1, 1, 0], input_zero=9)
    assert output.tolist() == [[[[0]]]]


def test_a_dilated_filter_reads_every_second_element() -> None:
    # Corners 1, 3, 7, 9.
    assert unit_conv(IMAGE, ONES, [VALID, 1, 1, 0, False, 2, 2]).tolist() == [[[[10]]]]


def test_dilations_are_width_then_height() -> None:
    assert unit_conv(IMAGE, ONES, [VALID, 1, 1, 0, False, 2, 1]).shape == (1, 2, 1, 1)


def test_channels_first_transposes_input_and_output() -> None:
    image = np.arange(12).reshape(1, 2, 3, 2)
    filters = np.arange(3 * 2).reshape(3, 1, 1, 2)
    usual = unit_conv(image, filters, [VALID, 1, 1, 0], bias=[0, 0, 0])
    other = unit_conv(image.transpose(0, 3, 1, 2), filters, [VALID, 1, 1, 0, True], bias=[0, 0, 0])
    assert (other == usual.transpose(0, 3, 1, 2)).all()


def test_halves_round_up_where_the_multiplier_needs_no_shift() -> None:
    output = unit_conv([[[[1], [3]]]], [[[[1]]]], [VALID, 1, 1, 0], input_zero=2, output_zero=100)
    assert output.ravel().tolist() == [100, 101]


def test_halves_round_away_from_the_zero_point_where_the_multiplier_shifts() -> None:
    tensors = [
        (quant8(scale=0.5, zero_point=2), [[0], [4]]),
        (quant8(scale=0.25), [[1]]),
        (int32(scale=0.125), [0]),
    ]
    assert compute(DENSE, tensors, [0], quant8(scale=0.5, zero_point=100)).ravel().tolist() == [99, 101]


def test_bias_is_added_before_scaling() -> None:
    assert unit_conv([[[[0]]]], [[[[1]]]], [VALID, 1, 1, 0], bias=[-20], output_zero=100).item() == 90


def test_the_activation_clamps_in_the_output_scale() -> None:
    assert unit_conv([[[[0]]]], [[[[1]]]], [VALID, 1, 1, RELU], bias=[-20], output_zero=100).item() == 100


def test_sums_wrap_at_32_bits() -> None:
    output = unit_conv([[[[1]]]], [[[[1]]]], [VALID, 1, 1, 0], bias=[2**31 - 1], output_zero=100)
    assert output.item() == 0


def naive_windows(
    inputs: Array, filters: Array, stride: tuple[int, int], dilation: tuple[int, int], pads: tuple[int, ...]
) -> Array:
    """Σ of a grouped convolution, one element at a time; filters are [out, height, width, in / groups]."""
    left, right, top, bottom = pads
    batch, height, width, depth = inputs.shape
    channels, kernel_height, kernel_width, group_depth = filters.shape
    rows = (height + top + bottom - (kernel_height - 1) * dilation[0] - 1) // stride[0] + 1
    columns = (width + left + right - (kernel_width - 1) * dilation[1] - 1) // stride[1] + 1
    sums = np.zeros((batch, rows, columns, channels), np.int64)
    for b, i, j, c in np.ndindex(*sums.shape):
        first = c * (depth // group_depth) // channels * group_depth
        for di, dj, k in np.ndindex(kernel_height, kernel_width, group_depth):
            row, column = i * stride[0] + di * dilation[0] - top, j * stride[1] + dj * dilation[1] - left
            if 0 <= row < height and 0 <= column < width:
                sums[b, i, j, c] += inputs[b, row, column, first + k] * filters[c, di, dj, k]
    return sums


@st.composite
def convolutions(draw: st.DrawFn) -> dict[str, Any]:
    kernel = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    dilation = draw(st.tuples(st.integers(1, 2), st.integers(1, 2)))
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    return {
        "kernel": kernel,
        "dilation": dilation,
        "stride": draw(st.tuples(st.integers(1, 3), st.integers(1, 3))),
        "pads": tuple(draw(st.integers(0, reach[axis] - 1)) for axis in (1, 1, 0, 0)),
        "size": tuple(draw(st.integers(reach[axis], reach[axis] + 3)) for axis in (0, 1)),
        "depth": draw(st.integers(1, 3)),
        "channels": draw(st.integers(1, 3)),
        "zeros": tuple(draw(st.integers(0, 255)) for _ in range(3)),
        "seed": draw(st.integers(0, 2**32 - 1)),
    }


@settings(deadline=None)
@given(convolutions(), st.booleans())
def test_convolutions_equal_the_sum_over_taps(case: dict[str, Any], depthwise: bool) -> None:
    random = np.random.default_rng(case["seed"])
    depth, count = case["depth"], case["channels"]
    channels = depth * count if depthwise else count
    inputs = random.integers(0, 256, (2, *case["size"], depth))
    filters = random.integers(0, 256, (channels, *case["kernel"], 1 if depthwise else depth))
    bias = random.integers(-1000, 1000, channels)
    input_zero, filter_zero, output_zero = case["zeros"]
    stored = filters.transpose(3, 1, 2, 0) if depthwise else filters
    (height_stride, width_stride), (height_dilation, width_dilation) = case["stride"], case["dilation"]
    output = compute(
        DEPTHWISE if depthwise else CONV,
        [
            (quant8(scale=0.5, zero_point=input_zero), inputs),
            (quant8(scale=0.25, zero_point=filter_zero), stored),
            (int32(scale=0.125), bias),
        ],
        [
            *case["pads"],
            *(width_stride, height_stride),
            *([count] if depthwise else []),
            *(0, False, width_dilation, height_dilation),
        ],
        quant8(scale=30.0, zero_point=output_zero),
    )
    sums = naive_windows(
        inputs - input_zero, filters - filter_zero, case["stride"], case["dilation"], case["pads"]
    )
    steps = multiply_by_quantized_multiplier(sums + bias, *quantize_multiplier(0.125 / 30))
    assert (output == np.clip(steps + output_zero, 0, 255)).all()


def test_depthwise_output_channels_follow_their_input_channel() -> None:
    output = compute(
        DEPTHWISE,
        [
            (quant8(scale=0.5), [[[[1, 10]]]]),
            (quant8(scale=0.5), [[[[2, 4, 6, 8]]]]),
            (int32(scale=0.25), [0] * 4),
        ],
        [VALID, 1, 1, 2, 0],
        quant8(scale=0.5),
    )
    assert output.ravel().tolist() == [1, 2, 30, 40]


@pytest.mark.parametrize(("shape", "rows"), [((2, 3), 2), ((1, 2, 3), 2), ((2, 1, 2, 3), 4), ((3, 2), 2)])
def test_dense_layers_read_any_input_as_rows_of_the_weights_size(shape: tuple[int, ...], rows: int) -> None:
    values = np.arange(np.prod(shape)).reshape(shape)
    weights = [[2, 0, 0], [2, 2, 2]]
    tensors = [
        (quant8(scale=0.5), values),
        (quant8(scale=0.5), weights),
        (int32(scale=0.25), [0, 0]),
    ]
    output = compute(DENSE, tensors, [0], quant8(scale=0.5))
    flat = values.reshape(-1, 3)
    assert output.tolist() == np.stack([flat[:, 0], flat.sum(axis=1)], axis=1).tolist()
    assert len(output) == rows


def scaled(numerics: Numerics, scales: tuple[float, float, float], bias_scale: float | None = None) -> Array:
    product = float(np.float32(scales[0]) * np.float32(scales[1]))
    tensors = [
        (quant8(scale=scales[0]), [[10]]),
        (quant8(scale=scales[1]), [[3]]),
        (int32(scale=product if bias_scale is None else bias_scale), [0]),
    ]
    return compute(DENSE, tensors, [0], quant8(scale=scales[2]), numerics)


def test_multipliers_of_one_and_more_are_legal_from_level_29_on() -> None:
    assert scaled(Numerics.NNAPI, (0.5, 0.5, 0.0625)).item() == 120
    assert scaled(Numerics.NNAPI, (0.5, 0.5, 0.25)).item() == 30


@pytest.mark.parametrize("output", [0.25, 0.0625])
def test_level_27_refuses_multipliers_of_one_and_more(output: float) -> None:
    with pytest.raises(GraphError, match="below the output scale") as caught:
        scaled(Numerics.NNAPI27, (0.5, 0.5, output))
    assert caught.value.result_code is ResultCode.OP_FAILED


def test_level_27_rounds_the_multiplier_to_single_precision() -> None:
    """A sum between the two levels' rounding borders: input scale = output scale, filter 0.00708805…"""
    scale, filter_scale = 0.023528477177023888, 0.007088052574545145
    tensors = [
        (quant8(scale=scale), [[0]]),
        (quant8(scale=filter_scale), [[0]]),
        (int32(scale=float(np.float32(scale) * np.float32(filter_scale))), [12062]),
    ]
    assert compute(DENSE, tensors, [0], quant8(scale=scale), Numerics.NNAPI).item() == 85
    assert compute(DENSE, tensors, [0], quant8(scale=scale), Numerics.NNAPI27).item() == 86


@pytest.mark.parametrize("numerics", list(Numerics))
def test_a_bias_scale_that_is_not_the_product_is_refused(numerics: Numerics) -> None:
    with pytest.raises(GraphError, match="bias has scale"):
        scaled(numerics, (0.5, 0.5, 1.0), bias_scale=0.2501)


@pytest.mark.parametrize("numerics", list(Numerics))
def test_a_bias_scale_off_by_less_than_a_millionth_is_accepted(numerics: Numerics) -> None:
    assert scaled(numerics, (0.5, 0.5, 1.0), bias_scale=0.25 * (1 + 5e-7)).item() == 8


@pytest.mark.parametrize(
    ("scalars", "message"),
    [
        ([VALID, 0, 1, 0], "stride 0 in width"),
        ([VALID, 1, -1, 0], "stride -1 in height"),
        ([3, 1, 1, 0], "padding scheme 3"),
        ([VALID, 1, 1, 4], "activation 4"),
        ([VALID, 1, 1, 0, False, 0, 1], "dilation 0 in width"),
        ([-1, 0, 0, 0, 1, 1, 0], "must not be negative"),
        ([2, 0, 0, 0, 1, 1, 0], "smaller than the filter's reach"),
        ([VALID, 1, 1, 0, False, 4, 1], "does not fit"),
        ([VALID, 1, 1], "6 inputs"),
        ([VALID, 1, 1, 0, False, 1], "9 inputs"),
        ([VALID, 1, 1, 0, False, 1, 1, 1], "11 inputs"),
    ],
)
def test_impossible_windows_are_refused(scalars: list[Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        unit_conv(IMAGE, ONES, scalars)


@pytest.mark.parametrize("scalars", [[VALID, 1, 1, 0, False], [VALID, 1, 1, 0, False, 2, 2]])
def test_level_27_refuses_layout_and_dilation(scalars: list[Any]) -> None:
    with pytest.raises(GraphError, match="inputs, expected 7"):
        unit_conv(IMAGE, ONES, scalars, numerics=Numerics.NNAPI27)


def test_a_filter_of_another_depth_is_refused() -> None:
    with pytest.raises(GraphError, match="the filter has depth 2, the input 1"):
        unit_conv(IMAGE, np.ones((1, 1, 1, 2)), [VALID, 1, 1, 0])


def test_a_bias_of_another_length_is_refused() -> None:
    with pytest.raises(GraphError, match=r"the bias is \[2\]"):
        unit_conv(IMAGE, ONES, [VALID, 1, 1, 0], bias=[0, 0])


def test_a_batch_of_zero_gives_a_batch_of_zero() -> None:
    assert unit_conv(np.ones((0, 3, 3, 1)), ONES, [VALID, 1, 1, 0]).shape == (0, 2, 2, 1)


def test_a_float_convolution_adds_products_and_bias() -> None:
    tensors = [(FLOAT, IMAGE), (FLOAT, ONES * 0.5), (FLOAT, [0.25])]
    output = compute(CONV, tensors, [VALID, 1, 1, 0], FLOAT)
    assert output.ravel().tolist() == [6.25, 8.25, 12.25, 14.25]


def test_a_float_convolution_is_clamped() -> None:
    tensors = [(FLOAT, IMAGE), (FLOAT, ONES * 0.5), (FLOAT, [-8.0])]
    assert compute(CONV, tensors, [VALID, 1, 1, RELU], FLOAT).ravel().tolist() == [0, 0, 4, 6]


def test_a_float_convolution_keeps_what_single_precision_sums_would_lose() -> None:
    # In single precision 2²⁴ + 1 is 2²⁴.
    tensors = [(FLOAT, [[[[2.0**24, 1.0, -(2.0**24)]]]]), (FLOAT, np.ones((1, 1, 1, 3))), (FLOAT, [0.0])]
    assert compute(CONV, tensors, [VALID, 1, 1, 0], FLOAT).item() == 1.0


def test_a_float_depthwise_convolution_has_a_filter_per_channel() -> None:
    tensors = [(FLOAT, [[[[1.0, 2.0]]]]), (FLOAT, [[[[1.0, 10.0, 100.0, 1000.0]]]]), (FLOAT, [0.5] * 4)]
    output = compute(DEPTHWISE, tensors, [VALID, 1, 1, 2, 0], FLOAT)
    assert output.ravel().tolist() == [1.5, 10.5, 200.5, 2000.5]


def test_a_float_dense_layer_flattens_its_input() -> None:
    tensors = [(FLOAT, np.arange(6).reshape(1, 3, 2)), (FLOAT, [[1.0, 1.0, 1.0]]), (FLOAT, [0.5])]
    assert compute(DENSE, tensors, [0], FLOAT).tolist() == [[3.5], [12.5]]


def test_a_float_input_with_a_quantised_filter_is_bad_data() -> None:
    tensors = [(FLOAT, IMAGE), (quant8(), ONES), (FLOAT, [0.0])]
    with pytest.raises(GraphError, match="input 1 is TENSOR_QUANT8_ASYMM, not TENSOR_FLOAT32") as caught:
        compute(CONV, tensors, [VALID, 1, 1, 0], FLOAT)
    assert caught.value.result_code is ResultCode.BAD_DATA
