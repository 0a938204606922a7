"""ANeuralNetworks_getDevice*, ANeuralNetworksDevice_*."""

import ctypes

from runtime.errors import BadDataError, BadStateError, UnexpectedNullError
from runtime.listed_device import ListedDevice
from runtime.nnapi import foreign_memory
from runtime.nnapi.state import State, implements


def chosen_devices(state: State, devices: int, count: int) -> list[ListedDevice]:
    """Devices from an array of handles; the first wrong one decides the error."""
    chosen: list[ListedDevice] = []
    for position, handle in enumerate(foreign_memory.addresses(devices, count)):
        if handle == 0:
            raise UnexpectedNullError(f"device {position} of {count} is NULL")
        try:
            device = state.handles.get("Device", handle)
        except BadStateError as error:
            raise BadDataError(f"device {position} of {count}: {error}") from error
        assert isinstance(device, ListedDevice)
        if device in chosen:
            raise BadDataError(f"device {device.name} is listed twice")
        chosen.append(device)
    return chosen


@implements("ANeuralNetworks_getDeviceCount")
def get_device_count(state: State, count: int) -> None:
    """Count the devices."""
    foreign_memory.write(count, ctypes.c_uint32, len(state.devices))


@implements("ANeuralNetworks_getDevice")
def get_device(state: State, index: int, device: int) -> None:
    """The handle of a device, the same every time."""
    if index >= len(state.devices):
        raise BadDataError(f"device {index} does not exist, must be 0 to {len(state.devices) - 1}")
    foreign_memory.write(device, ctypes.c_void_p, state.device_handles[index])


@implements("ANeuralNetworksDevice_getName")
def get_name(state: State, device: ListedDevice, name: int) -> None:
    """Name, for the life of the process."""
    foreign_memory.write(name, ctypes.c_void_p, foreign_memory.lasting_string(device.name))


@implements("ANeuralNetworksDevice_getVersion")
def get_version(state: State, device: ListedDevice, version: int) -> None:
    """Version, for the life of the process."""
    foreign_memory.write(version, ctypes.c_void_p, foreign_memory.lasting_string(device.version))


@implements("ANeuralNetworksDevice_getFeatureLevel")
def get_feature_level(state: State, device: ListedDevice, level: int) -> None:
    """API level of the newest feature."""
    foreign_memory.write(level, ctypes.c_int64, device.feature_level)


@implements("ANeuralNetworksDevice_getType")
def get_type(state: State, device: ListedDevice, type_: int) -> None:
    """Type of device."""
    foreign_memory.write(type_, ctypes.c_int32, int(device.type))


@implements("ANeuralNetworksDevice_getExtensionSupport")
def get_extension_support(state: State, device: ListedDevice, extension: int, supported: int) -> None:
    """Whether the device knows an extension."""
    name = foreign_memory.string(extension).decode(errors="replace")
    foreign_memory.write(supported, ctypes.c_bool, device.supports_extension(name))


@implements("ANeuralNetworksDevice_wait")
def wait(state: State, device: ListedDevice) -> None:
    """Wait until the device is idle."""
    device.wait()
