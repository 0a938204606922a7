"""A model made ready for a machine: programs for the NPU and operations for its host, in order."""

import dataclasses
from collections.abc import Sequence

from isa.instruction import Queue, UnitKind
from isa.program import Program
from npu_sim.actions import Component
from npu_sim.config import MachineConfig, OperatingPoint
from npu_sim.events import StallReason
from npu_sim.result import SimResult, UnitResult
from runtime.device import Array, DeviceResult, Fallback, RunOptions
from runtime.devices.merging import merged
from runtime.devices.shifted_hook import Position
from runtime.devices.steps import HOST, ProgramStep, Step
from runtime.errors import BadDataError, UnsupportedModelError


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PreparedFacts:
    """What reports say of a prepared model beside its results; the bounds are in cycles."""

    model: str
    numerics: str
    keep_tensors: bool
    lb_peak_cycles: int
    lb_mapped_cycles: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NpuPrepared:
    """Steps of a model, the machine to run them on, and the operating point.

    `inputs` and `outputs` are the model's operands in order. `fallbacks` are the operations that the host
    computes, in order of execution. `transfers` counts the tensors that change hands between NPU and host.
    """

    steps: tuple[Step, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    fallbacks: tuple[Fallback, ...] = ()
    transfers: int = 0
    transfer_bytes: int = 0
    config: MachineConfig
    point: OperatingPoint
    facts: PreparedFacts

    @property
    def program(self) -> Program:
        """The one program of a model that runs on the NPU alone.

        Raises UnsupportedModelError, with the operations and the reasons, if the host has to help.
        """
        step = self.steps[0]
        if not self.fallbacks and isinstance(step, ProgramStep):
            return step.program
        raise UnsupportedModelError(
            f"model “{self.facts.model}” is no single program for the NPU of {self.config.name}: "
            + "; ".join(fallback.sentence for fallback in self.fallbacks)
        )

    @property
    def instruction_count(self) -> int:
        """Instructions of all programs, and operations of the host: no more than this retires."""
        return sum(step.instruction_count for step in self.steps)

    def execute(self, inputs: Sequence[Array], options: RunOptions) -> DeviceResult:
        """Run the steps; outputs of the NPU are what its programs left in simulated DRAM."""
        values: dict[int, Array] = {}
        if options.functional:
            values.update(zip(self.inputs, inputs, strict=True))
        position = Position()
        parts = [_nothing(self.config, self.point)]
        for step in self.steps:
            part = step.run(values, options, position)
            position = position.after(part.cycles, step.instruction_count, len(part.layers))
            values.update(part.tensors)
            parts.append(part)
        simulation = merged(parts)
        return DeviceResult(
            outputs=tuple(values[number] for number in self.outputs) if options.functional else (),
            tensors=dict(simulation.tensors),
            simulation=simulation,
            fallbacks=self.fallbacks,
            transfers=self.transfers,
            transfer_bytes=self.transfer_bytes,
        )


def prepared_program(program: Program, config: MachineConfig, point: OperatingPoint) -> NpuPrepared:
    """One program, ready to run; BadDataError if the compiler's notes are missing."""
    count = 1 + max((symbol.operand for symbol in program.symbols), default=-1)
    step = ProgramStep(program=program, operands=tuple(range(count)), config=config, point=point)
    return NpuPrepared(
        steps=(step,),
        inputs=tuple(symbol.operand for symbol in step.symbols("input")),
        outputs=tuple(symbol.operand for symbol in step.symbols("output")),
        config=config,
        point=point,
        facts=PreparedFacts(
            model=program_note(program, "model"),
            numerics=program_note(program, "numerics"),
            keep_tensors=program_note(program, "keep_tensors") == "true",
            lb_peak_cycles=_cycles_note(program, "lb_peak_cycles"),
            lb_mapped_cycles=_cycles_note(program, "lb_mapped_cycles"),
        ),
    )


def program_note(program: Program, key: str) -> str:
    """What the compiler noted about a program; BadDataError if it did not."""
    if key not in program.notes:
        raise BadDataError(f"the program has no note {key!r}; it has {', '.join(program.notes) or 'none'}")
    return program.notes[key]


def _cycles_note(program: Program, key: str) -> int:
    text = program_note(program, key)
    if not (text.isascii() and text.isdecimal()):
        raise BadDataError(f"the program's note {key!r} is {text!r}, must be a number of cycles")
    return int(text)


def _nothing(config: MachineConfig, point: OperatingPoint) -> SimResult:
    """The result of doing nothing: it has every unit and every component of the energy."""
    counts = {
        UnitKind.DMA: config.dma.channels,
        UnitKind.MATRIX: config.matrix.units,
        UnitKind.VECTOR: config.vector.units,
    }
    names = [str(Queue(kind, index)) for kind, count in counts.items() for index in range(count)]
    return SimResult(
        cycles=0,
        frequency_hz=point.frequency_hz,
        voltage_v=point.voltage_v,
        latency_s=0.0,
        energy_aj=0,
        energy_breakdown_aj={**{component.value: 0 for component in Component}, HOST: 0},
        layers=(),
        units={name: UnitResult(busy=0, stalls=dict.fromkeys(StallReason, 0), idle=0) for name in names},
        dram_bytes_read=0,
        dram_bytes_written=0,
        dram_bytes_fetched=0,
        sram_peak_bytes=0,
        matrix_cycles=0,
        outputs={},
        tensors={},
    )
