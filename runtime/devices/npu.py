"""The NPU device: splits a graph between the simulated machine and its host, and runs the parts in order."""

import dataclasses
from collections.abc import Sequence

from compiler.errors import UnsupportedError
from compiler.graph import Graph
from compiler.nnapi import Numerics, PreferenceCode
from compiler.options import CompileOptions, Objective
from compiler.partition import Place, Segment, npu_refusals, split
from compiler.pipeline import compile_graph
from compiler.planning import Progress
from isa.program import Program
from npu_sim.config import MachineConfig, OperatingPoint
from npu_sim.cost import MachineCost
from runtime.device import CompilationOptions, Fallback
from runtime.devices.handover import Handover, handovers
from runtime.devices.npu_prepared import NpuPrepared, PreparedFacts, program_note
from runtime.devices.steps import HostStep, ProgramStep, Step, display_name
from runtime.devices.support import check_reference_size, supported_operations
from runtime.host_cost import host_costs
from runtime.program_cache import program_key
from runtime.result import tool_version

MAX_TENSOR_BYTES = 1 << 28
"""Largest model: constants and activations together, 256 MiB. Keeps a run within 1 GiB of host memory."""

_OBJECTIVES = {
    PreferenceCode.LOW_POWER: Objective.BYTES,
    PreferenceCode.FAST_SINGLE_ANSWER: Objective.CYCLES,
    PreferenceCode.SUSTAINED_SPEED: Objective.CYCLES,
}
"""What each preference compiles for: fewest DRAM bytes, or fewest cycles."""


def operating_point(config: MachineConfig, preference: PreferenceCode) -> OperatingPoint:
    """The operating point a machine names for a preference."""
    return config.operating_point(config.preferences[preference.name.lower()])


class NpuDevice:
    """One simulated machine, with the host that drives it."""

    def __init__(self, config: MachineConfig, progress: Progress | None = None) -> None:
        self.config = config
        self._progress = progress

    @property
    def name(self) -> str:
        """How the registry names it."""
        return "npu"

    def supported(self, graph: Graph, numerics: Numerics) -> tuple[bool, ...]:
        """For each operation, whether it can run: on the NPU, or else on its host."""
        return supported_operations(graph, numerics)

    def prepare(self, graph: Graph, options: CompilationOptions) -> NpuPrepared:
        """Compile for this machine at the preference's operating point.

        Operations that the NPU cannot run, or that are not worth a crossing (`compiler.partition`), go to the
        host. A tensor that cannot be tiled into the NPU's memory is an error: it asks for another machine.
        """
        _check_size(graph)
        point = operating_point(self.config, options.preference)
        refusals = npu_refusals(graph, self.config.target, options.numerics)
        segments = split(graph, refusals)
        programs = [self._compiled(segment, point, options) for segment in segments]
        given = handovers(segments)
        steps = [
            self._step(segment, program, handover, point, options)
            for segment, program, handover in zip(segments, programs, given, strict=True)
        ]
        return NpuPrepared(
            steps=tuple(steps),
            inputs=graph.inputs,
            outputs=graph.outputs,
            fallbacks=_fallbacks(graph, segments, steps),
            transfers=sum(len(handover.operands) for handover in given),
            transfer_bytes=sum(handover.size_bytes for handover in given),
            config=self.config,
            point=point,
            facts=_facts(graph, steps, options),
        )

    def _compiled(
        self, segment: Segment, point: OperatingPoint, options: CompilationOptions
    ) -> Program | None:
        """The program of a segment of the NPU, cached or new; None for the host."""
        if segment.place is not Place.NPU:
            return None
        compile_options = CompileOptions(
            objective=_OBJECTIVES[options.preference],
            numerics=options.numerics,
            keep_tensors=options.keep_tensors,
            tile_limits=options.tile_limits,
        )

        def new() -> Program:
            cost = MachineCost(self.config, point)
            target, progress = self.config.target, self._progress
            return compile_graph(segment.graph, target, cost, compile_options, progress).program

        if options.cache is None:
            return new()
        key = program_key(segment.graph, self.config.hash, point.name, compile_options, tool_version())
        return options.cache.program(key, new)

    def _step(
        self,
        segment: Segment,
        program: Program | None,
        handover: Handover,
        point: OperatingPoint,
        options: CompilationOptions,
    ) -> Step:
        if program is None:
            check_reference_size(segment.graph)
            costs = host_costs(segment.graph, handover.operands, self.config, point, options.numerics)
            return HostStep(
                graph=segment.graph,
                numerics=options.numerics,
                operands=segment.operands,
                costs=costs,
                config=self.config,
                point=point,
            )
        notes = {**program.notes, "preference": options.preference.name.lower()}
        return ProgramStep(
            program=dataclasses.replace(program, notes=notes),
            operands=segment.operands,
            config=self.config,
            point=point,
        )


def _check_size(graph: Graph) -> None:
    total = sum(operand.type.size_bytes for operand in graph.operands)
    if total > MAX_TENSOR_BYTES:
        raise UnsupportedError(
            f"model “{graph.name}”: its tensors have {total} bytes together; at most {MAX_TENSOR_BYTES} fit"
        )


def _fallbacks(graph: Graph, segments: Sequence[Segment], steps: Sequence[Step]) -> tuple[Fallback, ...]:
    """What the host computes and why, in order of execution."""
    found, layer = [], 0
    for segment, step in zip(segments, steps, strict=True):
        if isinstance(step, ProgramStep):
            layer += len(step.program.layers)
            continue
        for number in segment.operations:
            operation = graph.operations[number]
            found.append(
                Fallback(
                    operation=number,
                    layer=layer,
                    op=operation.code.name,
                    name=display_name(graph, operation),
                    reason=segment.refusals[number],
                )
            )
            layer += 1
    return tuple(found)


def _facts(graph: Graph, steps: Sequence[Step], options: CompilationOptions) -> PreparedFacts:
    """What reports say; the parts run one after the other, so bounds add up, and the host takes its time."""
    host_cycles = sum(cost.cycles for step in steps if isinstance(step, HostStep) for cost in step.costs)
    programs = [step.program for step in steps if isinstance(step, ProgramStep)]
    return PreparedFacts(
        model=graph.name,
        numerics=str(options.numerics),
        keep_tensors=options.keep_tensors,
        lb_peak_cycles=host_cycles + sum(int(program_note(p, "lb_peak_cycles")) for p in programs),
        lb_mapped_cycles=host_cycles + sum(int(program_note(p, "lb_mapped_cycles")) for p in programs),
    )
