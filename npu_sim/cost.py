"""The compiler's view of a machine: what an instruction costs, by the closed forms that the units use."""

from isa.instruction import Instruction
from isa.instructions.dma import Transfer
from isa.instructions.matrix import Convolve
from npu_sim.actions import Action
from npu_sim.config import MachineConfig, OperatingPoint
from npu_sim.units import systolic
from npu_sim.units.lane_work import lane_work
from npu_sim.units.machine_timing import MachineTiming


class MachineCost:
    """Costs of instructions on one machine at one operating point, without running anything.

    Control instructions cost nothing here. For peak and mapped cycles a whole layer may be given as one
    instruction, whether or not it would fit the machine.
    """

    def __init__(self, config: MachineConfig, operating_point: OperatingPoint) -> None:
        self._config = config
        self._timing = MachineTiming(config, operating_point)

    def cycles(self, instruction: Instruction) -> int:
        """Cycles the instruction occupies its unit when nothing else disturbs it.

        A matrix instruction that its output stage or the SRAM ports hold back costs what these need; a
        transfer costs issue, latency, and the slowest of channel, window, banks and DRAM.
        """
        if instruction.kind is None:
            return 0
        work = self._timing.work(instruction)
        cycles = work.cycles
        if cycles:
            port_cycles = -(-work.sram_bytes // self._config.sram.bytes_per_cycle)
            cycles = max(cycles, work.output_cycles, port_cycles)
        if isinstance(instruction, Transfer):
            return work.setup_cycles + cycles + work.tail_cycles
        return cycles

    def peak_cycles(self, instruction: Instruction) -> float:
        """Unavoidable work (MACs, steps of lanes) over the peak rate of all units of the kind."""
        if instruction.kind is None:
            return 0.0
        if isinstance(instruction, Transfer):
            return self.dram_cycles(instruction.total_bytes)
        if isinstance(instruction, Convolve):
            i, array = instruction, self._timing.array
            cycles = systolic.peak_cycles(array, i.output_pixels, i.depth, i.output_channels)
            return cycles / self._config.matrix.units
        vector = self._config.vector
        return lane_work(instruction, vector).peak_cycles / vector.units

    def mapped_cycles(self, instruction: Instruction) -> float:
        """A lower bound of the cycles on all units of the kind, however the work is cut into tiles."""
        if instruction.kind is None:
            return 0.0
        if isinstance(instruction, Transfer):
            return self.dram_cycles(instruction.total_bytes)
        if isinstance(instruction, Convolve):
            i, array = instruction, self._timing.array
            cycles = systolic.mapped_bound_cycles(array, i.output_pixels, i.depth, i.output_channels)
            return cycles / self._config.matrix.units
        vector = self._config.vector
        return lane_work(instruction, vector).cycles / vector.units

    def dram_bytes(self, instruction: Instruction) -> int:
        """DRAM bytes that a transfer moves, whole bursts; 0 for other instructions."""
        if not isinstance(instruction, Transfer):
            return 0
        moved = dict(self._timing.transfer_work(instruction).activities)
        return moved.get(Action.DRAM_READ_BYTE, 0) + moved.get(Action.DRAM_WRITE_BYTE, 0)

    def dram_cycles(self, total_bytes: int) -> float:
        """Cycles that DRAM needs for `total_bytes` at its sustained sequential rate."""
        return self._timing.sustained_dram_cycles(total_bytes)
