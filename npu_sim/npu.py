"""The machine, wired: the only place where the parts of the simulator meet."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from isa.instruction import Queue, UnitKind
from isa.instructions.control import SEMAPHORES
from isa.program import Program
from isa.verifier import verify as verify_program
from npu_sim import watchdog
from npu_sim.actions import Action
from npu_sim.config import MachineConfig
from npu_sim.core.clock import Clock
from npu_sim.core.hooks import Hook
from npu_sim.core.instruction_queue import InstructionQueue
from npu_sim.core.observation import Observation
from npu_sim.core.semaphore import Semaphore
from npu_sim.errors import InstructionError, MachineError
from npu_sim.frontend.dispatch import Dispatcher
from npu_sim.frontend.fetch import InstructionFetch
from npu_sim.functional.executor import Executor, InstructionExecutor, NullExecutor
from npu_sim.functional.state import MachineState
from npu_sim.power.account import EnergyAccount, account
from npu_sim.power.energy_table import energy_table
from npu_sim.result import LayerResult, SimResult
from npu_sim.stats import LayerWindow, layer_ends, layer_windows, unit_result, utilization
from npu_sim.units.dma_engine import DmaChannel
from npu_sim.units.machine_timing import MachineTiming
from npu_sim.units.matrix_unit import MatrixUnit
from npu_sim.units.shared_memories import SharedMemories
from npu_sim.units.unit import Unit
from npu_sim.units.vector_unit import VectorUnit

_UNIT_CLASSES: dict[UnitKind, type[Unit]] = {
    UnitKind.DMA: DmaChannel,
    UnitKind.MATRIX: MatrixUnit,
    UnitKind.VECTOR: VectorUnit,
}


def simulate(
    program: Program,
    config: MachineConfig,
    operating_point: str,
    inputs: Mapping[str, npt.NDArray[Any]],
    *,
    functional: bool = True,
    hooks: Sequence[Hook] = (),
    verify: bool = True,
) -> SimResult:
    """Run a program from its first instruction fetch until every queue has drained after Halt.

    `inputs` maps the names of the program's input symbols to arrays of their shape and type. A run that is
    not `functional` moves no bytes, needs no inputs, and takes exactly the same cycles. `verify=False` skips
    the static checks; such a program may compute wrong values. The same arguments give the same result.

    Raises MachineError if the program is for another machine or an instruction fails, InputError for wrong
    inputs, isa.errors.VerificationError, and DeadlockError.
    """
    _check_program(program, config)
    if verify:
        verify_program(program)
    state = MachineState(program) if functional else None
    if state is not None:
        state.bind_inputs(inputs)
    executor: InstructionExecutor = NullExecutor() if state is None else Executor(state)
    npu = Npu(program, config, operating_point, executor, hooks)
    npu.run()
    return npu.result(state)


class Npu:
    """One machine with one program, built to run once."""

    def __init__(
        self,
        program: Program,
        config: MachineConfig,
        operating_point: str,
        executor: InstructionExecutor,
        hooks: Sequence[Hook],
    ) -> None:
        self._program = program
        self._config = config
        self._point = config.operating_point(operating_point)
        self._timing = MachineTiming(config, self._point)
        self._env = Clock()
        names = [type(i).__name__ for i in program.instructions]
        self._observation = Observation(program.layer_of, names, hooks)
        self._semaphores = [Semaphore() for _ in range(SEMAPHORES)]
        memories = SharedMemories(self._env, self._timing)
        self._units = self._build_units(memories, executor)
        ends = list(itertools.accumulate(i.size_bytes for i in program.instructions))
        self._fetch = InstructionFetch(self._env, self._timing, memories, self._observation, ends)
        queues = {place: unit.queue for place, unit in self._units.items()}
        self._dispatcher = Dispatcher(
            self._env, program.instructions, queues, self._fetch, ends, self._observation
        )

    def _build_units(self, memories: SharedMemories, executor: InstructionExecutor) -> dict[Queue, Unit]:
        counts = {
            UnitKind.DMA: self._config.dma.channels,
            UnitKind.MATRIX: self._config.matrix.units,
            UnitKind.VECTOR: self._config.vector.units,
        }
        return {
            Queue(kind, index): _UNIT_CLASSES[kind](
                self._env,
                Queue(kind, index),
                InstructionQueue(self._env, self._config.frontend.queue_depth),
                self._timing,
                memories,
                self._semaphores,
                executor,
                self._observation,
            )
            for kind, count in counts.items()
            for index in range(count)
        }

    def run(self) -> None:
        """Run until nothing happens any more.

        Raises DeadlockError if the program has not finished then, MachineError, naming the operation, if an
        instruction fails.
        """
        self._env.process(self._fetch.run())
        self._env.process(self._dispatcher.run())
        for unit in self._units.values():
            self._env.process(unit.run())
        try:
            self._env.run()
        except InstructionError as error:
            layer = self._program.layers[self._program.layer_of[error.instruction]]
            name = f" “{layer.name}”" if layer.name else ""
            place = f"{layer.op}{name} (layer {layer.index} of its program)"
            raise MachineError(f"{place}: {error}") from error
        watchdog.check_finished(
            self._program.instructions, self._units.values(), self._dispatcher, self._semaphores
        )

    def result(self, state: MachineState | None) -> SimResult:
        """Account for the finished run; values come from the DRAM of `state`, if there is one."""
        program, observation = self._program, self._observation
        units = self._units.values()
        assert self._dispatcher.halted_at is not None
        total = max(self._dispatcher.halted_at, *(unit.last_retirement for unit in units))
        ends = layer_ends(observation.retired, program.layer_of, len(program.layers), total)
        logs = {kind: [u.log for u in units if u.place.kind is kind] for kind in UnitKind}
        windows = layer_windows(logs, self._fetch.log, program.layers, program.layer_of, ends, self._timing)
        energy = account(
            observation.counts, [w.cycles for w in windows], energy_table(self._config, self._point)
        )
        executed = [e for unit in units for e in unit.log.executed]
        outputs = state.symbols("output") if state else ()
        kept = (*state.symbols("tensor"), *outputs) if state else ()
        return SimResult(
            cycles=total,
            frequency_hz=self._point.frequency_hz,
            voltage_v=self._point.voltage_v,
            latency_s=total / self._point.frequency_hz,
            energy_aj=energy.total_aj,
            energy_breakdown_aj={c.value: aj for c, aj in energy.by_component_aj.items()},
            layers=self._layer_results(windows, energy),
            units={unit.log.name: unit_result(unit.log, total) for unit in units},
            dram_bytes_read=self._count(Action.DRAM_READ_BYTE),
            dram_bytes_written=self._count(Action.DRAM_WRITE_BYTE),
            dram_bytes_fetched=self._fetch.fetched_bytes,
            sram_peak_bytes=max((e.work.sram_end for e in executed), default=0),
            matrix_cycles=sum(e.work.cycles for log in logs[UnitKind.MATRIX] for e in log.executed),
            outputs={s.name: state.read(s) for s in outputs} if state else {},
            tensors={s.operand: state.read(s) for s in kept} if state else {},
        )

    def _count(self, action: Action) -> int:
        return sum(amount for (_, a), amount in self._observation.counts.items() if a is action)

    def _layer_results(
        self, windows: Sequence[LayerWindow], energy: EnergyAccount
    ) -> tuple[LayerResult, ...]:
        return tuple(
            LayerResult(
                index=layer.index,
                op=layer.op,
                name=layer.name,
                unit=layer.unit,
                cycles=window.cycles,
                start_cycle=window.start_cycle,
                end_cycle=window.end_cycle,
                macs=layer.macs,
                utilization=utilization(layer, window, self._config),
                bound_by=window.bound_by,
                energy_aj=energy_aj,
            )
            for layer, window, energy_aj in zip(
                self._program.layers, windows, energy.by_layer_aj, strict=True
            )
        )


def _check_program(program: Program, config: MachineConfig) -> None:
    """Raise MachineError unless the program was made for a machine that software sees as this one.

    Every instruction must belong to one of its layers, or there would be cycles that no layer accounts for.
    """
    layer_count = len(program.layers)
    if not program.instructions or len(program.layer_of) != len(program.instructions):
        raise MachineError(
            f"the program has {len(program.instructions)} instructions and names a layer for "
            f"{len(program.layer_of)}; at least one instruction, and a layer for each, are needed"
        )
    if not all(0 <= layer < layer_count for layer in program.layer_of):
        raise MachineError(f"the program has {layer_count} layers, and instructions of others")
    target = config.target
    if program.target == target:
        return
    differences = [
        f"{name} {getattr(program.target, name)} (the machine has {getattr(target, name)})"
        for name in target.__dataclass_fields__
        if getattr(program.target, name) != getattr(target, name)
    ]
    raise MachineError(
        f"the program was compiled for another machine than {config.name}: " + ", ".join(differences)
    )
