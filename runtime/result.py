"""What a run returns: values, time, energy, and where both went."""

import dataclasses
import hashlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from npu_sim.result import LayerResult, SimResult
from runtime.device import Array, Fallback
from runtime.errors import MissingPackageError

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 1
JOULES_PER_ATTOJOULE = 1e-18


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One inference on a simulated machine and its host.

    `outputs` maps names to arrays in model order; `tensors` maps tensor numbers of the .tflite file (operand
    numbers for other models) to arrays, if they were kept; both are empty after a timing-only run.
    `simulation` has everything the simulator counted; its commonest numbers are properties here.
    `lb_peak_cycles` and `lb_mapped_cycles` are the compiler's lower bounds of `cycles`, the host's cycles
    included. `fallbacks` are the operations that the host computed, in order of execution, and why;
    `transfers` tensors of `transfer_bytes` together changed hands between NPU and host.
    """

    model: str
    machine: str
    machine_hash: str
    preference: str
    numerics: str
    lb_peak_cycles: int
    lb_mapped_cycles: int
    outputs: dict[str, Array]
    tensors: dict[int, Array]
    simulation: SimResult
    fallbacks: tuple[Fallback, ...] = ()
    transfers: int = 0
    transfer_bytes: int = 0

    @property
    def cycles(self) -> int:
        """NPU clock cycles from start to the completion of the last store."""
        return self.simulation.cycles

    @property
    def latency_s(self) -> float:
        """Seconds of simulated time."""
        return self.simulation.latency_s

    @property
    def energy_j(self) -> float:
        """Joules of the NPU, its memories and leakage, and of the host while it works for the model."""
        return self.simulation.energy_aj * JOULES_PER_ATTOJOULE

    @property
    def layers(self) -> tuple[LayerResult, ...]:
        """Layers in order of execution; their cycles and energies sum to the totals."""
        return self.simulation.layers

    def to_frame(self) -> "pd.DataFrame":
        """One row per layer. Raises MissingPackageError without pandas (extra `notebooks`)."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingPackageError(
                f"RunResult.to_frame needs the package pandas, which cannot be imported ({error}); it comes"
                " with the extra notebooks of npu-sim: pip install '.[notebooks]' in the project's folder"
            ) from error

        return pd.DataFrame(self._layer_documents()).set_index("index")

    def to_json_dict(self) -> dict[str, Any]:
        """The result as plain data for JSON: numbers and names, arrays as SHA-256 of their bytes.

        Energies are there twice: `…_j` in joules, rounded as floats are, and `…_aj` in attojoules, integers
        whose sums over layers and over components equal the total exactly.
        """
        simulation = self.simulation
        document: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "tool_version": tool_version(),
            "machine": self.machine,
            "machine_hash": self.machine_hash,
            "model": self.model,
            "preference": self.preference,
            "numerics": self.numerics,
            "cycles": simulation.cycles,
            "frequency_hz": simulation.frequency_hz,
            "voltage_v": simulation.voltage_v,
            "latency_s": simulation.latency_s,
            "energy_j": self.energy_j,
            "energy_aj": simulation.energy_aj,
            "energy_breakdown": {
                component: energy_aj * JOULES_PER_ATTOJOULE
                for component, energy_aj in simulation.energy_breakdown_aj.items()
            },
            "energy_breakdown_aj": dict(simulation.energy_breakdown_aj),
            "dram_bytes_read": simulation.dram_bytes_read,
            "dram_bytes_written": simulation.dram_bytes_written,
            "sram_peak_bytes": simulation.sram_peak_bytes,
            "lb_peak_cycles": self.lb_peak_cycles,
            "lb_mapped_cycles": self.lb_mapped_cycles,
            "matrix_cycles": simulation.matrix_cycles,
            "units": {
                name: {
                    "busy": unit.busy,
                    "stalls": {reason.value: cycles for reason, cycles in unit.stalls.items()},
                    "idle": unit.idle,
                }
                for name, unit in simulation.units.items()
            },
            "layers": self._layer_documents(),
            "fallbacks": [
                {"operation": f.operation, "op": f.op, "name": f.name, "reason": f.reason}
                for f in self.fallbacks
            ],
            "transfers": {"tensors": self.transfers, "bytes": self.transfer_bytes},
            "outputs": [
                {"name": name, "shape": list(array.shape), "dtype": array.dtype.name, "sha256": sha256(array)}
                for name, array in self.outputs.items()
            ],
        }
        if self.tensors:
            document["tensors"] = {str(number): sha256(array) for number, array in self.tensors.items()}
        return document

    def _layer_documents(self) -> list[dict[str, Any]]:
        """Every layer as plain data."""
        reasons = {fallback.layer: fallback.reason for fallback in self.fallbacks}
        return [_layer_document(layer, reasons.get(layer.index)) for layer in self.layers]


def _layer_document(layer: LayerResult, fallback_reason: str | None) -> dict[str, Any]:
    return {
        "index": layer.index,
        "op": layer.op,
        "name": layer.name,
        "device": "npu" if fallback_reason is None else "host",
        "unit": layer.unit,
        "cycles": layer.cycles,
        "macs": layer.macs,
        "utilization": layer.utilization,
        "bound_by": layer.bound_by.value,
        "energy_j": layer.energy_aj * JOULES_PER_ATTOJOULE,
        "energy_aj": layer.energy_aj,
        "fallback_reason": fallback_reason,
    }


def sha256(array: Array) -> str:
    """Hex digest of an array's bytes, row-major."""
    return hashlib.sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data).hexdigest()


def tool_version() -> str:
    """Version of the installed distribution."""
    return importlib.metadata.version("npu-sim")
