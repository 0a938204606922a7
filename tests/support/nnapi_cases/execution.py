"""Situations of Execution_set*."""

import ctypes
from typing import Any

import numpy as np

from tests.support.nnapi_cases.memory_tools import description, device_memory, file_memory
from tests.support.nnapi_cases.registry import situations
from tests.support.nnapi_client import FLOAT, Client

TWO, FIVE = np.zeros(2, np.float32), np.zeros(5, np.float32)


def given(
    client: Client,
    side: str,
    *,
    index: int = 0,
    array: Any = TWO,
    type_: Any = None,
    open_dimensions: tuple[int, ...] | None = None,
) -> int:
    """Result code of setting an input or output by a buffer; `open_dimensions`: of the model's inputs."""
    execution = client.execution(
        None if open_dimensions is None else open_compilation(client, open_dimensions)
    )
    pointer = None if type_ is None else client.pointer(type_)
    return client.call(f"Execution_set{side}", execution, index, pointer, client.pointer(array), array.nbytes)


def open_compilation(client: Client, dimensions: tuple[int, ...]) -> int:
    return client.compilation(client.add_model(dimensions))


def inconsistent(client: Client, count: int, address: int | None) -> Any:
    type_ = client.type(FLOAT, (2,))
    type_.dimensionCount, type_.dimensions = count, address
    return type_


def one_without(client: Client) -> Any:
    """A type of 1 dimension without a pointer to it."""
    return inconsistent(client, 1, None)


def none_with(client: Client) -> Any:
    """A type of no dimensions with a pointer."""
    return inconsistent(client, 0, ctypes.addressof(client.numbers([2])))


def plain(client: Client, side: str, buffer: Any, length: int) -> int:
    return client.call(f"Execution_set{side}", client.execution(), 0, None, buffer, length)


def set_twice(client: Client) -> int:
    execution = client.execution()
    assert client.set_input(execution, 0, TWO) == 0
    return client.set_input(execution, 0, TWO)


LARGER = "length larger than needed (20 bytes for a 2-float tensor), padding off"
situations(
    "Execution_setInput",
    {
        "execution is NULL": lambda c: c.set_input(None, 0, TWO),  # type: ignore[arg-type]
        "buffer NULL with non-zero length": lambda c: plain(c, "Input", None, 8),
        LARGER: lambda c: given(c, "Input", array=FIVE),
        "index 999": lambda c: given(c, "Input", index=999),
        "index -1": lambda c: given(c, "Input", index=-1),
        "type with dimensionCount 1 and NULL dimensions": lambda c: given(c, "Input", type_=one_without(c)),
        "type with dimensionCount 0 and non-NULL dimensions": lambda c: given(c, "Input", type_=none_with(c)),
        "type overriding a dimension the model already fixed": lambda c: given(
            c, "Input", type_=c.type(FLOAT, (5,)), array=FIVE
        ),
        "same slot set a second time": set_twice,
        "buffer non-NULL, length 0": lambda c: plain(c, "Input", c.pointer(TWO), 0),
        "type with a 0 dimension and a real buffer": lambda c: given(
            c, "Input", type_=c.type(FLOAT, (0,)), open_dimensions=(0,)
        ),
    },
)
situations(
    "Execution_setOutput",
    {
        LARGER: lambda c: given(c, "Output", array=FIVE),
        "index 999": lambda c: given(c, "Output", index=999),
        "index -1": lambda c: given(c, "Output", index=-1),
        "type with dimensionCount 1 and NULL dimensions": lambda c: given(c, "Output", type_=one_without(c)),
        "type with dimensionCount 0 and non-NULL dimensions": lambda c: given(
            c, "Output", type_=none_with(c)
        ),
        "type of another rank than the model operand": lambda c: given(
            c, "Output", type_=c.type(FLOAT, (2, 1))
        ),
        "type overriding a dimension the model already fixed": lambda c: given(
            c, "Output", type_=c.type(FLOAT, (5,)), array=FIVE
        ),
        "buffer NULL, length 0 (omitted)": lambda c: plain(c, "Output", None, 0),
        "buffer non-NULL, length 0": lambda c: plain(c, "Output", c.pointer(TWO), 0),
    },
)


def remembered(
    client: Client,
    side: str,
    *,
    execution: int | None = None,
    index: int = 0,
    memory: int | None = None,
    extent: tuple[int, int] = (0, 8),
    type_: Any = None,
) -> int:
    """Result code of setting an input or output to a range of a memory, by default 64 bytes of a file."""
    return client.call(
        f"Execution_set{side}FromMemory",
        client.execution() if execution is None else execution,
        index,
        None if type_ is None else client.pointer(type_),
        file_memory(client, 64) if memory is None else memory,
        *extent,
    )


def set_before(client: Client, side: str) -> list[int]:
    codes = []
    by_buffer, by_memory = client.execution(), client.execution()
    assert getattr(client, f"set_{side.lower()}")(by_buffer, 0, TWO) == 0
    assert remembered(client, side, execution=by_memory) == 0
    for execution in (by_buffer, by_memory):
        codes.append(remembered(client, side, execution=execution))
        codes.append(getattr(client, f"set_{side.lower()}")(execution, 0, TWO))
    return codes


def without_role(client: Client, side: str) -> list[int]:
    """The memory is an input 0 or an output 0 of one compilation; it is used as anything else."""
    compilation = client.compilation()
    wrong = {"Input": "Output", "Output": "Input"}[side]
    codes = []
    for direction, other in ((wrong, compilation), (side, client.compilation())):
        memory = device_memory(client, compilation, direction=direction)
        execution = client.execution(other)
        codes.append(remembered(client, side, execution=execution, memory=memory, extent=(0, 0)))
    memory = device_memory(client, compilation, direction="Input")
    if side == "Input":
        execution = client.execution(compilation)
        codes.append(remembered(client, side, execution=execution, index=1, memory=memory, extent=(0, 0)))
    return codes


def clashing(client: Client, side: str) -> int:
    """The model leaves the size open, the memory has 2 elements, the type says 3."""
    compilation = open_compilation(client, (0,))
    described = description(client, compilation, finished=False, direction=side)
    client.must("MemoryDesc_setDimensions", described, 1, client.numbers([2]))
    client.must("MemoryDesc_finish", described)
    memory = client.new("Memory_createFromDesc", described)
    execution = client.execution(compilation)
    type_ = client.type(FLOAT, (3,))
    return remembered(client, side, execution=execution, memory=memory, extent=(0, 0), type_=type_)


def started(client: Client) -> int:
    execution = client.execution(filled=True)
    client.must("Execution_compute", execution)
    return execution


OFFSETS = ((64, 8), (2**40, 8), (2**64 - 8, 8))
situations(
    "Execution_setInputFromMemory",
    {
        "execution is NULL": lambda c: c.call(
            "Execution_setInputFromMemory", None, 0, None, file_memory(c, 64), 0, 8
        ),
        "index 999 or -1": lambda c: [remembered(c, "Input", index=index) for index in (999, -1)],
        "length larger than needed, padding off": lambda c: remembered(c, "Input", extent=(0, 20)),
        "offset beyond the memory size": lambda c: [remembered(c, "Input", extent=e) for e in OFFSETS],
        "offset+length beyond the memory size": lambda c: remembered(c, "Input", extent=(60, 8)),
        "slot already set (by either call)": lambda c: set_before(c, "Input"),
        "device memory without a role for this compilation, direction and index": lambda c: without_role(
            c, "Input"
        ),
        "device memory with type dimensions that clash with its own": lambda c: clashing(c, "Input"),
    },
)
situations(
    "Execution_setOutputFromMemory",
    {
        "memory is NULL": lambda c: c.call(
            "Execution_setOutputFromMemory", c.execution(), 0, None, None, 0, 8
        ),
        "index 999 or -1": lambda c: [remembered(c, "Output", index=index) for index in (999, -1)],
        "length larger than needed, padding off": lambda c: remembered(c, "Output", extent=(0, 20)),
        "offset beyond the memory size": lambda c: [remembered(c, "Output", extent=e) for e in OFFSETS],
        "inconsistent dimensionCount/dimensions in type": lambda c: [
            remembered(c, "Output", type_=make(c)) for make in (one_without, none_with)
        ],
        "slot already set (by either call)": lambda c: set_before(c, "Output"),
        "after the execution started": lambda c: remembered(c, "Output", execution=started(c)),
        "offset 0 and length 0 on fd memory": lambda c: remembered(c, "Output", extent=(0, 0)),
        "device memory without a role for this compilation, direction and index": lambda c: without_role(
            c, "Output"
        ),
        "device memory with type dimensions that clash with its own": lambda c: clashing(c, "Output"),
    },
)
