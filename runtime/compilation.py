"""ANeuralNetworksCompilation: prepares a finished model for a device."""

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from compiler.graph import Graph
from compiler.nnapi import CACHE_TOKEN_BYTES, Numerics, PreferenceCode, PriorityCode
from compiler.options import TileLimits
from compiler.passes.legalise import legalise
from compiler.specialise import InputShape, legalise_known, specialise, unspecified_inputs
from runtime.device import CompilationOptions, Device, PreparedModel
from runtime.device_clock import DeviceClock
from runtime.device_registry import get_device
from runtime.errors import BadDataError, MissedDeadlinePersistentError, placed, translated
from runtime.graph_builder import describe
from runtime.lifecycle import Phase, require
from runtime.listed_device import DeviceSet, ListedDevice
from runtime.model import Model
from runtime.program_cache import ProgramCache


class Specialised(NamedTuple):
    """A model for inputs of certain shapes: its graph with every type, and what the device made of it."""

    graph: Graph
    prepared: PreparedModel


class Compilation:
    """A model on its way to a device; usable by executions once finished.

    A model whose inputs all have known sizes is compiled in `finish`; one that leaves dimensions open is
    compiled when it is executed, once for each combination of shapes.

    Without a device it is for the NPU of the default machine. `numerics`, `keep_tensors` and `tile_limits`
    go beyond NNAPI; see `CompilationOptions`.
    """

    def __init__(
        self,
        model: Model,
        device: Device | None = None,
        *,
        numerics: Numerics = Numerics.NNAPI,
        keep_tensors: bool = False,
        tile_limits: TileLimits | None = None,
    ) -> None:
        require("Compilation", model.phase)
        self.model = model
        self.device = get_device("npu") if device is None else device
        self.graph = model.graph
        self._numerics = numerics
        self._keep_tensors = keep_tensors
        self._tile_limits = tile_limits or TileLimits()
        self._preference = PreferenceCode.FAST_SINGLE_ANSWER
        self._priority = PriorityCode.MEDIUM
        self._timeout_ns = 0
        self._cache: ProgramCache | None = None
        self._phase = Phase.COMPILATION_CREATED
        self._specialised: dict[tuple[InputShape, ...], Specialised] = {}
        self._compiling = threading.Lock()

    @classmethod
    def create_for_devices(cls, model: Model, devices: Sequence[ListedDevice]) -> "Compilation":
        """A compilation for these devices and no other.

        Raises BadDataError for none or one that is listed twice, BadStateError if the model is not finished.
        """
        with placed("Compilation.create_for_devices"):
            chosen = DeviceSet(tuple(devices), is_explicit=True)
        return cls(model, chosen)

    @property
    def phase(self) -> Phase:
        """Where the compilation is in its life."""
        return self._phase

    @property
    def options(self) -> CompilationOptions:
        """What the device is told."""
        return CompilationOptions(
            preference=self._preference,
            numerics=self._numerics,
            keep_tensors=self._keep_tensors,
            tile_limits=self._tile_limits,
            cache=self._cache,
        )

    @property
    def priority(self) -> PriorityCode:
        """How urgent executions are among those that wait for the same device."""
        return self._priority

    @property
    def clock(self) -> DeviceClock | None:
        """Simulated time of the device that executions share; None if they share none."""
        return self.device.clock if isinstance(self.device, DeviceSet) else None

    def require_single_device(self, call: str) -> None:
        """Refuse a call that needs a compilation for one listed device (BadDataError)."""
        if not (isinstance(self.device, DeviceSet) and self.device.is_single):
            raise BadDataError(f"{call}: the compilation must be created for one listed device")

    def set_preference(self, preference: PreferenceCode | int) -> None:
        """Say what to optimise for; BadDataError for an unknown code."""
        require("Compilation.set_preference", self._phase)
        if preference not in tuple(PreferenceCode):
            allowed = ", ".join(f"{code.value} ({code.name})" for code in PreferenceCode)
            raise BadDataError(
                f"Compilation.set_preference: preference is {preference}, must be one of {allowed}"
            )
        self._preference = PreferenceCode(preference)

    def set_caching(self, cache_dir: str | os.PathLike[str], token: bytes) -> None:
        """Keep compiled programs in a directory under a token of 32 bytes; see `program_cache`.

        A directory that cannot be used does no harm. Raises BadDataError for a token of another length.
        """
        call = "Compilation.set_caching"
        require(call, self._phase)
        if len(token) != CACHE_TOKEN_BYTES:
            raise BadDataError(f"{call}: the token has {len(token)} bytes, must have {CACHE_TOKEN_BYTES}")
        self._cache = ProgramCache(Path(cache_dir), bytes(token))

    def set_priority(self, priority: PriorityCode | int) -> None:
        """Say how urgent executions are; BadDataError for an unknown code."""
        call = "Compilation.set_priority"
        require(call, self._phase)
        if priority not in tuple(PriorityCode):
            allowed = ", ".join(f"{code.value} ({code.name})" for code in PriorityCode)
            raise BadDataError(f"{call}: priority is {priority}, must be one of {allowed}")
        self._priority = PriorityCode(priority)

    def set_timeout(self, duration_ns: int) -> None:
        """Limit the host's time for `finish`; 0: no limit.

        Raises BadDataError unless the compilation is for one listed device.
        """
        call = "Compilation.set_timeout"
        require(call, self._phase)
        self.require_single_device(call)
        self._timeout_ns = duration_ns

    def finish(self) -> None:
        """Check every operation, infer all types, and compile.

        Raises BadDataError or OpFailedError if the model breaks a rule, or the listed devices cannot run it,
        UnsupportedModelError if it asks for something that is not implemented, MissedDeadlinePersistentError
        if it takes longer than the time limit. `graph` then has every type that does not depend on an input
        of unknown size; the operations that do are checked when the size is given.
        """
        with self._compiling:
            require("Compilation.finish", self._phase)
            self._phase = Phase.COMPILATION_FAILED
        since_ns = time.monotonic_ns()
        with translated(), placed("Compilation.finish"):
            if isinstance(self.device, DeviceSet) and self.device.is_explicit:
                self.device.check_covers(self.model.graph, self._numerics)
        with translated():
            if unspecified_inputs(self.graph):
                self.graph = legalise_known(self.graph, self._numerics)
            else:
                self.graph = self._specialise(self._declared_shapes).graph
        if 0 < self._timeout_ns < time.monotonic_ns() - since_ns:
            raise MissedDeadlinePersistentError(
                f"Compilation.finish: it took longer than the limit of {self._timeout_ns} ns"
            )
        self._phase = Phase.COMPILATION_FINISHED

    @property
    def prepared(self) -> PreparedModel:
        """What the device made of the model; BadStateError before `finish`.

        Raises BadDataError if an input has no known size: see `specialised`.
        """
        require("Compilation.prepared", self._phase)
        for position in unspecified_inputs(self.graph):
            number = self.graph.inputs[position]
            raise BadDataError(
                f"Compilation.prepared: input {position} ({describe(self.graph.operands, number)}) has"
                f" dimensions {list(self.graph.operands[number].type.dimensions)}; the model is compiled when"
                " all are known"
            )
        return self.specialised(self._declared_shapes).prepared

    def specialised(self, shapes: Sequence[InputShape]) -> Specialised:
        """The model for inputs of these shapes, in order; None leaves an optional input out.

        Compiled when it is first asked for. Raises as `finish` does.
        """
        require("Compilation.specialised", self._phase)
        with translated():
            return self._specialise(tuple(shapes))

    def _specialise(self, shapes: tuple[InputShape, ...]) -> Specialised:
        with self._compiling:
            if shapes not in self._specialised:
                graph = legalise(specialise(self.model.graph, shapes), self._numerics)
                self._specialised[shapes] = Specialised(graph, self.device.prepare(graph, self.options))
            return self._specialised[shapes]

    @property
    def _declared_shapes(self) -> tuple[InputShape, ...]:
        return tuple(self.graph.operands[number].type.dimensions for number in self.graph.inputs)
