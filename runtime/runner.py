"""One call from a model and its inputs to bits, cycles and joules."""

import os
from collections.abc import Sequence

import numpy as np

from compiler.graph import Graph
from compiler.nnapi import Numerics, PreferenceCode
from compiler.options import TileLimits
from isa.program import Program
from npu_sim.config import MachineConfig
from npu_sim.core.hooks import Hook
from runtime.compilation import Compilation
from runtime.device import Array, DeviceResult, RunOptions
from runtime.device_registry import DEFAULT_MACHINE, resolve_machine
from runtime.devices.npu import NpuDevice, NpuPrepared, operating_point
from runtime.errors import BadDataError, translated
from runtime.execution import Execution
from runtime.inputs import Inputs, InputSlot, bind_inputs
from runtime.model import Model
from runtime.naming import input_names, output_names
from runtime.result import RunResult
from runtime.tflite import load_tflite

ModelSource = Model | str | os.PathLike[str] | bytes
"""A finished model, the path of a .tflite file, or its content."""


def run(
    model: ModelSource,
    inputs: Inputs | None = None,
    *,
    machine: str | MachineConfig = DEFAULT_MACHINE,
    preference: PreferenceCode | str = PreferenceCode.FAST_SINGLE_ANSWER,
    numerics: Numerics | str = Numerics.NNAPI,
    keep_tensors: bool = False,
    timing_only: bool = False,
    hooks: Sequence[Hook] = (),
    tile_limits: TileLimits | None = None,
) -> RunResult:
    """Compile a model for a machine and run it once.

    `inputs` are arrays in model order, or by name; a timing-only run needs none. `machine` is a preset's
    name, a TOML file or a configuration. With `keep_tensors` every operation's output is stored in DRAM and
    returned. Hooks see every event and change nothing. Raises a RuntimeFailure with one message for anything
    that is wrong with the model, the inputs or the machine.
    """
    compilation = compile_model(
        model,
        machine=machine,
        preference=preference,
        numerics=numerics,
        keep_tensors=keep_tensors,
        tile_limits=tile_limits,
    )
    return run_compilation(compilation, inputs, timing_only=timing_only, hooks=hooks)


def run_compilation(
    compilation: Compilation,
    inputs: Inputs | None = None,
    *,
    timing_only: bool = False,
    hooks: Sequence[Hook] = (),
) -> RunResult:
    """Run what `compile_model` returned once; the arguments are those of `run`."""
    prepared = compilation.prepared
    assert isinstance(prepared, NpuPrepared)
    execution = Execution(compilation, RunOptions(functional=not timing_only, hooks=hooks))
    if not timing_only:
        _fill(execution, compilation.graph, inputs)
    execution.compute()
    result = execution.result
    numbers = compilation.model.tensor_indices
    return _run_result(
        prepared,
        result,
        preference=compilation.options.preference,
        names=output_names(compilation.graph),
        tensors={numbers.get(operand, operand): array for operand, array in result.tensors.items()},
    )


def compile_model(
    model: ModelSource,
    *,
    machine: str | MachineConfig = DEFAULT_MACHINE,
    preference: PreferenceCode | str = PreferenceCode.FAST_SINGLE_ANSWER,
    numerics: Numerics | str = Numerics.NNAPI,
    keep_tensors: bool = False,
    tile_limits: TileLimits | None = None,
) -> Compilation:
    """Compile a model for a machine's NPU; the finished compilation's `prepared.program` is the program."""
    loaded = model if isinstance(model, Model) else load_tflite(model)
    compilation = Compilation(
        loaded,
        NpuDevice(resolve_machine(machine)),
        numerics=parse_numerics(numerics),
        keep_tensors=keep_tensors,
        tile_limits=tile_limits,
    )
    compilation.set_preference(parse_preference(preference))
    compilation.finish()
    return compilation


def run_program(
    program: Program,
    inputs: Inputs | None = None,
    *,
    machine: str | MachineConfig = DEFAULT_MACHINE,
    preference: PreferenceCode | str | None = None,
    timing_only: bool = False,
    hooks: Sequence[Hook] = (),
) -> RunResult:
    """Run a compiled program once on a machine with the program's target.

    Without `preference` the program's own decides the operating point. Bounds are those of the machine it
    was compiled for; `tensors` are numbered by operand.
    """
    config = resolve_machine(machine)
    chosen = parse_preference(_note(program, "preference") if preference is None else preference)
    with translated():
        prepared = NpuPrepared(program, config, operating_point(config, chosen))
        arrays = []
        if not timing_only:
            slots = [InputSlot(s.name, np.dtype(s.dtype), s.shape) for s in prepared.symbols("input")]
            arrays = bind_inputs(slots, [] if inputs is None else inputs)
        result = prepared.execute(arrays, RunOptions(functional=not timing_only, hooks=hooks))
    names = [symbol.name for symbol in prepared.symbols("output")]
    return _run_result(prepared, result, preference=chosen, names=names, tensors=result.tensors)


def parse_preference(preference: PreferenceCode | str) -> PreferenceCode:
    """A preference from its code or its name in either case; BadDataError for an unknown one."""
    if not isinstance(preference, str):
        return preference
    try:
        return PreferenceCode[preference.upper()]
    except KeyError:
        allowed = ", ".join(code.name.lower() for code in PreferenceCode)
        raise BadDataError(f"preference is {preference!r}, must be one of {allowed}") from None


def parse_numerics(numerics: Numerics | str) -> Numerics:
    """Numerics from their name; BadDataError for an unknown one."""
    try:
        return Numerics(numerics)
    except ValueError:
        raise BadDataError(f"numerics is {numerics!r}, must be one of {', '.join(Numerics)}") from None


def _fill(execution: Execution, graph: Graph, inputs: Inputs | None) -> None:
    """Bind inputs and make room for outputs."""
    types = [graph.operands[number].type for number in graph.inputs]
    slots = [
        InputSlot(name, type_.dtype, type_.dimensions)
        for name, type_ in zip(input_names(graph), types, strict=True)
    ]
    for index, array in enumerate(bind_inputs(slots, [] if inputs is None else inputs)):
        execution.set_input(index, array)
    for index, number in enumerate(graph.outputs):
        type_ = graph.operands[number].type
        execution.set_output(index, np.zeros(type_.dimensions, type_.dtype))


def _note(program: Program, key: str) -> str:
    """What the compiler noted about a program; BadDataError if it did not."""
    if key not in program.notes:
        raise BadDataError(f"the program has no note {key!r}; it has {', '.join(program.notes) or 'none'}")
    return program.notes[key]


def _run_result(
    prepared: NpuPrepared,
    result: DeviceResult,
    *,
    preference: PreferenceCode,
    names: list[str],
    tensors: dict[int, Array],
) -> RunResult:
    assert result.simulation is not None
    program = prepared.program
    kept = _note(program, "keep_tensors") == "true"
    return RunResult(
        model=_note(program, "model"),
        machine=prepared.config.name,
        machine_hash=prepared.config.hash,
        preference=preference.name.lower(),
        numerics=_note(program, "numerics"),
        lb_peak_cycles=int(_note(program, "lb_peak_cycles")),
        lb_mapped_cycles=int(_note(program, "lb_mapped_cycles")),
        outputs=dict(zip(names, result.outputs, strict=False)),
        tensors=tensors if kept else {},
        simulation=result.simulation,
    )
