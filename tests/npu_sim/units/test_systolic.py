"""Closed forms of the systolic array against a model of every register, and against another simulator."""

import csv
import dataclasses
import itertools
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isa.target import Dataflow
from npu_sim.units.systolic import (
    ArrayShape,
    array_cycles,
    convolve_cycles,
    fold_count,
    mapped_bound_cycles,
    peak_cycles,
)
from tests.npu_sim.units import register_model
from tests.npu_sim.units.register_model import HazardError, Observed, Product, Window

RELAXED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
WS, OS = Dataflow.WEIGHT_STATIONARY, Dataflow.OUTPUT_STATIONARY
SCALESIM = Path(__file__).resolve().parents[3] / "../shared/peers/scalesim_gemm.csv"
SLOW_TILES, SAMPLE_TILES = 320, 6


def observe(shape: ArrayShape, product: Product) -> Observed:
    run = (
        register_model.run_weight_stationary if shape.dataflow is WS else register_model.run_output_stationary
    )
    return run(
        product,
        shape.rows,
        shape.cols,
        hidden=shape.hidden_load,
        output_rate=shape.output_elements_per_cycle,
    )


def random_shape(rng: random.Random, dataflow: Dataflow, hidden: bool) -> ArrayShape:
    rows, cols = rng.randint(1, 7), rng.randint(1, 7)
    return ArrayShape(rows, cols, dataflow, hidden, rng.randint(1, cols + 2))


def random_matrix(rng: random.Random, lines: int, products: int) -> np.ndarray:
    values = [rng.randint(-255, 255) for _ in range(lines * products)]
    return np.array(values, np.int32).reshape(lines, products)


def random_gemm(rng: random.Random) -> tuple[Product, np.ndarray]:
    pixels, depth, channels = rng.randint(1, 18), rng.randint(1, 22), rng.randint(1, 18)
    left, right = random_matrix(rng, pixels, depth), random_matrix(rng, channels, depth)
    operands = register_model.matrix_operand(left), register_model.matrix_operand(right)
    return Product(pixels, depth, channels, *operands), left @ right.T


def random_window(rng: random.Random, height: int, width: int) -> Window:
    kernel = rng.randint(1, 3), rng.randint(1, 3)
    stride, dilation = (rng.randint(1, 3), rng.randint(1, 3)), (rng.randint(1, 2), rng.randint(1, 2))
    pad_top, pad_left = rng.randint(0, 2), rng.randint(0, 2)
    output = rng.randint(1, 1 + height // stride[0]), rng.randint(1, 1 + width // stride[1])
    return Window(kernel, stride, dilation, pad_top, pad_left, output)


def convolve_directly(image: np.ndarray, filters: np.ndarray, window: Window) -> np.ndarray:
    """Definition of a convolution; filters are channels x taps x input channels."""
    height, width, _ = image.shape
    sums = np.zeros((*window.output, len(filters)), np.int32)
    taps = itertools.product(range(window.kernel[0]), range(window.kernel[1]))
    for tap, (tap_row, tap_column) in enumerate(taps):
        for row, column in np.ndindex(*window.output):
            y = row * window.stride[0] - window.pad_top + tap_row * window.dilation[0]
            x = column * window.stride[1] - window.pad_left + tap_column * window.dilation[1]
            if 0 <= y < height and 0 <= x < width:
                sums[row, column] += filters[:, tap] @ image[y, x]
    return sums.reshape(-1, len(filters))


def random_convolution(rng: random.Random) -> tuple[Product, np.ndarray]:
    height, width, inputs, outputs = (rng.randint(1, n) for n in (6, 6, 5, 12))
    window = random_window(rng, height, width)
    taps = window.kernel[0] * window.kernel[1]
    image = random_matrix(rng, height * width, inputs).reshape(height, width, inputs)
    filters = random_matrix(rng, outputs, taps * inputs)
    pixels = window.output[0] * window.output[1]
    operands = register_model.image_operand(image, window), register_model.matrix_operand(filters)
    product = Product(pixels, taps * inputs, outputs, *operands)
    return product, convolve_directly(image, filters.reshape(outputs, taps, inputs), window)


def check_tiles(make, dataflow: Dataflow, hidden: bool, seed: int, count: int) -> None:
    rng = random.Random(seed)
    for _ in range(count):
        shape = random_shape(rng, dataflow, hidden)
        product, expected = make(rng)
        observed = observe(shape, product)
        cycles = convolve_cycles(shape, product.pixels, product.depth, product.channels)
        case = (shape, product.pixels, product.depth, product.channels)
        np.testing.assert_array_equal(observed.sums, expected, str(case))
        assert (observed.array_cycles, observed.total_cycles) == (
            cycles.array_cycles,
            cycles.total_cycles,
        ), case


tiles = pytest.mark.parametrize("make", [random_gemm, random_convolution])
dataflows = pytest.mark.parametrize("dataflow", list(Dataflow))
loads = pytest.mark.parametrize("hidden", [False, True], ids=["serial", "hidden"])


@tiles
@dataflows
@loads
def test_registers_agree_in_bits_and_cycles_on_a_sample(make, dataflow, hidden):
    check_tiles(make, dataflow, hidden, seed=1, count=SAMPLE_TILES)


@pytest.mark.slow
@tiles
@dataflows
@loads
def test_registers_agree_in_bits_and_cycles_on_many_tiles(make, dataflow, hidden):
    check_tiles(make, dataflow, hidden, seed=2, count=SLOW_TILES)


def test_register_sums_wrap_at_32_bits():
    left = np.full((3, 5), 2**20, np.int32)
    product = Product(3, 5, 3, *[register_model.matrix_operand(left)] * 2)
    expected = np.full((3, 3), 5 * 2**40 % 2**32, np.int32)
    np.testing.assert_array_equal(observe(ArrayShape(2, 2, WS, True, 2), product).sums, expected)


def test_output_stationary_folds_cannot_follow_closer_than_their_drain():
    product, _ = random_gemm(random.Random(0))
    shallow = dataclasses.replace(product, pixels=12, depth=2)
    with pytest.raises(HazardError):
        register_model.run_output_stationary(shallow, 4, 2, hidden=True, output_rate=2, fold_gap=3)


@pytest.mark.parametrize("dataflow", ["ws", "os"])
def test_serial_closed_forms_equal_the_counts_of_scale_sim(dataflow):
    if not SCALESIM.exists():
        pytest.skip(f"{SCALESIM} is not here")
    with SCALESIM.open() as file:
        rows = [row for row in csv.DictReader(file) if row["dataflow"] == dataflow]
    assert len(rows) == 28
    for row in rows:
        m, k, n, height, width = (int(row[name]) for name in ("M", "K", "N", "rows", "cols"))
        shape = ArrayShape(height, width, {"ws": WS, "os": OS}[dataflow], False, width)
        assert array_cycles(shape, m, k, n) == int(row["compute_cycles"]), row


def test_cycles_of_a_hidden_weight_stationary_product_by_hand():
    # 2 x 2 folds of 10 pixels on 4 x 4: load 4, three folds of 10, then 10 + 4 + 4 - 2.
    assert array_cycles(ArrayShape(4, 4, WS, True, 4), 10, 8, 8) == 4 + 3 * 10 + 16


def test_a_slow_output_stage_bounds_the_total_by_hand():
    # Ten pixels of four channels at one per cycle, the first after a load of 4 and 4 rows.
    shape = ArrayShape(4, 4, WS, True, 1)
    assert convolve_cycles(shape, 10, 4, 4) == (4 + 10 + 6, 40, 4 + 3 + 40)


extents = st.integers(1, 40)
shapes = st.builds(
    ArrayShape,
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from(Dataflow),
    st.booleans(),
    st.integers(1, 12),
)


@RELAXED
@given(shapes, extents, extents, extents)
def test_an_output_stage_as_wide_as_a_weight_stationary_array_never_delays_it(shape, m, k, n):
    wide = dataclasses.replace(shape, dataflow=WS, output_elements_per_cycle=shape.cols)
    cycles = convolve_cycles(wide, m, k, n)
    assert cycles.total_cycles == cycles.array_cycles


@RELAXED
@given(shapes, extents, extents, extents)
def test_total_covers_the_array_and_the_output_stage(shape, m, k, n):
    cycles = convolve_cycles(shape, m, k, n)
    assert cycles.total_cycles >= max(cycles.array_cycles, cycles.output_cycles)


@RELAXED
@given(shapes, extents, extents, extents)
def test_a_hidden_load_is_never_slower(shape, m, k, n):
    hidden, serial = (dataclasses.replace(shape, hidden_load=h) for h in (True, False))
    assert convolve_cycles(hidden, m, k, n).total_cycles <= convolve_cycles(serial, m, k, n).total_cycles


@RELAXED
@given(shapes, extents, extents, extents, st.integers(0, 2), st.integers(1, 20))
def test_a_larger_product_never_takes_fewer_cycles(shape, m, k, n, axis, more):
    larger = [m, k, n]
    larger[axis] += more
    cycles, larger_cycles = convolve_cycles(shape, m, k, n), convolve_cycles(shape, *larger)
    assert all(a <= b for a, b in zip(cycles, larger_cycles, strict=True))


@RELAXED
@given(shapes, extents, extents, extents)
def test_a_faster_output_stage_is_never_slower(shape, m, k, n):
    faster = dataclasses.replace(shape, output_elements_per_cycle=shape.output_elements_per_cycle + 1)
    assert convolve_cycles(faster, m, k, n).total_cycles <= convolve_cycles(shape, m, k, n).total_cycles


def cut(total: int, points: list[int]) -> list[int]:
    """Lengths of the pieces of range(total) cut at `points`."""
    edges = sorted({0, total, *(p % total for p in points)})
    return [b - a for a, b in itertools.pairwise(edges)]


cuts = st.lists(st.integers(0, 1000), max_size=3)


@settings(RELAXED, max_examples=300)
@given(shapes, extents, extents, extents, cuts, cuts, cuts)
def test_no_cut_of_a_layer_beats_the_mapped_bound(shape, m, k, n, cuts_m, cuts_k, cuts_n):
    tiles = list(itertools.product(cut(m, cuts_m), cut(k, cuts_k), cut(n, cuts_n)))
    array = sum(array_cycles(shape, *tile) for tile in tiles)
    output = sum(
        convolve_cycles(shape, a, k, c).output_cycles for a in cut(m, cuts_m) for c in cut(n, cuts_n)
    )
    assert max(array, output) >= mapped_bound_cycles(shape, m, k, n)


@RELAXED
@given(shapes, extents, extents, extents)
def test_mapped_bound_is_at_least_the_peak_bound(shape, m, k, n):
    assert mapped_bound_cycles(shape, m, k, n) >= peak_cycles(shape, m, k, n)


def held_back_total(shape: ArrayShape, pixels: int, depth: int, channels: int) -> int:
    """Total if a column fold starts only so that it overwrites no accumulator that is still to drain."""
    step = max(pixels, shape.rows)
    depth_folds = -(-depth // shape.rows)
    start, clock, taken, drained = shape.rows - depth_folds * step, -1, 0, [{}, {}]
    for channel in range(0, channels, shape.cols):
        start += depth_folds * step
        written = {
            (m, c): shape.rows - 1 + m + c
            for m in range(pixels)
            for c in range(min(shape.cols, channels - channel))
        }
        start = max([start, *(drained[0][e] + 1 - written[e] for e in written if e in drained[0])])
        drained = [drained[1], {}]
        for element, offset in written.items():
            leaves = start + (depth_folds - 1) * step + offset
            full = taken == shape.output_elements_per_cycle
            if leaves > clock or full:
                clock, taken = max(leaves, clock + full), 0
            taken += 1
            drained[1][element] = clock
    return max(clock + 1, start + (depth_folds - 1) * step + pixels + shape.rows + shape.cols - 2)


@settings(RELAXED, max_examples=200)
@given(shapes, st.integers(1, 15), st.integers(1, 20), st.integers(1, 40))
def test_holding_the_array_back_for_the_output_stage_changes_no_total(shape, m, k, n):
    cols = min(shape.cols, 2 * shape.rows)
    hidden = dataclasses.replace(shape, cols=cols, dataflow=WS, hidden_load=True)
    assert held_back_total(hidden, m, k, n) == convolve_cycles(hidden, m, k, n).total_cycles


def test_unrolled_folds_are_counted_over_rows_and_columns():
    counts = [fold_count(ArrayShape(8, 4, flow, False, 4), 17, 9, 5) for flow in (WS, OS)]
    assert counts == [2 * 2, 3 * 2]


@pytest.mark.parametrize("extent", [(0, 1, 1), (1, 0, 1), (1, 1, -1)])
def test_an_empty_product_is_refused(extent):
    with pytest.raises(ValueError, match="at least 1"):
        convolve_cycles(ArrayShape(2, 2, WS, True, 2), *extent)


def test_an_array_without_rows_is_refused():
    with pytest.raises(ValueError, match="rows is 0"):
        ArrayShape(0, 2, WS, True, 2)
