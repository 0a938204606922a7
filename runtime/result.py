"""What a run returns: values, time, energy, and where both went."""

import dataclasses
import hashlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from npu_sim.result import LayerResult, SimResult
from runtime.device import Array

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 1
JOULES_PER_ATTOJOULE = 1e-18


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One inference on a simulated machine.

    `outputs` maps names to arrays in model order; `tensors` maps tensor numbers of the .tflite file (operand
    numbers for other models) to arrays, if they were kept; both are empty after a timing-only run.
    `simulation` has everything the simulator counted; its commonest numbers are properties here.
    `lb_peak_cycles` and `lb_mapped_cycles` are the compiler's lower bounds of `cycles`.
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
        """Joules of the NPU, its memories and leakage."""
        return self.simulation.energy_aj * JOULES_PER_ATTOJOULE

    @property
    def layers(self) -> tuple[LayerResult, ...]:
        """Layers in order of execution; their cycles and energies sum to the totals."""
        return self.simulation.layers

    def to_frame(self) -> "pd.DataFrame":
        """One row per layer; needs pandas."""
        import pandas as pd

        return pd.DataFrame([_layer_document(layer) for layer in self.layers]).set_index("index")

    def to_json_dict(self) -> dict[str, Any]:
        """The result as plain data for JSON: numbers and names, arrays as SHA-256 of their bytes."""
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
            "energy_breakdown": {
                component: energy_aj * JOULES_PER_ATTOJOULE
                for component, energy_aj in simulation.energy_breakdown_aj.items()
            },
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
            "layers": [_layer_document(layer) for layer in self.layers],
            "outputs": [
                {"name": name, "shape": list(array.shape), "dtype": array.dtype.name, "sha256": sha256(array)}
                for name, array in self.outputs.items()
            ],
        }
        if self.tensors:
            document["tensors"] = {str(number): sha256(array) for number, array in self.tensors.items()}
        return document


def _layer_document(layer: LayerResult) -> dict[str, Any]:
    return {
        "index": layer.index,
        "op": layer.op,
        "name": layer.name,
        "device": "npu",
        "unit": layer.unit,
        "cycles": layer.cycles,
        "macs": layer.macs,
        "utilization": layer.utilization,
        "bound_by": layer.bound_by.value,
        "energy_j": layer.energy_aj * JOULES_PER_ATTOJOULE,
    }


def sha256(array: Array) -> str:
    """Hex digest of an array's bytes, row-major."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def tool_version() -> str:
    """Version of the installed distribution."""
    return importlib.metadata.version("npu-sim")
