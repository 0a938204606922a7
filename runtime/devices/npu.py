"""The NPU device: compiles a graph to a program and runs it on the simulated machine."""

import dataclasses
from collections.abc import Sequence

from compiler.errors import UnsupportedError
from compiler.graph import Graph
from compiler.nnapi import Numerics, PreferenceCode
from compiler.options import CompileOptions, Objective
from compiler.pipeline import compile_graph
from isa.program import Program, Symbol
from npu_sim.config import MachineConfig, OperatingPoint
from npu_sim.cost import MachineCost
from npu_sim.npu import simulate
from runtime.device import Array, CompilationOptions, DeviceResult, RunOptions
from runtime.devices.support import supported_operations

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
    """One simulated machine."""

    def __init__(self, config: MachineConfig) -> None:
        self.config = config

    @property
    def name(self) -> str:
        """How the registry names it."""
        return "npu"

    def supported(self, graph: Graph, numerics: Numerics) -> tuple[bool, ...]:
        """For each operation, whether the compiler has it."""
        return supported_operations(graph, numerics)

    def prepare(self, graph: Graph, options: CompilationOptions) -> "NpuPrepared":
        """Compile for this machine at the preference's operating point."""
        _check_size(graph)
        point = operating_point(self.config, options.preference)
        executable = compile_graph(
            graph,
            self.config.target,
            MachineCost(self.config, point),
            CompileOptions(
                objective=_OBJECTIVES[options.preference],
                numerics=options.numerics,
                keep_tensors=options.keep_tensors,
                tile_limits=options.tile_limits,
            ),
        )
        notes = {
            **executable.program.notes,
            "preference": options.preference.name.lower(),
        }
        return NpuPrepared(dataclasses.replace(executable.program, notes=notes), self.config, point)


def _check_size(graph: Graph) -> None:
    total = sum(operand.type.size_bytes for operand in graph.operands)
    if total > MAX_TENSOR_BYTES:
        raise UnsupportedError(
            f"model “{graph.name}”: its tensors have {total} bytes together; at most {MAX_TENSOR_BYTES} fit"
        )


class NpuPrepared:
    """A program, the machine to run it on, and the operating point."""

    def __init__(self, program: Program, config: MachineConfig, point: OperatingPoint) -> None:
        self.program = program
        self.config = config
        self.point = point

    def execute(self, inputs: Sequence[Array], options: RunOptions) -> DeviceResult:
        """Simulate one inference; outputs are what the program left in simulated DRAM."""
        named = {}
        if options.functional:
            named = {s.name: a for s, a in zip(self.symbols("input"), inputs, strict=True)}
        result = simulate(
            self.program,
            self.config,
            self.point.name,
            named,
            functional=options.functional,
            hooks=options.hooks,
        )
        return DeviceResult(
            outputs=tuple(result.outputs.values()), tensors=dict(result.tensors), simulation=result
        )

    def symbols(self, role: str) -> tuple[Symbol, ...]:
        """The program's symbols of a role, in model order."""
        return tuple(symbol for symbol in self.program.symbols if symbol.role == role)
