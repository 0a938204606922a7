"""Random instructions whose operands lie in a small SRAM without overlap."""

from typing import Any

from hypothesis import strategies as st

from isa.instructions.matrix import Convolve
from isa.instructions.vector import DepthwiseConvolve, Pool, PoolMode
from isa.instructions.window import Windowed

SRAM_BYTES = 1 << 14


class Layout:
    """Hands out SRAM addresses one behind the other."""

    def __init__(self) -> None:
        self.next_address = 0

    def place(self, size_bytes: int) -> int:
        address = self.next_address
        self.next_address += size_bytes
        return address


@st.composite
def windows(draw: st.DrawFn, layout: Layout, channels: int, output_channels: int) -> dict[str, Any]:
    """The fields of Windowed, with slack in every pitch."""
    small = st.integers(1, 3)
    batch, height, width = draw(st.integers(1, 2)), draw(st.integers(1, 6)), draw(st.integers(1, 6))
    output_height, output_width = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    slack = st.integers(0, 2)
    pixel_pitch = channels + draw(slack)
    row_pitch = width * pixel_pitch + draw(slack)
    batch_pitch = height * row_pitch + draw(slack)
    output_pixel_pitch = output_channels + draw(slack)
    output_row_pitch = output_width * output_pixel_pitch + draw(slack)
    output_batch_pitch = output_height * output_row_pitch + draw(slack)
    clamp = sorted((draw(st.sampled_from([0, 0, 3, 120])), draw(st.sampled_from([255, 255, 200, 130]))))
    return {
        "unit_mask": 1,
        "batch": batch,
        "input_address": layout.place(batch * batch_pitch),
        "input_batch_pitch": batch_pitch,
        "input_row_pitch": row_pitch,
        "input_pixel_pitch": pixel_pitch,
        "input_height": height,
        "input_width": width,
        "input_channels": channels,
        "kernel_height": draw(small),
        "kernel_width": draw(small),
        "stride_height": draw(small),
        "stride_width": draw(small),
        "dilation_height": draw(small),
        "dilation_width": draw(small),
        "pad_top": draw(st.integers(0, 3)),
        "pad_left": draw(st.integers(0, 3)),
        "output_address": layout.place(batch * output_batch_pitch),
        "output_batch_pitch": output_batch_pitch,
        "output_row_pitch": output_row_pitch,
        "output_pixel_pitch": output_pixel_pitch,
        "output_height": output_height,
        "output_width": output_width,
        "output_channels": output_channels,
        "clamp_min": clamp[0],
        "clamp_max": clamp[1],
    }


@st.composite
def weighted(draw: st.DrawFn, layout: Layout, output_channels: int) -> dict[str, Any]:
    """The fields that Weighted adds, except for the weights' layout."""
    return {
        "input_zero": draw(st.integers(0, 255)),
        "weight_zero": draw(st.integers(0, 255)),
        "has_bias": draw(st.integers(0, 1)),
        "bias_address": layout.place(4 * output_channels),
        "output_zero": draw(st.integers(0, 255)),
        "multiplier": draw(st.integers(2**30, 2**31 - 1)),
        "shift": draw(st.sampled_from([-31, -24, -14, -11, -9, -7, -1, 0, 1, 3])),
    }


@st.composite
def convolutions(draw: st.DrawFn) -> Convolve:
    layout = Layout()
    channels, output_channels = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    window = draw(windows(layout, channels, output_channels))
    tap_pitch = channels + draw(st.integers(0, 2))
    channel_pitch = window["kernel_height"] * window["kernel_width"] * tap_pitch + draw(st.integers(0, 2))
    return Convolve(
        **window,
        **draw(weighted(layout, output_channels)),
        weight_address=layout.place(output_channels * channel_pitch),
        weight_tap_pitch=tap_pitch,
        weight_channel_pitch=channel_pitch,
    )


@st.composite
def depthwise_convolutions(draw: st.DrawFn) -> DepthwiseConvolve:
    layout = Layout()
    channels, multiplier = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    output_channels = channels * multiplier
    window = draw(windows(layout, channels, output_channels))
    tap_pitch = output_channels + draw(st.integers(0, 2))
    return DepthwiseConvolve(
        **window,
        **draw(weighted(layout, output_channels)),
        weight_address=layout.place(window["kernel_height"] * window["kernel_width"] * tap_pitch),
        weight_tap_pitch=tap_pitch,
        channel_multiplier=multiplier,
    )


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    channels = draw(st.integers(1, 4))
    window = draw(windows(Layout(), channels, channels))
    return Pool(**window, mode=draw(st.sampled_from(PoolMode)))


def has_empty_window(i: Windowed) -> bool:
    """True if some window has no tap inside the image."""

    def empty(outputs: int, stride: int, taps: int, dilation: int, pad: int, size: int) -> bool:
        return any(
            all(not 0 <= o * stride - pad + t * dilation < size for t in range(taps)) for o in range(outputs)
        )

    return empty(
        i.output_height, i.stride_height, i.kernel_height, i.dilation_height, i.pad_top, i.input_height
    ) or empty(i.output_width, i.stride_width, i.kernel_width, i.dilation_width, i.pad_left, i.input_width)
