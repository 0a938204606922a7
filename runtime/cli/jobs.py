"""From a model or a program to a result, with progress on the way."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from isa.encoding import MAGIC, load_program
from isa.program import Program
from npu_sim.config import MachineConfig
from npu_sim.core.hooks import Hook
from npu_sim.events import Retire
from runtime.cli.failures import Failure
from runtime.cli.inputs import input_arrays
from runtime.cli.options import DEFAULT_INPUT, DEFAULT_PREFERENCE, RunOptions
from runtime.cli.progress import ProgressBar, Waiting
from runtime.compilation import Compilation
from runtime.devices.npu import NpuPrepared
from runtime.digits import digits_model
from runtime.inputs import InputSlot
from runtime.model import Model
from runtime.naming import input_names
from runtime.result import RunResult
from runtime.runner import compile_model, run_compilation, run_program
from runtime.tflite import load_tflite


class _ProgressHook(Hook):
    """Moves a bar by one for each instruction that retires."""

    def __init__(self, progress: ProgressBar) -> None:
        self._progress = progress

    def on_retire(self, retire: Retire) -> None:
        """Count an instruction."""
        self._progress.advance()


def load(path: Path | None) -> Model | Program:
    """The model in a .tflite file, the program in a .npu file, or without a path the embedded default."""
    if path is None:
        return digits_model()
    with path.open("rb") as file:
        is_program = path.suffix == ".npu" or file.read(len(MAGIC)) == MAGIC
    return load_program(path) if is_program else load_tflite(path)


def load_model(path: Path | None) -> Model:
    """As `load`, but only a model will do."""
    loaded = load(path)
    if isinstance(loaded, Program):
        raise Failure(f"{path}: is a compiled program; needed is a .tflite file")
    return loaded


def compiled(
    model: Model, config: MachineConfig, preference: str | None, numerics: str | None, *, keep_tensors: bool
) -> Compilation:
    """Compile a model; None stands for the defaults."""
    with Waiting("compiling"):
        return compile_model(
            model,
            machine=config,
            preference=preference or DEFAULT_PREFERENCE,
            numerics=numerics or "nnapi",
            keep_tensors=keep_tensors,
        )


def program_of(compilation: Compilation) -> Program:
    """The program that a compilation for the NPU made."""
    return cast(NpuPrepared, compilation.prepared).program


def execute(
    source: Model | Program, config: MachineConfig, options: RunOptions, hooks: Sequence[Hook]
) -> RunResult:
    """Run a model or a program once as the options say."""
    if isinstance(source, Program):
        return _execute_program(source, config, options, hooks)
    inputs = (
        None if options.timing_only else input_arrays(options.input_ or (DEFAULT_INPUT,), model_slots(source))
    )
    compilation = compiled(
        source, config, options.preference, options.numerics, keep_tensors=options.keep_tensors
    )
    with ProgressBar("simulating", len(program_of(compilation).instructions)) as progress:
        observers = [*hooks, *_progress_hooks(progress)]
        return run_compilation(compilation, inputs, timing_only=options.timing_only, hooks=observers)


def _execute_program(
    program: Program, config: MachineConfig, options: RunOptions, hooks: Sequence[Hook]
) -> RunResult:
    """Run a program, whose preference, numerics and kept tensors were decided when it was compiled."""
    if options.numerics is not None or options.keep_tensors:
        raise Failure("--numerics and --keep-tensors are decided when a program is compiled; give them there")
    made_for = program.notes.get("preference")
    if options.preference not in (None, made_for):
        raise Failure(f"the program was compiled for --preference {made_for}, not {options.preference}")
    inputs = (
        None
        if options.timing_only
        else input_arrays(options.input_ or (DEFAULT_INPUT,), program_slots(program))
    )
    with ProgressBar("simulating", len(program.instructions)) as progress:
        observers = [*hooks, *_progress_hooks(progress)]
        return run_program(program, inputs, machine=config, timing_only=options.timing_only, hooks=observers)


def model_slots(model: Model) -> list[InputSlot]:
    """What a model's inputs must be."""
    graph = model.graph
    types = [graph.operands[number].type for number in graph.inputs]
    names = input_names(graph)
    return [InputSlot(name, t.dtype, t.dimensions) for name, t in zip(names, types, strict=True)]


def program_slots(program: Program) -> list[InputSlot]:
    """What a program's inputs must be."""
    symbols = [symbol for symbol in program.symbols if symbol.role == "input"]
    return [InputSlot(symbol.name, np.dtype(symbol.dtype), symbol.shape) for symbol in symbols]


def _progress_hooks(progress: ProgressBar) -> list[Hook]:
    """A hook for a bar that can be seen; none otherwise, because hooks cost time."""
    return [_ProgressHook(progress)] if progress.is_wanted else []
