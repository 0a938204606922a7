import ctypes
import os
from typing import Any

import numpy as np
import pytest

from compiler.nnapi import OperandCode, OperationCode, ResultCode
from runtime.extensions import OPAQUE
from tests.support.nnapi_cases.memory_tools import READ_WRITE, shared_file
from tests.support.nnapi_client import FLOAT, Client


def test_extensions_name_operand_types(client: Client) -> None:
    model, types = client.model(), [ctypes.c_int32() for _ in range(2)]
    name = OPAQUE.name.encode()
    for type_ in types:
        client.must("Model_getExtensionOperandType", model, name, 0, ctypes.byref(type_))
    assert types[0].value == types[1].value
    assert types[0].value & 0xFFFF == 0
    assert 1 <= types[0].value >> 16 <= 0x7FFF
    client.operand(model, types[0].value, (4,))
    for arguments, code in (
        ((model, b"com.none", 0, ctypes.byref(types[0])), ResultCode.BAD_DATA),
        ((model, name, 1, ctypes.byref(types[0])), ResultCode.BAD_DATA),
        ((None, name, 0, ctypes.byref(types[0])), ResultCode.UNEXPECTED_NULL),
        ((model, None, 0, ctypes.byref(types[0])), ResultCode.UNEXPECTED_NULL),
        ((model, name, 0, None), ResultCode.UNEXPECTED_NULL),
    ):
        assert client.call("Model_getExtensionOperandType", *arguments) == code


def test_small_constants_are_copied_at_the_call(client: Client) -> None:
    model, fuse = client.model(), np.array(0, np.int32)
    a, b = client.tensor(model, 2), client.tensor(model, 2)
    operand = client.operand(model, OperandCode.INT32)
    client.must("Model_setOperandValue", model, operand, client.pointer(fuse), 4)
    fuse[...] = 99
    total = client.tensor(model, 2)
    assert client.operation(model, OperationCode.ADD, [a, b, operand], [total]) == 0
    client.identify(model, [a, b], [total])
    client.must("Model_finish", model)
    execution = client.execution(client.compilation(model))
    output = client.fill(execution)
    client.must("Execution_compute", execution)
    assert output.tolist() == [11, 22]


def constant_model(client: Client, values: Any) -> int:
    """A model of total = a + constant, float, where the constant is long."""
    model = client.model()
    a, b = client.tensor(model, 64), client.tensor(model, 64)
    client.must("Model_setOperandValue", model, b, client.pointer(values), values.nbytes)
    total = client.tensor(model, 64)
    assert client.operation(model, OperationCode.ADD, [a, b, client.fuse_none(model)], [total]) == 0
    assert client.identify(model, [a], [total]) == 0
    return model


def ran(client: Client, model: int, size: int) -> Any:
    execution, output = client.execution(client.compilation(model)), np.zeros(size, np.float32)
    assert client.set_input(execution, 0, np.zeros(size, np.float32)) == 0
    client.set_output(execution, 0, output)
    client.must("Execution_compute", execution)
    return output


def test_long_constants_are_copied_at_finish(client: Client) -> None:
    values = np.zeros(64, np.float32)
    model = constant_model(client, values)
    values[:] = 5
    client.must("Model_finish", model)
    values[:] = 7
    assert ran(client, model, 64).tolist() == [5] * 64


def test_constants_in_memory_are_read_when_the_model_is_compiled(client: Client) -> None:
    model = client.model()
    descriptor = shared_file(client, 256)
    memory = client.new("Memory_createFromFd", 256, READ_WRITE, descriptor, 0)
    a, b = client.tensor(model, 64), client.tensor(model, 64)
    client.must("Model_setOperandValueFromMemory", model, b, memory, 0, 256)
    total = client.tensor(model, 64)
    client.operation(model, OperationCode.ADD, [a, b, client.fuse_none(model)], [total])
    client.identify(model, [a], [total])
    client.must("Model_finish", model)
    os.pwrite(descriptor, np.full(64, 3, np.float32).tobytes(), 0)
    os.close(descriptor)
    client.free("Memory", memory)
    assert ran(client, model, 64).tolist() == [3] * 64


@pytest.mark.parametrize(
    ("code", "quantization"),
    [
        (OperandCode.TENSOR_QUANT8_ASYMM_SIGNED, (0.5, -3)),
        (OperandCode.TENSOR_FLOAT16, (0.0, 0)),
    ],
)
def test_types_of_later_levels_can_be_modelled_and_no_device_runs_them(
    client: Client, code: int, quantization: tuple[float, int]
) -> None:
    model = client.model()
    for _ in range(2):
        client.operand(model, code, (2,), *quantization)
    assert client.operation(model, OperationCode.RELU, [0], [1]) == 0
    client.identify(model, [0], [1])
    client.must("Model_finish", model)
    answers = (ctypes.c_bool * 1)(True)
    devices = client.handles(client.devices())
    client.must("Model_getSupportedOperationsForDevices", model, devices, 2, answers)
    assert not answers[0]
    listed = client.compilation(model, client.devices(), finished=False)
    assert client.call("Compilation_finish", listed) == ResultCode.BAD_DATA
    default = client.compilation(model, finished=False)
    assert client.call("Compilation_finish", default) != ResultCode.NO_ERROR


@pytest.mark.parametrize("code", [OperationCode.IF, OperationCode.WHILE])
def test_control_flow_can_be_modelled_and_is_refused(client: Client, code: int) -> None:
    model, branch = client.model(), client.add_model()
    a, result = client.tensor(model, 2), client.tensor(model, 2)
    bodies = [client.operand(model, OperandCode.MODEL) for _ in range(2)]
    for body in bodies:
        client.must("Model_setOperandValueFromModel", model, body, branch)
    client.free("Model", branch)
    assert client.operation(model, code, [*bodies, a], [result]) == 0
    client.identify(model, [a], [result])
    client.must("Model_finish", model)
    for devices in (client.devices(), None):
        compilation = client.compilation(model, devices, finished=False)
        assert client.call("Compilation_finish", compilation) != ResultCode.NO_ERROR


def test_per_channel_scales_may_not_be_missing(client: Client) -> None:
    model = client.model()
    for code in (FLOAT, OperandCode.TENSOR_QUANT8_SYMM_PER_CHANNEL):
        client.operand(model, code, (2,))
    assert client.operation(model, OperationCode.DEQUANTIZE, [1], [0]) == 0
    client.identify(model, [1], [0])
    assert client.call("Model_finish", model) == ResultCode.BAD_DATA
