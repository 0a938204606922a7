"""Situations of Memory_* and MemoryDesc_*."""

import ctypes
import os
from typing import Any

from compiler.nnapi import OperationCode, ResultCode
from tests.support.nnapi_cases.execution import open_compilation
from tests.support.nnapi_cases.memory_tools import (
    READ_WRITE,
    description,
    device_memory,
    file_memory,
    shared_file,
)
from tests.support.nnapi_cases.registry import situation, situations
from tests.support.nnapi_client import INT32, QUANT8, Client


def mapped(client: Client, descriptor: int) -> int:
    return client.refused("Memory_createFromFd", 64, READ_WRITE, descriptor, 0)


def usable_after_close(client: Client) -> int:
    descriptor = shared_file(client, 64)
    memory = ctypes.c_void_p()
    code = client.call("Memory_createFromFd", 64, READ_WRITE, descriptor, 0, client.pointer(memory))
    os.close(descriptor)
    assert client.call("Memory_copy", memory.value, file_memory(client, 64)) == ResultCode.NO_ERROR
    return code


def without_out(client: Client) -> int:
    descriptor = shared_file(client, 64)
    code = client.call("Memory_createFromFd", 64, READ_WRITE, descriptor, 0, None)
    os.close(descriptor)
    return code


situations(
    "Memory_createFromFd",
    {
        "out pointer is NULL": without_out,
        "fd -1": lambda c: mapped(c, -1),
        "fd that cannot be duplicated": lambda c: mapped(c, 2**20 + 1),
        "valid; the caller may close fd afterwards": usable_after_close,
    },
)
BUFFER = ctypes.create_string_buffer(64)
situations(
    "Memory_createFromAHardwareBuffer",
    {
        "buffer is NULL": lambda c: c.refused("Memory_createFromAHardwareBuffer", None),
        "out pointer is NULL": lambda c: c.call("Memory_createFromAHardwareBuffer", c.pointer(BUFFER), None),
    },
)
situation("MemoryDesc_create", "out pointer is NULL")(lambda c: c.call("MemoryDesc_create", None))
situation("MemoryDesc_free", "NULL handle")(lambda c: c.free("MemoryDesc", None))


def role(
    client: Client, side: str, described: int | None, compilation: int | None, frequency: float = 1.0
) -> int:
    """Result code of adding a role as input or output 0."""
    return client.call(f"MemoryDesc_add{side}Role", described, compilation, 0, ctypes.c_float(frequency))


def empty(client: Client) -> int:
    return client.new("MemoryDesc_create")


def clashes(client: Client, side: str) -> list[int]:
    """Roles behind one of a float (2,) operand."""
    codes = []
    for model in (
        client.add_model((2,), code=QUANT8),
        client.add_model((3,)),
        client.add_model((2, 1)),
    ):
        described = description(client, finished=False, direction=side)
        codes.append(role(client, side, described, client.compilation(model)))
    for quantization in ((0.25, 10), (0.5, 11)):
        described = empty(client)
        assert role(client, side, described, relu_compilation(client, 0.5, 10)) == ResultCode.NO_ERROR
        codes.append(role(client, side, described, relu_compilation(client, *quantization)))
    return codes


def relu_compilation(client: Client, scale: float, zero_point: int) -> int:
    model = client.model()
    for _ in range(2):
        client.operand(model, QUANT8, (2,), scale, zero_point)
    assert client.operation(model, OperationCode.RELU, [0], [1]) == 0
    assert client.identify(model, [0], [1]) == 0
    client.must("Model_finish", model)
    return client.compilation(model)


def scalar_compilation(client: Client, side: str) -> int:
    """A compilation whose input or output 0 is a scalar: one that nothing reads, or the rank of a tensor."""
    model = client.model()
    if side == "Input":
        scalar, source = client.operand(model, INT32), client.tensor(model, 2)
        result = client.tensor(model, 2)
        assert client.operation(model, OperationCode.RELU, [source], [result]) == 0
        assert client.identify(model, [scalar, source], [result]) == 0
    else:
        source, scalar = client.tensor(model, 0), client.operand(model, INT32)
        assert client.operation(model, OperationCode.RANK, [source], [scalar]) == 0
        assert client.identify(model, [source], [scalar]) == 0
    client.must("Model_finish", model)
    return client.compilation(model)


def scalar_after_rank(client: Client, side: str) -> int:
    described = empty(client)
    client.must("MemoryDesc_setDimensions", described, 1, client.numbers([2]))
    return role(client, side, described, scalar_compilation(client, side))


def role_situations(side: str) -> dict[str, Any]:
    """What adding a role as input has in common with adding one as output."""
    clash = (
        "operand type, scale, zeroPoint, channel parameters, rank or dimensions clash with an earlier role"
    )
    return {
        "compilation not finished": lambda c: role(c, side, empty(c), c.compilation(finished=False)),
        "descriptor already finished": lambda c: role(c, side, description(c), c.compilation()),
        clash: lambda c: clashes(c, side),
        "scalar operand after a non-zero rank was set": lambda c: scalar_after_rank(c, side),
        "compilation whose finish failed": lambda c: role(c, side, empty(c), c.failed_compilation()),
    }


def same_role_twice(client: Client) -> int:
    compilation = client.compilation()
    described = description(client, compilation, finished=False, direction="Output")
    return role(client, "Output", described, compilation)


situations(
    "MemoryDesc_addInputRole",
    {
        **role_situations("Input"),
        "frequency 10, 0 or -1 (valid range is (0,1])": lambda c: [
            role(c, "Input", empty(c), c.compilation(), frequency) for frequency in (10.0, 0.0, -1.0)
        ],
    },
)
situations(
    "MemoryDesc_addOutputRole",
    {
        **role_situations("Output"),
        "descriptor or compilation NULL": lambda c: [
            role(c, "Output", None, c.compilation()),
            role(c, "Output", empty(c), None),
        ],
        "same role added twice": same_role_twice,
    },
)


def sized(client: Client, described: int | None, *dimensions: int) -> int:
    return client.call("MemoryDesc_setDimensions", described, len(dimensions), client.numbers(dimensions))


def sized_twice(client: Client, *second: int) -> int:
    described = empty(client)
    assert sized(client, described, 2, 3) == ResultCode.NO_ERROR
    return sized(client, described, *second)


def sized_scalar(client: Client) -> int:
    return sized(client, description(client, scalar_compilation(client, "Input"), finished=False), 2)


situations(
    "MemoryDesc_setDimensions",
    {
        "descriptor is NULL": lambda c: sized(c, None, 2),
        "dimensions NULL with rank > 0": lambda c: c.call("MemoryDesc_setDimensions", empty(c), 1, None),
        "NULL with rank 0": lambda c: c.call("MemoryDesc_setDimensions", empty(c), 0, None),
        "other size than an earlier call": lambda c: sized_twice(c, 2, 4),
        "other rank than an earlier call": lambda c: sized_twice(c, 2, 3, 1),
        "non-zero rank after a scalar role": sized_scalar,
        "descriptor already finished": lambda c: sized(c, description(c), 2),
    },
)
situations(
    "MemoryDesc_finish",
    {
        "descriptor is NULL": lambda c: c.call("MemoryDesc_finish", None),
        "no role was added": lambda c: c.call("MemoryDesc_finish", empty(c)),
        "second call": lambda c: c.call("MemoryDesc_finish", description(c)),
    },
)


def unknown_size(client: Client) -> int:
    described = description(client, open_compilation(client, (0,)))
    return client.refused("Memory_createFromDesc", described)


_NOT_ALLOCATED = "device cannot allocate and the compilation used createForDevices or the size is unknown"


def several(client: Client) -> list[int]:
    described = description(client)
    return [
        client.call("Memory_createFromDesc", described, client.pointer(ctypes.c_void_p())) for _ in range(3)
    ]


situations(
    "Memory_createFromDesc",
    {
        "out pointer is NULL": lambda c: c.call("Memory_createFromDesc", description(c), None),
        _NOT_ALLOCATED: unknown_size,
        "one descriptor used for several memories": several,
    },
)


def copied(client: Client, source: int | None, destination: int | None) -> int:
    return client.call("Memory_copy", source, destination)


def initialised(client: Client, dimensions: tuple[int, ...]) -> int:
    """Device memory of floats that a copy has written."""
    memory = device_memory(client, client.compilation(client.add_model(dimensions)))
    size = 4 * dimensions[0] * (dimensions[1] if len(dimensions) > 1 else 1)
    assert copied(client, file_memory(client, size), memory) == ResultCode.NO_ERROR
    return memory


def after_failed_copy(client: Client) -> int:
    memory = initialised(client, (2,))
    assert copied(client, file_memory(client, 12), memory) == ResultCode.BAD_DATA
    return copied(client, memory, file_memory(client, 8))


situations(
    "Memory_copy",
    {
        "source or destination NULL": lambda c: [
            copied(c, None, file_memory(c, 8)),
            copied(c, file_memory(c, 8), None),
        ],
        "fd memory to fd memory of another size": lambda c: [
            copied(c, file_memory(c, 8), file_memory(c, size)) for size in (4, 12)
        ],
        "fd memory of wrong size to device memory": lambda c: copied(c, file_memory(c, 12), device_memory(c)),
        "device memory not yet initialised as source": lambda c: copied(
            c, device_memory(c), file_memory(c, 8)
        ),
        "device memories of different rank or dimensions": lambda c: [
            copied(c, initialised(c, (2, 3)), initialised(c, dimensions))
            for dimensions in ((6,), (3, 2), (2, 4))
        ],
        "device memory as source after a failed copy into it": after_failed_copy,
        "matching fd memory into device memory": lambda c: copied(c, file_memory(c, 8), device_memory(c)),
    },
)
