"""The devices that NNAPI lists: what clients see of a device, and what a set of them can run."""

import dataclasses

from compiler.graph import Graph
from compiler.nnapi import DeviceTypeCode, Numerics
from compiler.operation import REGISTRY
from npu_sim.config import MachineConfig
from runtime.device import CompilationOptions, Device, PreparedModel
from runtime.device_clock import DeviceClock
from runtime.device_registry import get_device, resolve_machine
from runtime.devices.npu_prepared import NpuPrepared
from runtime.devices.support import Refusal, no_refusal, supported_operations
from runtime.errors import BadDataError, ResourceExhaustedError
from runtime.extensions import OPAQUE, Extension
from runtime.result import tool_version

FEATURE_LEVEL = 30
"""API level of the newest feature that the devices have."""

PS_PER_US = 10**6


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListedDevice:
    """A device in NNAPI's list. `clock` is its simulated time; None: it has none, and is not shared."""

    name: str
    version: str
    type: DeviceTypeCode
    device: Device
    refusal: Refusal = no_refusal
    clock: DeviceClock | None = None
    extensions: tuple[Extension, ...] = ()
    feature_level: int = FEATURE_LEVEL

    def supports_extension(self, name: str) -> bool:
        """True if the device knows an extension."""
        return name in (extension.name for extension in self.extensions)

    def wait(self) -> None:
        """Wait until the device is idle."""
        if self.clock is not None:
            self.clock.wait_until_idle()


@dataclasses.dataclass(frozen=True, slots=True)
class DeviceSet:
    """Devices that work on a model together. `is_explicit` says that the caller listed them.

    Raises BadDataError if there is none or one twice.
    """

    devices: tuple[ListedDevice, ...]
    is_explicit: bool

    def __post_init__(self) -> None:
        if not self.devices:
            raise BadDataError("0 devices are listed, must be at least 1")
        for position, device in enumerate(self.devices):
            if device in self.devices[:position]:
                raise BadDataError(f"device {device.name} is listed twice")

    @property
    def name(self) -> str:
        """All names."""
        return ", ".join(device.name for device in self.devices)

    @property
    def is_single(self) -> bool:
        """True for one device that the caller listed: only then there are timeouts and measured time."""
        return self.is_explicit and len(self.devices) == 1

    @property
    def clock(self) -> DeviceClock | None:
        """Simulated time of the device that runs models; None if that has none."""
        return self._leader.clock

    def supported(self, graph: Graph, numerics: Numerics) -> tuple[bool, ...]:
        """For each operation, whether one of the devices can run it."""
        answers = [supported_operations(graph, numerics, device.refusal) for device in self.devices]
        return tuple(any(answer) for answer in zip(*answers, strict=True))

    def check_covers(self, graph: Graph, numerics: Numerics) -> None:
        """Refuse a graph with an operation that none of the devices can run (BadDataError)."""
        for number, is_supported in enumerate(self.supported(graph, numerics)):
            if not is_supported:
                code = graph.operations[number].code
                raise BadDataError(f"{code.name} (operation {number}) cannot run on {self.name}")

    def prepare(self, graph: Graph, options: CompilationOptions) -> PreparedModel:
        """Prepare for the NPU if there is one, with the CPU's help only if that is in the set too."""
        prepared = self._leader.device.prepare(graph, options)
        has_cpu = any(device.type is DeviceTypeCode.CPU for device in self.devices)
        if isinstance(prepared, NpuPrepared) and prepared.fallbacks and not has_cpu:
            raise ResourceExhaustedError("; ".join(fallback.sentence for fallback in prepared.fallbacks))
        return prepared

    @property
    def _leader(self) -> ListedDevice:
        accelerators = (device for device in self.devices if device.type is DeviceTypeCode.ACCELERATOR)
        return next(accelerators, self.devices[0])


def list_devices(machine: str | MachineConfig) -> tuple[ListedDevice, ...]:
    """The NPU of a machine and the reference CPU, in that order; BadDataError for an unknown machine."""
    config = resolve_machine(machine)
    npu = ListedDevice(
        name=f"npu-sim-{config.name}",
        version=f"{tool_version()}+{config.hash[:12]}",
        type=DeviceTypeCode.ACCELERATOR,
        device=get_device("npu", config),
        refusal=_npu_refusal(config),
        clock=DeviceClock(round(config.host.dispatch_latency_us * PS_PER_US)),
        extensions=(OPAQUE,),
    )
    cpu = ListedDevice(
        name="nnapi-reference",
        version=tool_version(),
        type=DeviceTypeCode.CPU,
        device=get_device("reference"),
    )
    return npu, cpu


def _npu_refusal(config: MachineConfig) -> Refusal:
    return lambda view: REGISTRY[view.operation.code].npu_refusal(view, config.target)
