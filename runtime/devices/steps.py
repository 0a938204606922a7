"""The parts of a run on an NPU with a host: a program, or operations that the host computes."""

import dataclasses
from collections.abc import Mapping
from typing import Protocol

from compiler.graph import Graph, Operation
from compiler.nnapi import Numerics
from compiler.reference.interpreter import run_graph
from isa.program import Program, Symbol
from npu_sim.config import MachineConfig, OperatingPoint
from npu_sim.events import Activity, Retire, Span, StallReason
from npu_sim.npu import simulate
from npu_sim.power.energy_table import energy_table
from npu_sim.result import BoundBy, LayerResult, SimResult, UnitResult
from runtime.device import Array, RunOptions
from runtime.devices.shifted_hook import Position, shifted
from runtime.host_cost import HOST_CYCLE, HostOperationCost, host_aj_per_cycle

HOST = "host"
"""Name of the host as a unit, as the lane of its spans, and as a component of the energy."""


class Step(Protocol):
    """A part of a run on one device without a break. Operands are numbered as in the whole graph."""

    @property
    def instruction_count(self) -> int:
        """Instructions, or operations of the host; hooks see no more than this retire."""
        ...

    def run(self, values: Mapping[int, Array], options: RunOptions, position: Position) -> SimResult:
        """Run from a position of the whole run on.

        `values` has the operands it reads, and may be empty if the run is not functional. The result's
        `tensors` are the operands that it leaves.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProgramStep:
    """A program on the simulated NPU; `operands` are its operands' numbers in the whole graph."""

    program: Program
    operands: tuple[int, ...]
    config: MachineConfig
    point: OperatingPoint

    @property
    def instruction_count(self) -> int:
        """Instructions of the program."""
        return len(self.program.instructions)

    def symbols(self, role: str) -> tuple[Symbol, ...]:
        """The program's symbols of a role, in order."""
        return tuple(symbol for symbol in self.program.symbols if symbol.role == role)

    def run(self, values: Mapping[int, Array], options: RunOptions, position: Position) -> SimResult:
        """Simulate the program; its tensors are what it left in simulated DRAM."""
        named = {}
        if options.functional:
            named = {s.name: values[self.operands[s.operand]] for s in self.symbols("input")}
        result = simulate(
            self.program,
            self.config,
            self.point.name,
            named,
            functional=options.functional,
            hooks=shifted(options.hooks, position),
        )
        return dataclasses.replace(
            result, tensors={self.operands[number]: array for number, array in result.tensors.items()}
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HostStep:
    """Operations that the host computes, a layer each; `operands` are numbered as in the whole graph."""

    graph: Graph
    numerics: Numerics
    operands: tuple[int, ...]
    costs: tuple[HostOperationCost, ...]
    config: MachineConfig
    point: OperatingPoint

    @property
    def instruction_count(self) -> int:
        """One per operation."""
        return len(self.costs)

    def run(self, values: Mapping[int, Array], options: RunOptions, position: Position) -> SimResult:
        """Compute the operations from their definitions; time and energy come from the cost model."""
        tensors = {}
        if options.functional:
            given = [values[self.operands[number]] for number in self.graph.inputs]
            known = run_graph(self.graph, given, self.numerics)
            written = [number for operation in self.graph.operations for number in operation.outputs]
            tensors = {self.operands[number]: known[number] for number in written}
        self._announce(options, position)
        return self._result(tensors)

    def _announce(self, options: RunOptions, position: Position) -> None:
        """Tell the hooks what the host does when."""
        hooks, cycle = shifted(options.hooks, position), 0
        for index, (operation, cost) in enumerate(zip(self.graph.operations, self.costs, strict=True)):
            start, cycle = cycle, cycle + cost.cycles
            for hook in hooks:
                hook.on_span(Span(start, cycle, HOST, operation.code.name, index, index))
                hook.on_activity(Activity(cycle, HOST, HOST_CYCLE, cost.cycles, index))
                hook.on_retire(Retire(cycle, HOST, index, index))

    def _result(self, tensors: dict[int, Array]) -> SimResult:
        cycles = sum(cost.cycles for cost in self.costs)
        table = energy_table(self.config, self.point)
        host_aj = host_aj_per_cycle(self.config, self.point)
        breakdown = {component.value: cycles * aj for component, aj in table.static_aj_per_cycle.items()}
        breakdown[HOST] = cycles * host_aj
        return SimResult(
            cycles=cycles,
            frequency_hz=self.point.frequency_hz,
            voltage_v=self.point.voltage_v,
            latency_s=cycles / self.point.frequency_hz,
            energy_aj=sum(breakdown.values()),
            energy_breakdown_aj=breakdown,
            layers=self._layers(sum(table.static_aj_per_cycle.values()) + host_aj),
            units={HOST: UnitResult(busy=cycles, stalls=dict.fromkeys(StallReason, 0), idle=0)},
            dram_bytes_read=0,
            dram_bytes_written=0,
            dram_bytes_fetched=0,
            sram_peak_bytes=0,
            matrix_cycles=0,
            outputs={},
            tensors=tensors,
        )

    def _layers(self, aj_per_cycle: int) -> tuple[LayerResult, ...]:
        layers, cycle = [], 0
        for index, (operation, cost) in enumerate(zip(self.graph.operations, self.costs, strict=True)):
            layers.append(
                LayerResult(
                    index=index,
                    op=operation.code.name,
                    name=display_name(self.graph, operation),
                    unit=HOST,
                    cycles=cost.cycles,
                    start_cycle=cycle,
                    end_cycle=cycle + cost.cycles,
                    macs=cost.macs,
                    utilization=0.0,
                    bound_by=BoundBy.HOST,
                    energy_aj=cost.cycles * aj_per_cycle,
                )
            )
            cycle += cost.cycles
        return tuple(layers)


def display_name(graph: Graph, operation: Operation) -> str:
    """How reports name an operation: its own name, or that of its first output."""
    return operation.name or graph.operands[operation.outputs[0]].name
