"""The devices by name. A device's own modules are loaded when it is asked for."""

import os
from collections.abc import Callable

from npu_sim.config import MachineConfig
from npu_sim.config_io import load_machine
from runtime.argument_checks import checked
from runtime.device import Device
from runtime.errors import BadDataError, translated

DEFAULT_MACHINE = "phone"

MachineSource = str | os.PathLike[str] | MachineConfig
"""The name of a preset, the path of a TOML file, or a machine."""


def device_names() -> list[str]:
    """Names that `get_device` knows."""
    return list(_FACTORIES)


def get_device(name: str, machine: MachineSource = DEFAULT_MACHINE) -> Device:
    """A device by name; only "npu" looks at the machine. BadDataError for an unknown name or machine."""
    if not isinstance(name, str) or name not in _FACTORIES:
        raise BadDataError(f"device is {name!r}, must be one of {', '.join(_FACTORIES)}")
    return _FACTORIES[name](machine)


def resolve_machine(machine: MachineSource) -> MachineConfig:
    """A machine from its preset name, the path of its TOML file, or itself.

    Raises BadDataError if it is wrong, UnexpectedNullError for None.
    """
    if isinstance(machine, MachineConfig):
        return machine
    allowed = "the name of a preset, the path of a TOML file or a MachineConfig"
    checked("machine", machine, (str, os.PathLike), allowed)
    with translated():
        return load_machine(os.fspath(machine))


def _npu(machine: MachineSource) -> Device:
    from runtime.devices.npu import NpuDevice

    return NpuDevice(resolve_machine(machine))


def _reference(machine: MachineSource) -> Device:
    from runtime.devices.reference import ReferenceDevice

    return ReferenceDevice()


_FACTORIES: dict[str, Callable[[MachineSource], Device]] = {"npu": _npu, "reference": _reference}
