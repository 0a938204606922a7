"""From a model or a program to a result, with progress on the way."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from isa.encoding import MAGIC, load_program
from isa.program import Program
from npu_sim.config import MachineConfig
from npu_sim.core.hooks import Hook
from npu_sim.events import Retire
from runtime import runner
from runtime.cli.failures import Failure
from runtime.cli.inputs import input_arrays
from runtime.cli.options import DEFAULT_INPUT, DEFAULT_PREFERENCE, RunOptions
from runtime.cli.progress import ProgressBar, Waiting
from runtime.compilation import Compilation
from runtime.devices.npu_prepared import NpuPrepared
from runtime.digits import digits_model
from runtime.inputs import InputSlot, bind_inputs
from runtime.model import Model
from runtime.naming import input_slots
from runtime.result import RunResult
from runtime.runner import compile_model, run_compilation, run_program


class _ProgressHook(Hook):
    """Moves a bar by one for each instruction that retires."""

    def __init__(self, progress: ProgressBar) -> None:
        self._progress = progress

    def on_retire(self, retire: Retire) -> None:
        """Count an instruction."""
        self._progress.advance()


def load(path: Path | None, until: Sequence[str] = ()) -> Model | Program:
    """The model in a .tflite file, the program in a .npu file, or without a path the embedded default.

    With `until`, the part of a model that computes these tensors.
    """
    if path is None:
        return runner.load_model(digits_model(), until)
    with path.open("rb") as file:
        is_program = path.suffix == ".npu" or file.read(len(MAGIC)) == MAGIC
    if is_program and until:
        raise Failure(f"--until {until[0]}: {path} is a compiled program; only a model can be cut")
    return load_program(path) if is_program else runner.load_model(path, until)


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
    with ProgressBar("compiling layers", 1) as progress:
        return compile_model(
            model,
            progress=progress.show,
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
    slots = input_slots(source.graph)
    inputs = None
    if options.input_ or not options.timing_only or any(slot.is_open for slot in slots):
        inputs = bind_inputs(slots, input_arrays(options.input_ or (DEFAULT_INPUT,), slots))
    compilation = compiled(
        source, config, options.preference, options.numerics, keep_tensors=options.keep_tensors
    )
    with Waiting("compiling"):
        prepared = _prepared(compilation, inputs)
    with ProgressBar("simulating", prepared.instruction_count) as progress:
        observers = [*hooks, *_progress_hooks(progress)]
        return run_compilation(compilation, inputs, timing_only=options.timing_only, hooks=observers)


def _prepared(compilation: Compilation, inputs: Sequence[npt.NDArray[np.generic]] | None) -> NpuPrepared:
    """The model as it is prepared for these inputs; without any, for the shapes that it has itself."""
    if inputs is None:
        return cast(NpuPrepared, compilation.prepared)
    return cast(NpuPrepared, compilation.specialised([array.shape for array in inputs]).prepared)


def _execute_program(
    program: Program, config: MachineConfig, options: RunOptions, hooks: Sequence[Hook]
) -> RunResult:
    """Run a program, whose preference, numerics and kept tensors were decided when it was compiled."""
    if options.numerics is not None or options.keep_tensors:
        raise Failure("--numerics and --keep-tensors are decided when a program is compiled; give them there")
    made_for = program.notes.get("preference")
    if options.preference not in (None, made_for):
        raise Failure(f"the program was compiled for --preference {made_for}, not {options.preference}")
    inputs = None
    if options.input_ or not options.timing_only:
        slots = program_slots(program)
        inputs = bind_inputs(slots, input_arrays(options.input_ or (DEFAULT_INPUT,), slots))
    with ProgressBar("simulating", len(program.instructions)) as progress:
        observers = [*hooks, *_progress_hooks(progress)]
        return run_program(program, inputs, machine=config, timing_only=options.timing_only, hooks=observers)


def program_slots(program: Program) -> list[InputSlot]:
    """What a program's inputs must be."""
    symbols = [symbol for symbol in program.symbols if symbol.role == "input"]
    return [InputSlot(symbol.name, np.dtype(symbol.dtype), symbol.shape) for symbol in symbols]


def _progress_hooks(progress: ProgressBar) -> list[Hook]:
    """A hook for a bar that can be seen; none otherwise, because hooks cost time."""
    return [_ProgressHook(progress)] if progress.is_wanted else []
