"""ANeuralNetworksCompilation: prepares a finished model for a device."""

from compiler.nnapi import Numerics, PreferenceCode
from compiler.options import TileLimits
from compiler.passes.legalise import legalise
from runtime.device import CompilationOptions, Device, PreparedModel
from runtime.device_registry import get_device
from runtime.errors import BadDataError, translated
from runtime.lifecycle import Phase, require
from runtime.model import Model


class Compilation:
    """A model on its way to a device; usable by executions once finished.

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
        self._phase = Phase.COMPILATION_CREATED
        self._prepared: PreparedModel | None = None

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
        )

    def set_preference(self, preference: PreferenceCode | int) -> None:
        """Say what to optimise for; BadDataError for an unknown code."""
        require("Compilation.set_preference", self._phase)
        if preference not in tuple(PreferenceCode):
            allowed = ", ".join(f"{code.value} ({code.name})" for code in PreferenceCode)
            raise BadDataError(
                f"Compilation.set_preference: preference is {preference}, must be one of {allowed}"
            )
        self._preference = PreferenceCode(preference)

    def finish(self) -> None:
        """Check every operation, infer all types, and compile.

        Raises BadDataError or OpFailedError if the model breaks a rule, UnsupportedModelError if it asks for
        something that is not implemented. `graph` then has every type.
        """
        require("Compilation.finish", self._phase)
        self._phase = Phase.COMPILATION_FAILED
        with translated():
            self.graph = legalise(self.model.graph, self._numerics)
            self._prepared = self.device.prepare(self.graph, self.options)
        self._phase = Phase.COMPILATION_FINISHED

    @property
    def prepared(self) -> PreparedModel:
        """What the device made of the model; BadStateError before `finish`."""
        require("Compilation.prepared", self._phase)
        assert self._prepared is not None
        return self._prepared
