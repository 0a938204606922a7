"""The C text of the library and of its headers, from the list of declarations."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from compiler.nnapi import (
    CACHE_TOKEN_BYTES,
    MAX_IMMEDIATE_VALUE_BYTES,
    DeviceTypeCode,
    DurationCode,
    FuseCode,
    OperandCode,
    OperationCode,
    PaddingCode,
    PreferenceCode,
    PriorityCode,
    ResultCode,
)
from runtime.nnapi.declarations import ANDROID_SDK_VERSION, FUNCTIONS, Argument, Function

_HERE = Path(__file__).parent
_ENUMERATIONS = {
    OperandCode: "",
    OperationCode: "",
    FuseCode: "FUSED_",
    PaddingCode: "PADDING_",
    PreferenceCode: "PREFER_",
    DeviceTypeCode: "DEVICE_",
    ResultCode: "",
    DurationCode: "DURATION_",
    PriorityCode: "PRIORITY_",
}
"""NNAPI's enumerations, and what their constants have between ANEURALNETWORKS_ and the name here."""

_OBJECTS = ("Memory", "Model", "Compilation", "Execution", "Event", "Device", "Burst", "MemoryDesc")

_STRUCTURES = """\
typedef int32_t ANeuralNetworksOperationType;

typedef struct ANeuralNetworksOperandType {
    int32_t type;
    uint32_t dimensionCount;
    const uint32_t* dimensions;
    float scale;
    int32_t zeroPoint;
} ANeuralNetworksOperandType;

typedef struct ANeuralNetworksSymmPerChannelQuantParams {
    uint32_t channelDim;
    uint32_t scaleCount;
    const float* scales;
} ANeuralNetworksSymmPerChannelQuantParams;

typedef struct AHardwareBuffer AHardwareBuffer;
"""

_SYSTEM_HEADERS = (
    "dlfcn",
    "pthread",
    "stdatomic",
    "stdbool",
    "stdint",
    "stdio",
    "stdlib",
    "string",
    "wchar",
)

_ANSWERS_WITHOUT_TABLE = {"int": str(ResultCode.OP_FAILED.value), "uint64_t": "0"}
_NO_DESCRIPTOR = "-1"


class Interpreter(NamedTuple):
    """The Python that the library starts, and where the project and its dependencies are.

    `library` is the path of libpython and empty if there is none, `library_name` the name it is loaded under.
    """

    executable: str
    library: str
    library_name: str
    folder: str
    dependencies: Sequence[str]


def fingerprint() -> str:
    """A hash of all functions: a library and the Python code that fills its table must have the same."""
    return hashlib.sha256("\n".join(function.prototype for function in FUNCTIONS).encode()).hexdigest()


def header() -> str:
    """NeuralNetworks.h: types, constants and the functions of NNAPI."""
    functions = [function for function in FUNCTIONS if function.name.startswith("ANeuralNetworks")]
    return _header("ANDROID_NEURAL_NETWORKS_H", ("stdbool", "stddef", "stdint"), _types(), functions)


def shared_memory_header() -> str:
    """sharedmem.h: the functions that NNAPI's clients use beside it."""
    functions = [function for function in FUNCTIONS if not function.name.startswith("ANeuralNetworks")]
    return _header("ANDROID_SHARED_MEMORY_H", ("stddef",), "", functions)


def library_source(interpreter: Interpreter) -> str:
    """All of libneuralnetworks.so, as one file of C."""
    parts = [
        "#define _GNU_SOURCE\n",
        _includes(_SYSTEM_HEADERS),
        _types(),
        _table(),
        _constants(interpreter),
        (_HERE / "bridge.c").read_text(),
        *map(_definition, FUNCTIONS),
    ]
    return "\n".join(parts)


def _header(guard: str, headers: Sequence[str], types: str, functions: Iterable[Function]) -> str:
    prototypes = "".join(f"{function.prototype};\n" for function in functions)
    return f"""\
/* Functions up to API level {ANDROID_SDK_VERSION}. */
#ifndef {guard}
#define {guard}

{_includes(headers)}
#ifdef __cplusplus
extern "C" {{
#endif

{types}
{prototypes}
#ifdef __cplusplus
}}
#endif

#endif
"""


def _includes(names: Iterable[str]) -> str:
    return "".join(f"#include <{name}.h>\n" for name in names)


def _types() -> str:
    objects = (f"typedef struct ANeuralNetworks{name} ANeuralNetworks{name};\n" for name in _OBJECTS)
    sizes = (
        "enum {\n"
        f"    ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES = {MAX_IMMEDIATE_VALUE_BYTES},\n"
        f"    ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN = {CACHE_TOKEN_BYTES},\n"
        f"    ANEURALNETWORKS_PRIORITY_DEFAULT = {PriorityCode.MEDIUM.value}\n"
        "};\n"
    )
    enumerations = (
        f"typedef enum {{\n{_constant_list(cls, prefix)}\n}} {cls.__name__};\n"
        for cls, prefix in _ENUMERATIONS.items()
    )
    return "\n".join([*enumerations, sizes, "".join(objects), _STRUCTURES])


def _constant_list(cls: type, prefix: str) -> str:
    return ",\n".join(
        f"    ANEURALNETWORKS_{prefix}{member.name} = {member.value}"
        for member in cls  # type: ignore[attr-defined]
    )


def _table() -> str:
    """The table that Python fills, entry by entry of one pointer's size; see `callbacks.fill`."""
    pointers = "".join(f"    {_pointer(function)};\n" for function in FUNCTIONS)
    return f"struct functions {{\n    uintptr_t is_complete;\n    void (*at_exit)(void);\n{pointers}}};\n"


def _pointer(function: Function) -> str:
    arguments = ", ".join(argument.c_type for argument in function.arguments) or "void"
    return f"{function.return_type} (*{function.name})({arguments})"


def _constants(interpreter: Interpreter) -> str:
    call = f"boot({interpreter.folder!r}, {list(interpreter.dependencies)!r}, {fingerprint()!r}, "
    code = (_HERE / "bootstrap.py").read_text() + f"\n{call}table, is_own_interpreter)\n"
    return (
        f"#define EXECUTABLE {_literal(interpreter.executable)}\n"
        f"#define LIBPYTHON {_literal(interpreter.library)}\n"
        f"#define LIBPYTHON_NAME {_literal(interpreter.library_name)}\n"
        f"static const char START_CODE[] = {_literal(ascii(code))};\n"
    )


def _literal(text: str) -> str:
    """A C string; what is not ASCII as octal bytes of UTF-8."""
    if text.isascii():
        return json.dumps(text)
    return '"' + "".join(f"\\{byte:03o}" for byte in text.encode("utf-8", "surrogateescape")) + '"'


def _definition(function: Function) -> str:
    """An exported function: its entry of the table, or a failure if there is no table."""
    arguments = ", ".join(argument.name for argument in function.arguments)
    call = f"table.{function.name}({arguments});"
    if function.return_type == "void":
        body = f"    if (is_ready())\n        {call}\n"
    else:
        answer = _ANSWERS_WITHOUT_TABLE[function.return_type]
        if not function.name.startswith("ANeuralNetworks"):
            answer = _NO_DESCRIPTOR
        results = "".join(map(_failed_result, function.arguments))
        body = f"    if (is_ready())\n        return {call}\n{results}    return {answer};\n"
    return f'__attribute__((visibility("default")))\n{function.prototype}\n{{\n{body}}}\n'


def _failed_result(argument: Argument) -> str:
    """What a failed call leaves where its result would go."""
    if argument.on_failure is None:
        return ""
    target = argument.c_type.removesuffix("*")
    value = "NULL" if target.endswith("*") else f"({target}){argument.on_failure & (2**64 - 1)}u"
    return f"    if ({argument.name} != NULL)\n        *{argument.name} = {value};\n"
