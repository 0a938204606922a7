"""The devices by name. A device's own modules are loaded when it is asked for."""

from collections.abc import Callable

from npu_sim.config import MachineConfig
from npu_sim.config_io import load_machine
from runtime.device import Device
from runtime.errors import BadDataError, translated

DEFAULT_MACHINE = "phone"


def device_names() -> list[str]:
    """Names that `get_device` knows."""
    return list(_FACTORIES)


def get_device(name: str, machine: str | MachineConfig = DEFAULT_MACHINE) -> Device:
    """A device by name; only "npu" looks at the machine. BadDataError for an unknown name or machine."""
    if name not in _FACTORIES:
        raise BadDataError(f"device is {name!r}, must be one of {', '.join(_FACTORIES)}")
    return _FACTORIES[name](machine)


def resolve_machine(machine: str | MachineConfig) -> MachineConfig:
    """A machine from its preset name, the path of its TOML file, or itself; BadDataError if it is wrong."""
    if isinstance(machine, MachineConfig):
        return machine
    with translated():
        return load_machine(machine)


def _npu(machine: str | MachineConfig) -> Device:
    from runtime.devices.npu import NpuDevice

    return NpuDevice(resolve_machine(machine))


def _reference(machine: str | MachineConfig) -> Device:
    from runtime.devices.reference import ReferenceDevice

    return ReferenceDevice()


_FACTORIES: dict[str, Callable[[str | MachineConfig], Device]] = {"npu": _npu, "reference": _reference}
