"""What an instruction asks of its unit and of the shared resources: the closed forms of one machine.

The units advance time by these numbers and the cost model reports them, so that predicted and simulated
cycles cannot drift apart.
"""

import math

from isa.accesses import Access, accesses
from isa.dtypes import Region
from isa.instruction import Instruction
from isa.instructions.dma import Store, Transfer
from isa.instructions.matrix import Convolve
from isa.target import Dataflow
from npu_sim.actions import Action
from npu_sim.config import MachineConfig, OperatingPoint, StationaryLoad
from npu_sim.core.work import Activities, Work
from npu_sim.memory.dram import DramAccess, DramTiming, dram_access, sustained_bytes_per_second
from npu_sim.memory.sram import bank_cycles, traffic_bytes
from npu_sim.units.lane_work import lane_work
from npu_sim.units.sram_streams import sram_streams
from npu_sim.units.systolic import ArrayShape, convolve_cycles

_LARGEST_RATE = 10**18
PARTIAL_SUM_BYTES = 4
PICOSECONDS_PER_SECOND = 10**12


class MachineTiming:
    """The closed forms of one machine at one operating point."""

    def __init__(self, config: MachineConfig, point: OperatingPoint) -> None:
        matrix = config.matrix
        self.config = config
        self.point = point
        self.array = ArrayShape(
            rows=matrix.rows,
            cols=matrix.cols,
            dataflow=matrix.dataflow,
            hidden_load=matrix.stationary_load is StationaryLoad.HIDDEN,
            output_elements_per_cycle=matrix.output_elements_per_cycle,
        )
        self.dram = DramTiming(
            peak_bytes_per_second=int(min(config.dram.peak_bytes_per_second, _LARGEST_RATE)),
            burst_bytes=config.dram.burst_bytes,
            page_bytes=config.dram.page_bytes,
            row_change_ps=config.dram.row_change_ps,
            latency_ps=config.dram.latency_ps,
            refresh_interval_ps=config.dram.refresh_interval_ps,
            refresh_ps=config.dram.refresh_ps,
        )
        self.dram_latency_cycles = self.cycles_of(config.dram.latency_ps)

    @property
    def cycle_ps(self) -> float:
        """Picoseconds of one NPU cycle: what DRAM can serve in it."""
        return PICOSECONDS_PER_SECOND / self.point.frequency_hz

    def cycles_of(self, picoseconds: int) -> int:
        """Whole cycles that cover a time."""
        return -(-picoseconds * self.point.frequency_hz // PICOSECONDS_PER_SECOND)

    def sustained_dram_cycles(self, total_bytes: int) -> float:
        """Cycles that DRAM needs for `total_bytes` at its sustained sequential rate."""
        if math.isinf(self.config.dram.peak_bytes_per_second):
            return 0.0
        return total_bytes * self.point.frequency_hz / sustained_bytes_per_second(self.dram)

    def work(self, instruction: Instruction) -> Work:
        """What an instruction of the DMA, matrix or vector units asks for."""
        if isinstance(instruction, Transfer):
            return self.transfer_work(instruction)
        if isinstance(instruction, Convolve):
            return self.matrix_work(instruction)
        return self.vector_work(instruction)

    def matrix_work(self, instruction: Convolve) -> Work:
        """A matrix instruction.

        The address generator reads every tap of every pixel again for each fold of output channels; an
        output-stationary array reads the weights again for each fold of pixels.
        """
        i, array = instruction, self.array
        pixels, depth, channels = i.output_pixels, i.depth, i.output_channels
        cycles = convolve_cycles(array, pixels, depth, channels)
        weight_stationary = array.dataflow is Dataflow.WEIGHT_STATIONARY
        column_folds = -(-channels // array.cols)
        weight_passes = 1 if weight_stationary else -(-pixels // array.rows)
        read, written = self._sram_traffic(
            accesses(i), {"input": pixels * depth * column_folds, "weights": depth * channels * weight_passes}
        )
        activities = [
            *self._array_activities(pixels, depth, channels),
            (Action.SRAM_READ_BYTE, read),
            (Action.SRAM_WRITE_BYTE, written),
        ]
        tail = output = last_output = 0
        if i.finish:
            activities.append((Action.OUTPUT_REQUANTISE, pixels * channels))
            tail = cycles.total_cycles - cycles.array_cycles
            output = cycles.output_cycles
            last_output = self._last_drain_cycles(pixels, channels)
        return Work(
            cycles=cycles.array_cycles,
            setup_cycles=0,
            tail_cycles=tail,
            sram_bytes=read + written,
            dram_ps=0,
            activities=tuple(activities),
            sram_end=_sram_end(i),
            output_cycles=output,
            last_output_cycles=last_output,
        )

    def _last_drain_cycles(self, pixels: int, channels: int) -> int:
        """Cycles that the last group of sums needs to leave; output stationary: R registers down at least."""
        array = self.array
        last_channels = (channels - 1) % array.cols + 1
        if array.dataflow is Dataflow.WEIGHT_STATIONARY:
            return -(-pixels * last_channels // array.output_elements_per_cycle)
        last_sums = ((pixels - 1) % array.rows + 1) * last_channels
        return max(array.rows, -(-last_sums // array.output_elements_per_cycle))

    def _array_activities(self, pixels: int, depth: int, channels: int) -> Activities:
        """MACs, register writes and accumulator updates; idle processing elements do not toggle.

        Weight stationary: a MAC passes one operand and one partial sum on, and each weight shifts through
        half of the rows on average. Output stationary: a MAC passes two operands on and updates its own
        sum, and each sum shifts through half of the rows as it leaves.
        """
        array = self.array
        macs = pixels * depth * channels
        if array.dataflow is Dataflow.WEIGHT_STATIONARY:
            hops = macs * (1 + PARTIAL_SUM_BYTES) + depth * channels * array.rows // 2
            updates = pixels * channels * -(-depth // array.rows)
            return (
                (Action.MAC_U8, macs),
                (Action.ARRAY_REGISTER_BYTE, hops),
                (Action.ACCUMULATOR_UPDATE, updates),
            )
        hops = macs * (2 + PARTIAL_SUM_BYTES) + pixels * channels * PARTIAL_SUM_BYTES * array.rows // 2
        return ((Action.MAC_U8, macs), (Action.ARRAY_REGISTER_BYTE, hops))

    def vector_work(self, instruction: Instruction) -> Work:
        """A vector instruction; a strided pattern that falls on few banks takes what these banks take."""
        lanes = lane_work(instruction, self.config.vector)
        streams = sram_streams(instruction, self.config.sram)
        banks = max(bank_cycles(a, self.config.sram) for a in streams)
        read, written = self._sram_traffic(streams, {})
        counts = (
            *lanes.activities,
            (Action.SRAM_READ_BYTE, read),
            (Action.SRAM_WRITE_BYTE, written),
        )
        return Work(
            cycles=self.config.vector.startup_cycles + max(lanes.cycles, banks),
            setup_cycles=0,
            tail_cycles=0,
            sram_bytes=read + written,
            dram_ps=0,
            activities=tuple((action, amount) for action, amount in counts if amount),
            sram_end=_sram_end(instruction),
        )

    def transfer_work(self, instruction: Transfer) -> Work:
        """A load or store: issue, data at the slowest of channel, window, banks and DRAM, latency."""
        dma, is_store = self.config.dma, isinstance(instruction, Store)
        dram_side, sram_side = sorted(accesses(instruction), key=lambda a: a.region is None)
        time_ps, dram_bytes, row_segments = self._dram_access(dram_side)
        total = instruction.total_bytes
        traffic = traffic_bytes(sram_side, self.config.sram.word_bytes)
        cycles = max(
            math.ceil(total / dma.bytes_per_cycle),
            -(-total * self.dram_latency_cycles // dma.outstanding_bytes),
            bank_cycles(sram_side, self.config.sram),
            self.cycles_of(time_ps),
        )
        return Work(
            cycles=cycles,
            setup_cycles=dma.issue_cycles,
            tail_cycles=self.dram_latency_cycles,
            sram_bytes=traffic,
            dram_ps=time_ps,
            activities=(
                (Action.SRAM_READ_BYTE if is_store else Action.SRAM_WRITE_BYTE, traffic),
                (Action.DMA_BYTE, total),
                (Action.DRAM_WRITE_BYTE if is_store else Action.DRAM_READ_BYTE, dram_bytes),
                (Action.DRAM_ACTIVATE, row_segments),
            ),
            sram_end=sram_side.end,
        )

    def fetch_work(self, offset: int, total_bytes: int) -> Work:
        """One block of instructions, read at `offset` of the code region."""
        access = Access("code", Region.CODE, False, offset, total_bytes)
        time_ps, dram_bytes, row_segments = self._dram_access(access)
        return Work(
            cycles=self.cycles_of(time_ps),
            setup_cycles=0,
            tail_cycles=self.dram_latency_cycles,
            sram_bytes=0,
            dram_ps=time_ps,
            activities=((Action.DRAM_READ_BYTE, dram_bytes), (Action.DRAM_ACTIVATE, row_segments)),
            sram_end=0,
        )

    def _dram_access(self, access: Access) -> DramAccess:
        """Time, burst bytes and row segments of an access; no time at an infinite rate."""
        counts = tuple(d.repeats for d in access.dimensions) or (1,)
        strides = tuple(d.stride_bytes for d in access.dimensions) or (0,)
        found = dram_access(self.dram, access.address, access.run_bytes, counts, strides)
        if math.isinf(self.config.dram.peak_bytes_per_second):
            return found._replace(time_ps=0)
        return found

    def _sram_traffic(self, moved: tuple[Access, ...], streamed: dict[str, int]) -> tuple[int, int]:
        """Bytes of whole words read and written.

        `streamed` gives, for an operand that is not read just once, the bytes that the unit takes in; they
        move with the same share of useful bytes in a word.
        """
        word_bytes = self.config.sram.word_bytes
        read = written = 0
        for access in moved:
            traffic = traffic_bytes(access, word_bytes)
            if access.operand in streamed and access.total_bytes:
                traffic = -(-streamed[access.operand] * traffic // access.total_bytes)
            if access.write:
                written += traffic
            else:
                read += traffic
        return read, written


def _sram_end(instruction: Instruction) -> int:
    """End of the highest address that the operands name."""
    return max(access.end for access in accesses(instruction))
