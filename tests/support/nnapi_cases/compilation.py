"""Situations of devices, Compilation_* and Burst_free."""

import ctypes
from typing import Any

from compiler.nnapi import OperationCode
from tests.support.nnapi_cases.registry import situation, situations
from tests.support.nnapi_client import GARBAGE, Client

TOKEN = bytes(range(32))


def asked(client: Client, function: str, c_type: type[Any], *, device: bool = True, out: bool = True) -> int:
    """Result code of asking something of the first device."""
    handle = client.devices()[0] if device else None
    return client.call(function, handle, client.pointer(c_type()) if out else None)


situation("_getDeviceCount", "out pointer is NULL")(lambda c: c.call("_getDeviceCount", None))
situations(
    "_getDevice",
    {
        "index equal to the count": lambda c: c.refused("_getDevice", len(c.devices())),
        "index below the count": lambda c: [
            c.call("_getDevice", index, c.pointer(ctypes.c_void_p())) for index in range(len(c.devices()))
        ],
    },
)
for _name, _type in (
    ("Name", ctypes.c_char_p),
    ("Version", ctypes.c_char_p),
    ("Type", ctypes.c_int32),
    ("FeatureLevel", ctypes.c_int64),
):
    _function = f"Device_get{_name}"
    if _name != "FeatureLevel":
        situation(_function, "device is NULL")(
            lambda c, f=_function, t=_type: asked(c, f, t, device=False)  # type: ignore[misc]
        )
    situation(_function, "out pointer is NULL")(
        lambda c, f=_function, t=_type: asked(c, f, t, out=False)  # type: ignore[misc]
    )
    if _name != "Name":
        situation(_function, "valid")(lambda c, f=_function, t=_type: asked(c, f, t))  # type: ignore[misc]
situations(
    "Device_wait",
    {
        "device is NULL": lambda c: c.call("Device_wait", None),
        "valid, idle device": lambda c: [c.call("Device_wait", device) for device in c.devices()],
    },
)


def extension_support(client: Client, name: bytes | None, *, device: bool = True, out: bool = True) -> int:
    answer = ctypes.c_bool(True)
    code = client.call(
        "Device_getExtensionSupport",
        client.devices()[0] if device else None,
        name,
        client.pointer(answer) if out else None,
    )
    assert code or not answer.value
    return code


situations(
    "Device_getExtensionSupport",
    {
        "device is NULL": lambda c: extension_support(c, b"com.none", device=False),
        "name is NULL": lambda c: extension_support(c, None),
        "out pointer is NULL": lambda c: extension_support(c, b"com.none", out=False),
        "unknown name (result false)": lambda c: extension_support(c, b"com.none"),
    },
)


def compiled_many_times(client: Client) -> list[int]:
    model = client.add_model()
    compilations = [client.compilation(model, finished=False) for _ in range(3)]
    return [client.call("Compilation_finish", compilation) for compilation in compilations]


situations(
    "Compilation_create",
    {
        "model is NULL": lambda c: c.refused("Compilation_create", None),
        "out pointer is NULL": lambda c: c.call("Compilation_create", c.add_model(), None),
        "model not finished (out set to NULL)": lambda c: c.refused(
            "Compilation_create", c.add_model(finished=False)
        ),
        "several compilations of one model": compiled_many_times,
    },
)


def created(client: Client, devices: Any, model: int | None = -1, *, out: bool = True) -> int:
    """Result code of creating a compilation for devices that has to be refused."""
    model = client.add_model() if model == -1 else model
    listed = None if devices is None else client.handles(devices)
    arguments = ("Compilation_createForDevices", model, listed, 0 if devices is None else len(devices))
    return client.refused(*arguments) if out else client.call(*arguments, None)


situations(
    "Compilation_createForDevices",
    {
        "model is NULL": lambda c: created(c, c.devices(), None),
        "devices is NULL": lambda c: created(c, None),
        "out pointer is NULL": lambda c: created(c, c.devices(), out=False),
        "numDevices 0": lambda c: created(c, []),
        "a NULL entry in the list": lambda c: [
            created(c, [None]),
            created(c, [c.devices()[0], None]),
            created(c, [None, GARBAGE]),
        ],
        "model not finished": lambda c: created(c, c.devices(), c.add_model(finished=False)),
    },
)


def unfinished(client: Client, devices: int | None = None) -> int:
    """A compilation of the default model for the first so many devices; None: not listed."""
    chosen = None if devices is None else client.devices()[:devices]
    return client.compilation(devices=chosen, finished=False)


situation("Compilation_setPreference", "0, 1 or 2 before finish")(
    lambda c: [c.call("Compilation_setPreference", unfinished(c), value) for value in range(3)]
)
situations(
    "Compilation_setCaching",
    {
        "compilation is NULL": lambda c: c.call("Compilation_setCaching", None, b"/tmp", TOKEN),
        "cacheDir is NULL": lambda c: c.call("Compilation_setCaching", unfinished(c), None, TOKEN),
        "after finish": lambda c: c.call("Compilation_setCaching", c.compilation(), b"/tmp", TOKEN),
        "directory that does not exist": lambda c: cached(c, b"/does/not/exist"),
    },
)


def cached(client: Client, directory: bytes) -> list[int]:
    compilation = unfinished(client)
    return [
        client.call("Compilation_setCaching", compilation, directory, TOKEN),
        client.call("Compilation_finish", compilation),
    ]


def set_number(client: Client, function: str, compilation: int | None, *values: int) -> list[int]:
    return [client.call(function, compilation, value) for value in values]


_PRIORITY, _TIMEOUT = "Compilation_setPriority", "Compilation_setTimeout"
situations(
    _PRIORITY,
    {
        "compilation is NULL": lambda c: c.call(_PRIORITY, None, 100),
        "any value other than 90, 100, 110 (0, 89, 91, 99, 101, 109, 111)": lambda c: set_number(
            c, _PRIORITY, unfinished(c), 0, 89, 91, 99, 101, 109, 111
        ),
        "after finish": lambda c: c.call(_PRIORITY, c.compilation(), 100),
        "90, 100 or 110 before finish": lambda c: set_number(c, _PRIORITY, unfinished(c), 90, 100, 110),
    },
)


def limited(client: Client, duration: int, *, finish: bool = True) -> list[int]:
    """Result codes of limiting a compilation for one device, and of finishing it."""
    compilation = unfinished(client, 1)
    codes = [client.call(_TIMEOUT, compilation, duration)]
    return [*codes, client.call("Compilation_finish", compilation)] if finish else codes


situations(
    _TIMEOUT,
    {
        "compilation is NULL": lambda c: c.call(_TIMEOUT, None, 1),
        "compilation from Compilation_create": lambda c: c.call(_TIMEOUT, unfinished(c), 1),
        "createForDevices with two devices": lambda c: c.call(_TIMEOUT, unfinished(c, 2), 1),
        "createForDevices with one device": lambda c: limited(c, 1, finish=False),
        "after finish (whatever the device list)": lambda c: [
            c.call(_TIMEOUT, c.compilation(), 1),
            c.call(_TIMEOUT, c.compilation(devices=c.devices()[:1]), 1),
            c.call(_TIMEOUT, c.compilation(devices=c.devices()), 1),
        ],
        "UINT64_MAX, one device, then finish": lambda c: limited(c, 2**64 - 1),
        "duration 0 (removes the limit)": lambda c: limited(c, 0),
    },
)


def uncovered(client: Client) -> int:
    model = client.unary_model(OperationCode.ABS)
    compilation = client.compilation(model, client.devices(), finished=False)
    return client.call("Compilation_finish", compilation)


situations(
    "Compilation_finish",
    {
        "compilation is NULL": lambda c: c.call("Compilation_finish", None),
        "second call": lambda c: c.call("Compilation_finish", c.compilation()),
        "listed devices do not cover every operation (no CPU fallback)": uncovered,
        "1 ns timeout, one device": lambda c: limited(c, 1)[1],
        "second call after a failed first call": lambda c: c.call(
            "Compilation_finish", c.failed_compilation()
        ),
    },
)
situation("Burst_free", "NULL handle")(lambda c: c.free("Burst", None))
situations(
    "Execution_create",
    {
        "compilation is NULL": lambda c: c.refused("Execution_create", None),
        "out pointer is NULL": lambda c: c.call("Execution_create", c.compilation(), None),
        "compilation not finished (out set to NULL)": lambda c: [
            c.refused("Execution_create", unfinished(c)),
            c.refused("Execution_create", c.failed_compilation()),
        ],
    },
)
