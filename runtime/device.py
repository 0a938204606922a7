"""What the runtime asks of a device."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy.typing as npt

from compiler.graph import Graph
from compiler.nnapi import Numerics, PreferenceCode
from compiler.options import TileLimits

if TYPE_CHECKING:
    from npu_sim.core.hooks import Hook
    from npu_sim.result import SimResult
    from runtime.program_cache import ProgramCache

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CompilationOptions:
    """What a compilation is told beside the model.

    `keep_tensors` keeps every operation's output: another program with other cycles, the same values. `cache`
    has programs from earlier, or None.
    """

    preference: PreferenceCode = PreferenceCode.FAST_SINGLE_ANSWER
    numerics: Numerics = Numerics.NNAPI
    keep_tensors: bool = False
    tile_limits: TileLimits = dataclasses.field(default_factory=TileLimits)
    cache: "ProgramCache | None" = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a prepared model is executed. Without `functional` nothing is computed, only timed."""

    functional: bool = True
    hooks: "Sequence[Hook]" = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """An operation of an NPU's model that runs on the host: its number, its layer in the result, and why."""

    operation: int
    layer: int
    op: str
    name: str
    reason: str

    @property
    def sentence(self) -> str:
        """The operation and the reason, for people."""
        name = f" “{self.name}”" if self.name else ""
        return f"{self.op} (operation {self.operation}{name}) runs on the host: {self.reason}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeviceResult:
    """What a device answers.

    `outputs` are in model order, `tensors` are the values of operands that were kept, by operand number;
    both are empty after a run that is not functional. `simulation` is None where nothing was simulated.
    `fallbacks` are the operations that the host of an NPU computed, in order of execution; `transfers`
    tensors of `transfer_bytes` together changed hands between the two.
    """

    outputs: tuple[Array, ...]
    tensors: dict[int, Array]
    simulation: "SimResult | None" = None
    fallbacks: tuple[Fallback, ...] = ()
    transfers: int = 0
    transfer_bytes: int = 0


class PreparedModel(Protocol):
    """A model made ready by a device; may be executed any number of times."""

    def execute(self, inputs: Sequence[Array], options: RunOptions) -> DeviceResult:
        """Run once. `inputs` are in model order, with the model's dtypes and shapes."""
        ...


class Device(Protocol):
    """Something that can run graphs."""

    @property
    def name(self) -> str:
        """How the registry and the reports name it."""
        ...

    def supported(self, graph: Graph, numerics: Numerics) -> tuple[bool, ...]:
        """For each operation of a graph, whether this device can run it."""
        ...

    def prepare(self, graph: Graph, options: CompilationOptions) -> PreparedModel:
        """Compile a checked graph whose types are all known; errors of the compiler pass through."""
        ...
