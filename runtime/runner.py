"""One call from a model and its inputs to bits, cycles and joules."""

import dataclasses
import os
from collections.abc import Sequence

import numpy as np

from compiler.graph import Graph
from compiler.nnapi import Numerics, PreferenceCode
from compiler.options import TileLimits
from compiler.planning import Progress
from compiler.specialise import is_specified, unspecified_inputs
from isa.program import Program
from npu_sim.core.hooks import Hook
from runtime.argument_checks import checked, checked_hooks, checked_sequence
from runtime.compilation import Compilation
from runtime.cutting import TensorKey, cut_model
from runtime.device import Array, DeviceResult, RunOptions
from runtime.device_registry import DEFAULT_MACHINE, MachineSource, resolve_machine
from runtime.devices.npu import NpuDevice, operating_point
from runtime.devices.npu_prepared import NpuPrepared, prepared_program, program_note
from runtime.errors import BadDataError, translated
from runtime.execution import Execution
from runtime.inputs import Inputs, InputSlot, bind_inputs, bind_optional_inputs
from runtime.model import Model
from runtime.naming import input_slots, output_names
from runtime.result import RunResult
from runtime.tflite import load_tflite

ModelSource = Model | str | os.PathLike[str] | bytes | bytearray | memoryview
"""A finished model, the path of a .tflite file, or its content."""


def run(
    model: ModelSource,
    inputs: Inputs | None = None,
    *,
    machine: MachineSource = DEFAULT_MACHINE,
    preference: PreferenceCode | str = PreferenceCode.FAST_SINGLE_ANSWER,
    numerics: Numerics | str = Numerics.NNAPI,
    keep_tensors: bool = False,
    timing_only: bool = False,
    hooks: Sequence[Hook] = (),
    tile_limits: TileLimits | None = None,
    until: Sequence[TensorKey] = (),
) -> RunResult:
    """Compile a model for a machine and run it once.

    `inputs` are arrays in model order, or by name; a timing-only run needs none, unless the model leaves
    dimensions of its inputs open. With `until`, names or numbers of tensors, only what these depend on is
    run, and they are the outputs. `machine` is a preset's
    name, a TOML file or a configuration. With `keep_tensors` every operation's output is stored in DRAM and
    returned. Hooks see every event and change nothing. Raises a RuntimeFailure with one message for anything
    that is wrong with the model, the inputs or the machine.
    """
    checked_hooks(hooks)
    compilation = compile_model(
        model,
        machine=machine,
        preference=preference,
        numerics=numerics,
        keep_tensors=keep_tensors,
        tile_limits=tile_limits,
        until=until,
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
    checked("compilation", compilation, Compilation, "what compile_model returned")
    execution = Execution(compilation, RunOptions(functional=not timing_only, hooks=checked_hooks(hooks)))
    if not timing_only:
        _fill(execution, compilation, inputs)
    elif unspecified_inputs(compilation.graph):
        _set_inputs(execution, compilation.graph, inputs)
    execution.compute()
    return execution_result(execution)


def execution_result(execution: Execution) -> RunResult:
    """What an execution on the NPU returned; BadStateError before it has ended."""
    compilation, result, prepared = execution.compilation, execution.result, execution.prepared
    assert isinstance(prepared, NpuPrepared)
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
    machine: MachineSource = DEFAULT_MACHINE,
    preference: PreferenceCode | str = PreferenceCode.FAST_SINGLE_ANSWER,
    numerics: Numerics | str = Numerics.NNAPI,
    keep_tensors: bool = False,
    tile_limits: TileLimits | None = None,
    until: Sequence[TensorKey] = (),
    progress: Progress | None = None,
) -> Compilation:
    """Compile a model, or the part of it that computes the `until` tensors, for a machine.

    `progress` is told how many layers are planned, of how many.
    The finished compilation's `prepared.program` is the program, if the NPU needs no help from its host.
    """
    if tile_limits is not None:
        checked("tile_limits", tile_limits, TileLimits, "a TileLimits or None")
    loaded = load_model(model, until)
    compilation = Compilation(
        loaded,
        NpuDevice(resolve_machine(machine), progress),
        numerics=parse_numerics(numerics),
        keep_tensors=keep_tensors,
        tile_limits=tile_limits,
    )
    compilation.set_preference(parse_preference(preference))
    compilation.finish()
    return compilation


def load_model(model: ModelSource, until: Sequence[TensorKey] = ()) -> Model:
    """A finished model, or the part of it that computes the `until` tensors."""
    checked_sequence("until", until, (str, int), "names or numbers of tensors")
    if not isinstance(model, Model):
        return load_tflite(model, until=until)
    return cut_model(model, until) if until else model


def run_program(
    program: Program,
    inputs: Inputs | None = None,
    *,
    machine: MachineSource = DEFAULT_MACHINE,
    preference: PreferenceCode | str | None = None,
    timing_only: bool = False,
    hooks: Sequence[Hook] = (),
) -> RunResult:
    """Run a compiled program once on a machine with the program's target.

    Without `preference` the program's own decides the operating point. Bounds are those of the machine it
    was compiled for; `tensors` are numbered by operand.
    """
    checked("program", program, Program, "a compiled Program")
    checked_hooks(hooks)
    config = resolve_machine(machine)
    chosen = parse_preference(program_note(program, "preference") if preference is None else preference)
    symbols = {role: [s for s in program.symbols if s.role == role] for role in ("input", "output")}
    with translated():
        prepared = prepared_program(program, config, operating_point(config, chosen))
        arrays: list[Array] = []
        if not timing_only:
            slots = [InputSlot(s.name, np.dtype(s.dtype), s.shape) for s in symbols["input"]]
            arrays = bind_inputs(slots, [] if inputs is None else inputs)
        result = prepared.execute(arrays, RunOptions(functional=not timing_only, hooks=hooks))
    names = [symbol.name for symbol in symbols["output"]]
    return _run_result(prepared, result, preference=chosen, names=names, tensors=result.tensors)


def parse_preference(preference: PreferenceCode | str) -> PreferenceCode:
    """A preference from its code or its name in either case; BadDataError for an unknown one."""
    try:
        if isinstance(preference, str):
            return PreferenceCode[preference.upper()]
        return PreferenceCode(preference)
    except (KeyError, ValueError):
        allowed = ", ".join(code.name.lower() for code in PreferenceCode)
        raise BadDataError(f"preference is {preference!r}, must be one of {allowed}") from None


def parse_numerics(numerics: Numerics | str) -> Numerics:
    """Numerics from their name; BadDataError for an unknown one."""
    try:
        return Numerics(numerics)
    except ValueError:
        raise BadDataError(f"numerics is {numerics!r}, must be one of {', '.join(Numerics)}") from None


def _fill(execution: Execution, compilation: Compilation, inputs: Inputs | None) -> None:
    """Bind inputs and make room for outputs."""
    graph = compilation.graph
    arrays = _set_inputs(execution, graph, inputs)
    shapes = [None if array is None else array.shape for array in arrays]
    whole = compilation.specialised(shapes).graph
    for index, number in enumerate(graph.outputs):
        type_ = whole.operands[number].type
        execution.set_output(index, np.zeros(type_.dimensions, type_.dtype))


def _set_inputs(execution: Execution, graph: Graph, inputs: Inputs | None) -> list[Array | None]:
    """Give an execution its inputs, with the dimensions that the model leaves open."""
    arrays = bind_optional_inputs(input_slots(graph), [] if inputs is None else inputs)
    for index, (number, array) in enumerate(zip(graph.inputs, arrays, strict=True)):
        type_ = graph.operands[number].type
        if array is not None and not is_specified(type_):
            execution.set_input(index, array, dataclasses.replace(type_, dimensions=array.shape))
        else:
            execution.set_input(index, array)
    return arrays


def _run_result(
    prepared: NpuPrepared,
    result: DeviceResult,
    *,
    preference: PreferenceCode,
    names: list[str],
    tensors: dict[int, Array],
) -> RunResult:
    assert result.simulation is not None
    facts = prepared.facts
    return RunResult(
        model=facts.model,
        machine=prepared.config.name,
        machine_hash=prepared.config.hash,
        preference=preference.name.lower(),
        numerics=facts.numerics,
        lb_peak_cycles=facts.lb_peak_cycles,
        lb_mapped_cycles=facts.lb_mapped_cycles,
        outputs=dict(zip(names, result.outputs, strict=False)),
        tensors=tensors if facts.keep_tensors else {},
        simulation=result.simulation,
        fallbacks=result.fallbacks,
        transfers=result.transfers,
        transfer_bytes=result.transfer_bytes,
    )
