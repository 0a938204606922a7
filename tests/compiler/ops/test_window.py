import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from compiler.nnapi import PaddingCode
from compiler.ops.window import WindowAxis, pad_implicitly

SIZES = st.integers(1, 40)
AXES = st.builds(
    WindowAxis,
    size=st.integers(1, 7),
    stride=st.integers(1, 5),
    dilation=st.integers(1, 4),
    pad_head=st.just(0),
    pad_tail=st.just(0),
)


@given(AXES, SIZES)
def test_same_gives_the_rounded_up_quotient_of_size_and_stride(axis: WindowAxis, size: int) -> None:
    padded = pad_implicitly(axis, PaddingCode.SAME, size)
    assert padded.output_size(size) == -(-size // axis.stride)


@given(AXES, SIZES)
def test_same_puts_the_odd_pixel_at_the_tail(axis: WindowAxis, size: int) -> None:
    padded = pad_implicitly(axis, PaddingCode.SAME, size)
    assert padded.pad_tail - padded.pad_head in (0, 1)


@given(AXES, SIZES)
def test_same_leaves_no_window_without_a_pixel(axis: WindowAxis, size: int) -> None:
    padded = pad_implicitly(axis, PaddingCode.SAME, size)
    assert padded.pad_head < axis.extent
    assert padded.pad_tail < axis.extent


@given(AXES, SIZES)
def test_valid_counts_the_positions_at_which_the_window_fits(axis: WindowAxis, size: int) -> None:
    starts = np.arange(0, size, axis.stride)
    fitting = int((starts + axis.extent <= size).sum())
    assert max(0, pad_implicitly(axis, PaddingCode.VALID, size).output_size(size)) == fitting


def test_the_extent_counts_the_gaps_of_dilation() -> None:
    assert WindowAxis(size=3, stride=1, dilation=4, pad_head=0, pad_tail=0).extent == 9
