"""A systolic array, register by register and clock by clock.

Every processing element steps in every clock (vectorised over the elements, a loop over the clocks). The
cycle counts are observed: the clock in which the last register event happened, plus one. Control decides
from what it sees (has the load ended, is the array empty), never from a closed form; registers that would
lose a value raise HazardError.

Arithmetic is int32 and wraps.
"""

import dataclasses
from typing import Protocol

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
NOTHING = -1


class HazardError(AssertionError):
    """A register was overwritten before it was read, or read before it was written."""


class Operand(Protocol):
    """Reads element (line, product) of an operand matrix; outside of it, zero."""

    def __call__(self, lines: npt.NDArray[np.int64], products: npt.NDArray[np.int64]) -> Ints: ...


def matrix_operand(matrix: Ints) -> Operand:
    """An operand stored as a lines x products matrix."""

    def read(lines: npt.NDArray[np.int64], products: npt.NDArray[np.int64]) -> Ints:
        lines, products = np.broadcast_arrays(lines, products)
        inside = (lines >= 0) & (lines < matrix.shape[0]) & (products >= 0) & (products < matrix.shape[1])
        return np.where(inside, matrix[np.where(inside, lines, 0), np.where(inside, products, 0)], 0)

    return read


@dataclasses.dataclass(frozen=True)
class Product:
    """Output pixels x products x output channels, and where the operands come from."""

    pixels: int
    depth: int
    channels: int
    activations: Operand
    weights: Operand


@dataclasses.dataclass(frozen=True)
class Observed:
    sums: Ints
    """Pixels x channels."""
    array_cycles: int
    total_cycles: int


class OutputStage:
    """Takes finished sums in order, at most `rate` in a clock, none before it has left the array."""

    def __init__(self, rate: int, order: list[tuple[int, int]]) -> None:
        self._rate = rate
        self._order = order
        self._taken = 0
        self._arrived: set[tuple[int, int]] = set()
        self.last_clock = NOTHING

    @property
    def done(self) -> bool:
        return self._taken == len(self._order)

    def arrive(self, pixel: int, channel: int) -> None:
        self._arrived.add((pixel, channel))

    def clock(self, now: int) -> None:
        for _ in range(self._rate):
            if self.done or self._order[self._taken] not in self._arrived:
                return
            self._taken += 1
            self.last_clock = now


def skewed(line: Ints, new: Ints) -> tuple[Ints, Ints]:
    """Clock a triangle of delay registers: lane i comes out i clocks after it went in.

    `line[d, i]` is what lane i received d + 1 clocks ago.
    """
    history = np.concatenate([new[None], line])
    lanes = np.arange(len(new))
    return history[:-1], history[lanes, lanes]


def delay_line(lanes: int, value: int) -> Ints:
    return np.full((lanes, lanes), value, np.int32)


def still_travels(tags: Ints, tag_skew: Ints) -> bool:
    """Some element has yet to see a tagged activation: it is in the array or in the delay registers."""
    delayed = tag_skew[np.triu(np.ones(tag_skew.shape, bool), 1)]
    return bool((tags[:, :-1] != NOTHING).any() or (delayed != NOTHING).any())


def shift_right(left: Ints, registers: Ints) -> Ints:
    return np.concatenate([left[:, None], registers[:, :-1]], axis=1)


def shift_down(top: Ints, registers: Ints) -> Ints:
    return np.concatenate([top[None], registers[:-1]], axis=0)


def run_weight_stationary(
    product: Product, rows: int, cols: int, *, hidden: bool, output_rate: int
) -> Observed:
    folds = [(n, k) for n in range(0, product.channels, cols) for k in range(0, product.depth, rows)]
    return _WeightStationary(product, rows, cols, folds, hidden, output_rate).run()


class _WeightStationary:
    def __init__(
        self,
        product: Product,
        rows: int,
        cols: int,
        folds: list[tuple[int, int]],
        hidden: bool,
        output_rate: int,
    ) -> None:
        self.product, self.rows, self.cols, self.folds, self.hidden = product, rows, cols, folds, hidden
        shape = (rows, cols)
        self.activation = np.zeros(shape, np.int32)
        self.pixel = np.full(shape, NOTHING, np.int32)
        self.fold = np.full(shape, NOTHING, np.int32)
        self.weight = np.zeros(shape, np.int32)
        self.shadow = np.zeros(shape, np.int32)
        self.hops = np.full(shape, NOTHING, np.int32)
        """Of the weight in the shadow register: rows still to go; 0: it is there; NOTHING: taken over."""
        self.partial = np.zeros(shape, np.int32)
        self.activation_skew, self.pixel_skew, self.fold_skew = (delay_line(rows, v) for v in (0, -1, -1))
        self.weight_skew, self.hops_skew = delay_line(cols, 0), delay_line(cols, NOTHING)
        self.load_fold, self.load_step = 0, 0
        self.stream_fold, self.stream_pixel = 0, 0
        self.sums = np.zeros((product.pixels, product.channels), np.int32)
        used = [(n, min(cols, product.channels - n)) for n in range(0, product.channels, cols)]
        order = [(m, n + c) for n, count in used for m in range(product.pixels) for c in range(count)]
        self.output = OutputStage(output_rate, order)
        self.last_clock = NOTHING

    def run(self) -> Observed:
        now = 0
        while not self.output.done or self.stream_fold < len(self.folds) or self.busy:
            stream = self._issue_pixel()
            load = self._issue_weights(streaming=bool(stream[1][0] != NOTHING))
            swapped = self._clock_elements(now, *stream)
            self._clock_weights(*load, swapped)
            self.output.clock(now)
            now += 1
        return Observed(self.sums, self.last_clock + 1, max(self.last_clock, self.output.last_clock) + 1)

    @property
    def busy(self) -> bool:
        return still_travels(self.pixel, self.pixel_skew)

    def _issue_pixel(self) -> tuple[Ints, Ints, Ints]:
        """The next pixel of the fold whose weights have all been sent: values, pixel and fold per row."""
        values, nothing = np.zeros(self.rows, np.int32), np.full(self.rows, NOTHING, np.int32)
        if self.stream_fold == len(self.folds) or self.stream_fold >= self.load_fold:
            return values, nothing, nothing
        products = self.folds[self.stream_fold][1] + np.arange(self.rows)
        values = self.product.activations(np.array(self.stream_pixel), products)
        tags = (
            np.full(self.rows, self.stream_pixel, np.int32),
            np.full(self.rows, self.stream_fold, np.int32),
        )
        self.stream_pixel += 1
        if self.stream_pixel == self.product.pixels:
            self.stream_fold, self.stream_pixel = self.stream_fold + 1, 0
        return values, *tags

    def _issue_weights(self, *, streaming: bool) -> tuple[Ints, Ints]:
        """One row of the next weights, the bottom row's first: values and rows to go, per column."""
        nothing = np.zeros(self.cols, np.int32), np.full(self.cols, NOTHING, np.int32)
        if self.load_fold == len(self.folds) or not (self.load_step or self._may_load(streaming)):
            return nothing
        channel, product = self.folds[self.load_fold]
        row = self.rows - 1 - self.load_step
        columns = np.arange(self.cols)
        values = self.product.weights(channel + columns, np.array(product + row))
        self.load_step += 1
        if self.load_step == self.rows:
            self.load_fold, self.load_step = self.load_fold + 1, 0
        return values, np.full(self.cols, row, np.int32)

    def _may_load(self, streaming: bool) -> bool:
        """Hidden: the fold loaded last has begun. Serial: it has left the array."""
        begun = self.stream_fold + (self.stream_pixel > 0)
        if self.hidden:
            return begun == self.load_fold
        return self.stream_fold == self.load_fold and not streaming and not self.busy

    def _clock_elements(self, now: int, values: Ints, pixels: Ints, folds: Ints) -> npt.NDArray[np.bool_]:
        """Multiply, add, and move activations right and partial sums down; which elements swapped weights."""
        self.activation_skew, values = skewed(self.activation_skew, values)
        self.pixel_skew, pixels = skewed(self.pixel_skew, pixels)
        self.fold_skew, folds = skewed(self.fold_skew, folds)
        activation = shift_right(values, self.activation)
        pixel, fold = shift_right(pixels, self.pixel), shift_right(folds, self.fold)
        swap = pixel == 0
        if (swap & (self.hops != 0)).any():
            raise HazardError(f"clock {now}: weights swapped before they arrived")
        self.weight = np.where(swap, self.shadow, self.weight)
        self.partial = shift_down(np.zeros(self.cols, np.int32), self.partial) + activation * self.weight
        self.activation, self.pixel, self.fold = activation, pixel, fold
        self._leave(now)
        return swap

    def _leave(self, now: int) -> None:
        """Partial sums at the bottom are added to the accumulators."""
        for column in np.flatnonzero(self.pixel[-1] != NOTHING):
            self.last_clock = now
            first_channel, first_product = self.folds[self.fold[-1, column]]
            pixel, channel = int(self.pixel[-1, column]), int(first_channel + column)
            if channel >= self.product.channels:
                continue
            self.sums[pixel, channel] += self.partial[-1, column]
            if first_product + self.rows >= self.product.depth:
                self.output.arrive(pixel, channel)

    def _clock_weights(self, values: Ints, hops: Ints, swap: npt.NDArray[np.bool_]) -> None:
        """Weights with rows to go move down one; a swapped register is free."""
        self.weight_skew, values = skewed(self.weight_skew, values)
        self.hops_skew, hops = skewed(self.hops_skew, hops)
        in_hops = np.concatenate([hops[None], np.where(self.hops[:-1] > 0, self.hops[:-1] - 1, NOTHING)])
        in_values = shift_down(values, self.shadow)
        held = np.where(swap | (self.hops > 0), NOTHING, self.hops)
        arrives = in_hops != NOTHING
        if (arrives & (held != NOTHING)).any():
            raise HazardError("a weight was overwritten before it was taken over")
        self.shadow = np.where(arrives, in_values, self.shadow)
        self.hops = np.where(arrives, in_hops, held)


def run_output_stationary(
    product: Product, rows: int, cols: int, *, hidden: bool, output_rate: int, fold_gap: int | None = None
) -> Observed:
    """`fold_gap`: clocks between two fold starts at least, if hidden; None: one per row."""
    folds = [(n, m) for n in range(0, product.channels, cols) for m in range(0, product.pixels, rows)]
    gap = rows if fold_gap is None else fold_gap
    return _OutputStationary(product, rows, cols, folds, gap if hidden else None, output_rate).run()


class _OutputStationary:
    def __init__(
        self,
        product: Product,
        rows: int,
        cols: int,
        folds: list[tuple[int, int]],
        fold_gap: int | None,
        output_rate: int,
    ) -> None:
        self.product, self.rows, self.cols, self.folds, self.fold_gap = product, rows, cols, folds, fold_gap
        shape = (rows, cols)
        self.activation = np.zeros(shape, np.int32)
        self.weight = np.zeros(shape, np.int32)
        self.step = np.full(shape, NOTHING, np.int32)
        self.fold = np.full(shape, NOTHING, np.int32)
        self.accumulator = np.zeros(shape, np.int32)
        self.drain = np.zeros(shape, np.int32)
        self.drain_fold = np.full(shape, NOTHING, np.int32)
        self.drain_row = np.zeros(shape, np.int32)
        self.finished_fold = np.full(shape, NOTHING, np.int32)
        self.activation_skew, self.step_skew, self.fold_skew = (delay_line(rows, v) for v in (0, -1, -1))
        self.weight_skew = delay_line(cols, 0)
        self.stream_fold, self.stream_step = 0, 0
        self.since_start = 0
        self.sums = np.zeros((product.pixels, product.channels), np.int32)
        self.output = OutputStage(output_rate, self._output_order())
        self.last_clock = NOTHING

    def _output_order(self) -> list[tuple[int, int]]:
        order = []
        for n, m in self.folds:
            pixels = range(min(m + self.rows, self.product.pixels) - 1, m - 1, -1)
            channels = range(n, min(n + self.cols, self.product.channels))
            order += [(pixel, channel) for pixel in pixels for channel in channels]
        return order

    def run(self) -> Observed:
        now = 0
        while not self.output.done or self.busy:
            stream = self._issue()
            self._clock_drain()
            self._clock_elements(now, *stream)
            self.output.clock(now)
            now += 1
        return Observed(self.sums, self.last_clock + 1, max(self.last_clock, self.output.last_clock) + 1)

    @property
    def busy(self) -> bool:
        return still_travels(self.step, self.step_skew)

    def _issue(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The next product: activations, step and fold per row, weights per column."""
        self.since_start += 1
        if self.stream_fold == len(self.folds) or not (self.stream_step or self._may_start()):
            nothing = np.full(self.rows, NOTHING, np.int32)
            return np.zeros(self.rows, np.int32), nothing, nothing, np.zeros(self.cols, np.int32)
        if self.stream_step == 0:
            self.since_start = 0
        channel, pixel = self.folds[self.stream_fold]
        step = np.array(self.stream_step)
        values = self.product.activations(pixel + np.arange(self.rows), step)
        weights = self.product.weights(channel + np.arange(self.cols), step)
        tags = (np.full(self.rows, v, np.int32) for v in (self.stream_step, self.stream_fold))
        self.stream_step += 1
        if self.stream_step == self.product.depth:
            self.stream_fold, self.stream_step = self.stream_fold + 1, 0
        return values, *tags, weights

    def _may_start(self) -> bool:
        if self.stream_fold == 0:
            return True
        return not self.busy if self.fold_gap is None else self.since_start >= self.fold_gap

    def _clock_drain(self) -> None:
        """Finished sums move down a row once the row below has finished its own and is free or moving."""
        valid = self.drain_fold != NOTHING
        moves = valid.copy()
        for row in range(self.rows - 2, -1, -1):
            below_finished = self.finished_fold[row + 1] >= self.drain_fold[row]
            moves[row] = valid[row] & below_finished & (~valid[row + 1] | moves[row + 1])
        for column in np.flatnonzero(moves[-1]):
            channel, pixel = self.folds[self.drain_fold[-1, column]]
            pixel, channel = int(pixel + self.drain_row[-1, column]), int(channel + column)
            if pixel < self.product.pixels and channel < self.product.channels:
                self.sums[pixel, channel] = self.drain[-1, column]
                self.output.arrive(pixel, channel)
        zero, nothing = np.zeros(self.cols, np.int32), np.full(self.cols, NOTHING, np.int32)
        arrives = shift_down(zero, moves.astype(np.int32)).astype(bool)
        self.drain = np.where(arrives, shift_down(zero, self.drain), self.drain)
        self.drain_row = np.where(arrives, shift_down(zero, self.drain_row), self.drain_row)
        kept = np.where(moves, NOTHING, self.drain_fold)
        self.drain_fold = np.where(arrives, shift_down(nothing, self.drain_fold), kept)

    def _clock_elements(self, now: int, values: Ints, steps: Ints, folds: Ints, weights: Ints) -> None:
        """Activations move right, weights down; finished sums are latched into the drain registers."""
        self.activation_skew, values = skewed(self.activation_skew, values)
        self.step_skew, steps = skewed(self.step_skew, steps)
        self.fold_skew, folds = skewed(self.fold_skew, folds)
        self.weight_skew, weights = skewed(self.weight_skew, weights)
        self.activation = shift_right(values, self.activation)
        self.step, self.fold = shift_right(steps, self.step), shift_right(folds, self.fold)
        self.weight = shift_down(weights, self.weight)
        works = self.step != NOTHING
        if works.any():
            self.last_clock = now
        kept = np.where(self.step == 0, 0, self.accumulator)
        self.accumulator = np.where(works, kept + self.activation * self.weight, self.accumulator)
        finished = self.step == self.product.depth - 1
        if (finished & (self.drain_fold != NOTHING)).any():
            raise HazardError(f"clock {now}: a sum was finished before its drain register was free")
        self.drain = np.where(finished, self.accumulator, self.drain)
        self.drain_fold = np.where(finished, self.fold, self.drain_fold)
        self.drain_row = np.where(finished, np.arange(self.rows, dtype=np.int32)[:, None], self.drain_row)
        self.finished_fold = np.where(finished, self.fold, self.finished_fold)


@dataclasses.dataclass(frozen=True)
class Window:
    """A convolution window over an image of height x width x channels; NNAPI's meaning of the fields."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    pad_top: int
    pad_left: int
    output: tuple[int, int]


def image_operand(image: Ints, window: Window) -> Operand:
    """The address generator: element (pixel, product) of the convolution's left matrix, read in place.

    Products run over taps, then channels. A tap outside the image is clipped: it contributes zero.
    """
    height, width, channels = image.shape
    memory = image.ravel()

    def read(lines: npt.NDArray[np.int64], products: npt.NDArray[np.int64]) -> Ints:
        tap, channel = np.divmod(products, channels)
        tap_row, tap_column = np.divmod(tap, window.kernel[1])
        row, column = np.divmod(lines, window.output[1])
        y = row * window.stride[0] - window.pad_top + tap_row * window.dilation[0]
        x = column * window.stride[1] - window.pad_left + tap_column * window.dilation[1]
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        inside = inside & (row < window.output[0]) & (tap_row < window.kernel[0])
        address = (y * width + x) * channels + channel
        return np.where(inside, memory[np.where(inside, address, 0)], 0)

    return read
