"""Options that several commands share, and the values they stand for."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runtime.cli.parameters import STDOUT, FilePath, OutputPath

if TYPE_CHECKING:
    from npu_sim.config import MachineConfig

DEFAULT_MACHINE = "phone"
DEFAULT_PREFERENCE = "fast_single_answer"
DEFAULT_INPUT = "random"
PREFERENCES = ("low_power", "fast_single_answer", "sustained_speed")
NUMERICS = ("nnapi", "nnapi27")

Command = Callable[..., None]

MODEL_FILE = FilePath(exists=True, dir_okay=False, path_type=Path)
OUTPUT_FILE = OutputPath()
JSON_FILE = FilePath(path_type=Path, allow_dash=True)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What the options of `run_options` say; paths are None where the option is not given."""

    machine: str
    set_: tuple[str, ...]
    preference: str | None
    input_: tuple[str, ...]
    numerics: str | None
    timing_only: bool
    keep_tensors: bool
    json: Path | None
    trace: Path | None
    output: Path | None

    @property
    def asks_for_one_run(self) -> bool:
        """True if an option makes sense for a single run only."""
        asked = (
            self.preference,
            self.input_,
            self.numerics,
            self.timing_only,
            self.keep_tensors,
            self.json,
            self.trace,
            self.output,
        )
        return any(asked)

    @property
    def json_to_stdout(self) -> bool:
        """True if standard output belongs to the JSON document."""
        return self.json == STDOUT

    @property
    def machine_file(self) -> Path | None:
        """The machine's file, if it is no preset."""
        return Path(self.machine) if self.machine.endswith(".toml") else None

    def machine_config(self) -> "MachineConfig":
        """The machine, overrides included; ConfigError if it makes no sense."""
        return machine_config(self.machine, self.set_)


def machine_config(name_or_path: str, overrides: tuple[str, ...]) -> "MachineConfig":
    """Load a machine and apply `path=value` overrides."""
    from npu_sim.config_io import load_machine, override

    return override(load_machine(name_or_path), list(overrides))


def set_option(command: Command) -> Command:
    """--set PATH=VALUE, repeatable."""
    return click.option(
        "--set",
        "set_",
        metavar="PATH=VALUE",
        multiple=True,
        help="Override one field of the machine, such as sram.kib=512; repeatable. "
        "`npu-sim machines NAME --toml` shows all fields.",
    )(command)


def machine_options(command: Command) -> Command:
    """--machine and --set."""
    return click.option(
        "--machine",
        metavar="NAME|FILE.toml",
        default=DEFAULT_MACHINE,
        show_default=True,
        help="A preset (`npu-sim machines` lists them) or a file in the same format.",
    )(set_option(command))


def preference_option(command: Command) -> Command:
    """--preference."""
    return click.option(
        "--preference",
        type=click.Choice(PREFERENCES, case_sensitive=False),
        help="What to optimise for: decides the operating point and what the compiler minimises. "
        f"[default: {DEFAULT_PREFERENCE}]",
    )(command)


def numerics_option(command: Command) -> Command:
    """--numerics."""
    return click.option(
        "--numerics",
        type=click.Choice(NUMERICS),
        help="Rules of NNAPI level 29 and later (nnapi, the default) or of level 27 (nnapi27, refuses more).",
    )(command)


def keep_tensors_option(command: Command) -> Command:
    """--keep-tensors."""
    return click.option(
        "--keep-tensors",
        is_flag=True,
        help="Store every operation's output in DRAM, fuse nothing: another program with other cycles.",
    )(command)


def json_option(command: Command) -> Command:
    """--json FILE|-."""
    return click.option(
        "--json",
        type=JSON_FILE,
        metavar="FILE|-",
        help="Write the result as JSON to a file, or to standard output and nothing else there.",
    )(command)


def run_options(command: Command) -> Command:
    """All options of a run; the command receives them by the names of `RunOptions`."""
    single: tuple[Callable[[Command], Command], ...] = (
        machine_options,
        preference_option,
        click.option(
            "--input",
            "input_",
            metavar="random|gradient|FILE.npy",
            multiple=True,
            help="Values of the inputs: one word for all of them, or one value per input, in order. "
            f"[default: {DEFAULT_INPUT}]",
        ),
        numerics_option,
        click.option("--timing-only", is_flag=True, help="Time and energy without values; faster."),
        keep_tensors_option,
        json_option,
        click.option(
            "--trace",
            type=OUTPUT_FILE,
            metavar="FILE",
            help="Write a timeline that https://ui.perfetto.dev opens.",
        ),
        click.option(
            "--output", type=OUTPUT_FILE, metavar="FILE.npz", help="Write the output arrays, by name."
        ),
    )
    for option in reversed(single):
        command = option(command)
    return command
