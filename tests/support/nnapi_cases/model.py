"""Situations of Model_*."""

import ctypes
from typing import Any

import numpy as np

from compiler.nnapi import OperandCode, OperationCode
from runtime.extensions import OPAQUE
from tests.support.nnapi_cases.memory_tools import device_memory, file_memory
from tests.support.nnapi_cases.registry import situation, situations
from tests.support.nnapi_client import FLOAT, INT32, QUANT8, Client

ZERO = ctypes.c_int32(0)
PER_CHANNEL = OperandCode.TENSOR_QUANT8_SYMM_PER_CHANNEL
SCALARS = (
    OperandCode.INT32,
    OperandCode.FLOAT32,
    OperandCode.UINT32,
    OperandCode.BOOL,
    OperandCode.FLOAT16,
    OperandCode.OEM_SCALAR,
)

situations(
    "Model_create",
    {
        "out pointer is NULL": lambda c: c.call("Model_create", None),
        "valid out pointer": lambda c: c.call("Model_create", c.pointer(ctypes.c_void_p())),
    },
)
situation("Model_free", "unfinished model")(lambda c: c.free("Model", c.model()))


def added(client: Client, *arguments: Any) -> int:
    """Result code of adding an operand of a type to a new model."""
    return client.call("Model_addOperand", client.model(), client.pointer(client.type(*arguments)))


def added_raw(client: Client, count: int, address: int | None) -> int:
    """Result code of adding a float tensor whose type is inconsistent."""
    type_ = client.type(FLOAT)
    type_.dimensionCount, type_.dimensions = count, address
    return client.call("Model_addOperand", client.model(), client.pointer(type_))


def added_to(client: Client, model: int | None) -> int:
    return client.call("Model_addOperand", model, client.pointer(client.type(FLOAT, (2,))))


def invalid_model(client: Client) -> int:
    model = client.model()
    client.call("Model_finish", model)
    return model


situations(
    "Model_addOperand",
    {
        "model is NULL": lambda c: added_to(c, None),
        "type pointer is NULL": lambda c: c.call("Model_addOperand", c.model(), None),
        "TENSOR_QUANT8_ASYMM with zeroPoint -1": lambda c: added(c, QUANT8, (1,), 1.0, -1),
        "TENSOR_QUANT8_ASYMM_SIGNED with zeroPoint outside [-128,127]": lambda c: [
            added(c, OperandCode.TENSOR_QUANT8_ASYMM_SIGNED, (1,), 1.0, zero) for zero in (-129, 128)
        ],
        "TENSOR_QUANT8_ASYMM_SIGNED with scale <= 0": lambda c: [
            added(c, OperandCode.TENSOR_QUANT8_ASYMM_SIGNED, (1,), scale, 0) for scale in (0.0, -1.0)
        ],
        "TENSOR_QUANT8_SYMM with zeroPoint other than 0 or scale <= 0": lambda c: [
            added(c, OperandCode.TENSOR_QUANT8_SYMM, (1,), scale, zero)
            for scale, zero in ((1.0, 1), (1.0, -1), (0.0, 0), (-1.0, 0))
        ],
        "TENSOR_QUANT16_ASYMM with zeroPoint outside [0,65535] or scale <= 0": lambda c: [
            added(c, OperandCode.TENSOR_QUANT16_ASYMM, (1,), scale, zero)
            for scale, zero in ((1.0, -1), (1.0, 65536), (0.0, 0), (-1.0, 0))
        ],
        "TENSOR_INT32 with any scale/zeroPoint": lambda c: [
            added(c, OperandCode.TENSOR_INT32, (1,), scale, zero)
            for scale, zero in ((0.0, 0), (0.5, 0), (-1.0, -7), (2.0, 300))
        ],
        "INT32 scalar with non-zero scale": lambda c: added(c, INT32, (), 1.0),
        "TENSOR_QUANT8_SYMM_PER_CHANNEL with struct scale or zeroPoint non-zero": lambda c: [
            added(c, PER_CHANNEL, (1,), 1.0, 0),
            added(c, PER_CHANNEL, (1,), 0.0, 1),
        ],
        "scalar type (INT32/FLOAT32/UINT32/BOOL/FLOAT16/OEM_SCALAR) with dimensionCount 1": lambda c: [
            added(c, code, (1,)) for code in SCALARS
        ],
        "dimensionCount 1 but dimensions NULL": lambda c: added_raw(c, 1, None),
        "dimensionCount 0 but dimensions not NULL": lambda c: added_raw(
            c, 0, ctypes.addressof(c.numbers([2]))
        ),
        "tensor whose byte size (product of known dimensions x element size) exceeds 2^32-1": lambda c: [
            added(c, FLOAT, (2**15, 2**15)),
            added(c, FLOAT, (2**15, 0, 2**15)),
            added(c, QUANT8, (2**31, 2), 1.0, 0),
        ],
        "tensor with dimensionCount 0 (unknown rank)": lambda c: added(c, FLOAT),
        "tensor with a 0 dimension (unknown size)": lambda c: added(c, FLOAT, (2, 0)),
        "type code -1 / code whose high 16 bits name no registered extension": lambda c: [
            added(c, -1),
            added(c, 0x7FFF0000),
        ],
        "model already finished": lambda c: added_to(c, c.add_model()),
        "model marked invalid by a failed finish": lambda c: added_to(c, invalid_model(c)),
        "OEM_SCALAR or TENSOR_OEM_BYTE": lambda c: [
            added(c, OperandCode.OEM_SCALAR),
            added(c, OperandCode.TENSOR_OEM_BYTE, (3,)),
        ],
    },
)


def valued(client: Client, type_: tuple[Any, ...], buffer: Any, length: int, index: int = 0) -> int:
    """Result code of giving the only operand of a new model a value."""
    model = client.model()
    client.operand(model, *type_)
    return client.call("Model_setOperandValue", model, index, buffer, length)


def valued_twice(client: Client) -> list[int]:
    model, buffer = client.model(), client.pointer(ZERO)
    index = client.operand(model, INT32)
    return [client.call("Model_setOperandValue", model, index, buffer, 4) for _ in range(2)]


situations(
    "Model_setOperandValue",
    {
        "model is NULL": lambda c: c.call("Model_setOperandValue", None, 0, c.pointer(ZERO), 4),
        "buffer NULL with non-zero length": lambda c: valued(c, (INT32,), None, 4),
        "buffer NULL and length 0 (operand omitted)": lambda c: valued(c, (INT32,), None, 0),
        "buffer non-NULL with length 0": lambda c: valued(c, (INT32,), c.pointer(ZERO), 0),
        "operand index past the end": lambda c: valued(c, (INT32,), c.pointer(ZERO), 4, 1),
        "operand index -1 (read as uint32)": lambda c: valued(c, (INT32,), c.pointer(ZERO), 4, -1),
        "model already finished": lambda c: c.call(
            "Model_setOperandValue", c.add_model(), 2, c.pointer(ZERO), 4
        ),
        "tensor with a 0 dimension": lambda c: valued(c, (FLOAT, (0, 1)), c.pointer(ZERO), 4),
        "tensor of unknown rank": lambda c: valued(c, (FLOAT,), c.pointer(ZERO), 4),
        "OEM_SCALAR with any length": lambda c: [
            valued(c, (OperandCode.OEM_SCALAR,), c.pointer(np.zeros(10)), length) for length in (1, 3, 80)
        ],
        "called twice on one operand": valued_twice,
    },
)


def remembered(client: Client, index: int = 0, offset: int = 0, length: int = 8, **how: Any) -> int:
    """Result code of letting the float (2,) operand of a new model lie in a memory of 64 bytes."""
    model = how.get("model") or client.model()
    if "model" not in how:
        client.operand(model, FLOAT, (2,))
    memory = how.get("memory") or file_memory(client, 64)
    return client.call("Model_setOperandValueFromMemory", model, index, memory, offset, length)


situations(
    "Model_setOperandValueFromMemory",
    {
        "model is NULL": lambda c: c.call(
            "Model_setOperandValueFromMemory", None, 0, file_memory(c, 64), 0, 8
        ),
        "operand index -1": lambda c: remembered(c, -1),
        "operand index past the end": lambda c: remembered(c, 1),
        "length differs from the operand size": lambda c: [remembered(c, length=n) for n in (4, 12)],
        "offset beyond the memory size": lambda c: [remembered(c, offset=n) for n in (60, 64, 2**40)],
        "offset 0 and length 0": lambda c: remembered(c, length=0),
        "model already finished": lambda c: remembered(c, 2, length=4, model=c.add_model()),
        "memory came from a MemoryDesc (device memory)": lambda c: [
            remembered(c, length=n, memory=device_memory(c)) for n in (0, 8)
        ],
        # The platform has no hardware buffers, so that making the memory is refused already.
        "non-BLOB hardware buffer": lambda c: c.refused(
            "Memory_createFromAHardwareBuffer", c.pointer(ctypes.create_string_buffer(64))
        ),
    },
)


def nested(client: Client, outer: int | None, index: int, value: int | None) -> int:
    return client.call("Model_setOperandValueFromModel", outer, index, value)


def outer_model(client: Client) -> int:
    model = client.model()
    client.operand(model, OperandCode.MODEL)
    return model


situations(
    "Model_setOperandValueFromModel",
    {
        "outer model is NULL": lambda c: nested(c, None, 0, c.add_model()),
        "value model is NULL": lambda c: nested(c, outer_model(c), 0, None),
        "value model not finished": lambda c: nested(c, outer_model(c), 0, c.add_model(finished=False)),
        "operand index -1 or past the end": lambda c: [
            nested(c, outer_model(c), index, c.add_model()) for index in (-1, 1)
        ],
        "outer model already finished": lambda c: nested(c, c.add_model(), 0, c.add_model()),
    },
)


def scaled(client: Client, code: int = PER_CHANNEL, dimension: int = 0, count: int = 2) -> int:
    """Result code of giving a (2, 3) tensor scales per channel."""
    model = client.model()
    quantization = (1.0, 0) if code == QUANT8 else (0.0, 0)
    client.operand(model, code, (2, 3), *quantization)
    channels = client.channels(dimension, [0.5] * count)
    return client.call("Model_setOperandSymmPerChannelQuantParams", model, 0, client.pointer(channels))


situations(
    "Model_setOperandSymmPerChannelQuantParams",
    {
        "model is NULL": lambda c: c.call(
            "Model_setOperandSymmPerChannelQuantParams", None, 0, c.pointer(c.channels(0, [0.5]))
        ),
        "params pointer is NULL": lambda c: c.call(
            "Model_setOperandSymmPerChannelQuantParams", c.model(), 0, None
        ),
        "valid params on a TENSOR_QUANT8_SYMM_PER_CHANNEL operand": lambda c: [
            scaled(c),
            scaled(c, dimension=1, count=3),
        ],
        "operand of any other type": lambda c: [scaled(c, QUANT8), scaled(c, FLOAT)],
        "scaleCount differs from dimensions[channelDim]": lambda c: [scaled(c, count=n) for n in (1, 3)],
        "channelDim not below the rank": lambda c: scaled(c, dimension=2, count=1),
    },
)


def operated(client: Client, code: int, *, inputs: Any = (0, 1, 2), outputs: Any = (3,)) -> int:
    """Result code of adding an operation to float a, b, INT32 fuse, float result."""
    model = client.model()
    for _ in range(2):
        client.tensor(model, 2)
    client.fuse_none(model)
    client.tensor(model, 2)
    return client.operation(model, code, inputs, outputs)


def listed(client: Client, function: str, which: str, count: int, *leading: int) -> int:
    """Result code of a call with two lists of operands, one of which is NULL."""
    model = client.model()
    client.tensor(model, 2)
    lists = {"inputs": client.numbers([0]), "outputs": client.numbers([0]), which: None}
    counts = {"inputs": 1, "outputs": 1, which: count}
    return client.call(
        function, model, *leading, counts["inputs"], lists["inputs"], counts["outputs"], lists["outputs"]
    )


ADD = OperationCode.ADD
situations(
    "Model_addOperation",
    {
        "model is NULL": lambda c: c.operation(None, ADD, [0], [1]),  # type: ignore[arg-type]
        "inputs is NULL (even with count 0)": lambda c: [
            listed(c, "Model_addOperation", "inputs", n, ADD) for n in (0, 1)
        ],
        "outputs is NULL (even with count 0)": lambda c: [
            listed(c, "Model_addOperation", "outputs", n, ADD) for n in (0, 1)
        ],
        "operation code -1": lambda c: operated(c, -1),
        "unknown base operation code": lambda c: [operated(c, code) for code in (102, 9999, 10001)],
        "inputs non-NULL with inputCount 0": lambda c: operated(c, ADD, inputs=()),
        "an index in inputs or outputs past the end": lambda c: [
            operated(c, ADD, inputs=(0, 1, 4)),
            operated(c, ADD, inputs=(0, -1, 2)),
            operated(c, ADD, outputs=(4,)),
        ],
        "wrong operand count or types for the operation": lambda c: [
            operated(c, ADD, inputs=(0, 1)),
            operated(c, ADD, inputs=(0, 1, 2, 2)),
            operated(c, ADD, outputs=(3, 3)),
            operated(c, ADD, inputs=(0, 2, 2)),
            operated(c, ADD, inputs=(0, 1, 1)),
            operated(c, ADD, outputs=(2,)),
        ],
        "model already finished": lambda c: c.operation(c.add_model(), ADD, [0, 1, 2], [3]),
    },
)


def identified(client: Client, inputs: Any, outputs: Any) -> int:
    return client.identify(client.add_model(identified=False, finished=False), inputs, outputs)


def identified_omitted(client: Client) -> list[int]:
    omitting = client.add_model(identified=False, finished=False)
    client.must("Model_setOperandValue", omitting, 0, None, 0)
    return [identified(client, [0, 2], [3]), client.identify(omitting, [0, 1], [3])]


situations(
    "Model_identifyInputsAndOutputs",
    {
        "model is NULL": lambda c: c.identify(None, [0], [1]),  # type: ignore[arg-type]
        "inputs is NULL (even with count 0)": lambda c: [
            listed(c, "Model_identifyInputsAndOutputs", "inputs", n) for n in (0, 1)
        ],
        "outputs is NULL (even with count 0)": lambda c: [
            listed(c, "Model_identifyInputsAndOutputs", "outputs", n) for n in (0, 1)
        ],
        "valid lists": lambda c: identified(c, [0, 1], [3]),
        "an operand appears as input and as output": lambda c: identified(c, [0, 1], [3, 0]),
        "an output appears twice": lambda c: identified(c, [0, 1], [3, 3]),
        "an operand that already has a constant value or NO_VALUE": identified_omitted,
        "called again with an operand already marked": lambda c: c.identify(
            c.add_model(finished=False), [0, 1], [3]
        ),
        "model already finished": lambda c: c.identify(c.add_model(), [0, 1], [3]),
    },
)
situations(
    "Model_relaxComputationFloat32toFloat16",
    {
        "model already finished (true or false)": lambda c: [
            c.call("Model_relaxComputationFloat32toFloat16", c.add_model(), allow) for allow in (True, False)
        ],
        "unfinished model": lambda c: [
            c.call("Model_relaxComputationFloat32toFloat16", c.model(), allow) for allow in (True, False)
        ],
    },
)


def chained(client: Client, *operations: tuple[Any, Any], tensors: int, inputs: Any, outputs: Any) -> int:
    """Result code of finishing a model of float tensors, behind operand 0 (no fusion), added in pairs."""
    model = client.model()
    fuse = client.fuse_none(model)
    for _ in range(tensors):
        client.tensor(model, 2)
    for first, result in operations:
        assert client.operation(model, ADD, [*first, fuse], result) == 0
    assert client.identify(model, inputs, outputs) == 0
    return client.call("Model_finish", model)


situations(
    "Model_finish",
    {
        "second call after success": lambda c: c.call("Model_finish", c.add_model()),
        "empty model (no operation, no inputs/outputs)": lambda c: c.call("Model_finish", c.model()),
        "operations form a cycle": lambda c: chained(
            c, ((1, 3), [2]), ((2, 1), [3]), ((2, 3), [4]), tensors=4, inputs=[1], outputs=[4]
        ),
        "operations added out of order but acyclic": lambda c: chained(
            c, ((2, 2), [3]), ((1, 1), [2]), tensors=3, inputs=[1], outputs=[3]
        ),
        "a consumed operand is never written": lambda c: chained(
            c, ((1, 2), [3]), tensors=3, inputs=[1], outputs=[3]
        ),
        "a temporary operand is neither written nor used": lambda c: chained(
            c, ((1, 1), [2]), tensors=3, inputs=[1], outputs=[2]
        ),
        "two operations write one operand": lambda c: chained(
            c, ((1, 1), [2]), ((1, 1), [2]), tensors=2, inputs=[1], outputs=[2]
        ),
        "valid one-operation model": lambda c: c.call("Model_finish", c.add_model(finished=False)),
    },
)


def supported(client: Client, devices: Any, *, model: int | None = -1, result: bool = True) -> int:
    """Result code of asking what devices can run of the default model."""
    model = client.add_model() if model == -1 else model
    answers = (ctypes.c_bool * 1)(True)
    code = client.call(
        "Model_getSupportedOperationsForDevices",
        model,
        None if devices is None else client.handles(devices),
        0 if devices is None else len(devices),
        answers if result else None,
    )
    if result and model:
        assert answers[0] is (code == 0), "the array must be cleared first"
    return code


situations(
    "Model_getSupportedOperationsForDevices",
    {
        "model is NULL": lambda c: supported(c, c.devices(), model=None),
        "devices is NULL": lambda c: supported(c, None, result=False),
        "result array is NULL": lambda c: supported(c, c.devices(), result=False),
        "one device listed twice": lambda c: supported(c, [*c.devices(), c.devices()[0]]),
        "a NULL entry in the list": lambda c: supported(c, [c.devices()[0], None]),
        "model not finished": lambda c: supported(c, c.devices(), model=c.add_model(finished=False)),
        "finished model, one device": lambda c: [supported(c, [device]) for device in c.devices()],
    },
)


def named(client: Client, name: bytes | None, *, model: bool = True, out: bool = True) -> int:
    """Result code of naming an operation of an extension."""
    result = client.pointer(ctypes.c_int32()) if out else None
    return client.call("Model_getExtensionOperationType", client.model() if model else None, name, 0, result)


KNOWN = OPAQUE.name.encode()
situations(
    "Model_getExtensionOperationType",
    {
        "model, name or out pointer NULL": lambda c: [
            named(c, KNOWN, model=False),
            named(c, None),
            named(c, KNOWN, out=False),
        ],
        "unknown extension name": lambda c: named(c, b"com.none"),
    },
)


def extended(client: Client, data: bytes | None, length: int, *, index: int = 0, base: bool = False) -> int:
    """Result code of giving an extension's operand data."""
    model, code = client.model(), ctypes.c_int32()
    client.must("Model_getExtensionOperandType", model, KNOWN, 0, client.pointer(code))
    client.operand(model, FLOAT if base else code.value, (2,))
    return client.call("Model_setOperandExtensionData", model, index, data, length)


situations(
    "Model_setOperandExtensionData",
    {
        "model is NULL": lambda c: c.call("Model_setOperandExtensionData", None, 0, b"data", 4),
        "data NULL with non-zero length": lambda c: extended(c, None, 4),
        "data non-NULL with length 0": lambda c: extended(c, b"data", 0),
        "operand index past the end": lambda c: extended(c, b"data", 4, index=1),
        "operand of a base type": lambda c: extended(c, b"data", 4, base=True),
        "NULL and 0 on an extension operand (clears it)": lambda c: extended(c, None, 0),
    },
)
