import ctypes
import gc
import logging
import os
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from compiler.nnapi import OperandCode, OperationCode, ResultCode
from runtime.compilation import Compilation
from runtime.execution import Execution
from runtime.extensions import OPAQUE
from runtime.nnapi.table import NnApi
from tests.support.nnapi_cases.memory_tools import READ_WRITE, device_memory, file_memory, shared_file
from tests.support.nnapi_client import FLOAT, GARBAGE, QUANT8, Client


@pytest.fixture
def client() -> Iterator[Client]:
    with Client(NnApi("tiny")) as made:
        yield made


def table(client: Client) -> NnApi:
    api: NnApi = client.api
    return api


def test_another_number_of_arguments_is_a_type_error(client: Client) -> None:
    with pytest.raises(
        TypeError, match=r"ANeuralNetworksModel_free\(ANeuralNetworksModel\* model\) is given 2"
    ):
        client.api.ANeuralNetworksModel_free(1, 2)


def test_an_argument_that_is_no_pointer_is_a_type_error(client: Client) -> None:
    with pytest.raises(TypeError):
        client.api.ANeuralNetworksModel_finish("model")


def test_an_unknown_function_is_an_attribute_error(client: Client) -> None:
    with pytest.raises(AttributeError, match="NNAPI has no function ANeuralNetworksModel_dance"):
        _ = client.api.ANeuralNetworksModel_dance


def test_a_failure_is_logged_with_its_reason(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "runtime.nnapi.table"):
        client.call("Model_finish", client.model())
    assert caplog.messages == [
        "ANeuralNetworksModel_finish: BAD_DATA: Model.finish: model “model” has no operations, must have at"
        " least 1"
    ]


def test_an_error_of_the_program_is_op_failed_and_logged(
    client: Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Compilation) -> None:
        raise ZeroDivisionError

    compilation = client.compilation(finished=False)
    monkeypatch.setattr(Compilation, "finish", broken)
    assert client.call("Compilation_finish", compilation) == ResultCode.OP_FAILED
    assert "ZeroDivisionError" in caplog.text


def test_too_little_memory_is_out_of_memory(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def hungry(self: Compilation) -> None:
        raise MemoryError

    compilation = client.compilation(finished=False)
    monkeypatch.setattr(Compilation, "finish", hungry)
    assert client.call("Compilation_finish", compilation) == ResultCode.OUT_OF_MEMORY


def test_null_is_refused_before_a_stale_handle(client: Client) -> None:
    assert client.call("Model_addOperand", GARBAGE, None) == ResultCode.UNEXPECTED_NULL


def test_handles_are_never_used_again(client: Client) -> None:
    first = client.model()
    client.free("Model", first)
    assert client.model() != first
    assert client.call("Model_finish", first) == ResultCode.BAD_STATE


def test_a_handle_of_another_family_is_bad_state(client: Client) -> None:
    assert client.call("Compilation_finish", client.model()) == ResultCode.BAD_STATE
    client.free("Compilation", client.model())


def test_freeing_twice_does_nothing(client: Client) -> None:
    model = client.model()
    client.free("Model", model)
    client.free("Model", model)


def test_devices_cannot_be_freed(client: Client) -> None:
    client.free("Model", client.devices()[0])
    assert client.call("Device_wait", client.devices()[0]) == ResultCode.NO_ERROR


@pytest.mark.parametrize("order", [("Model", "Compilation"), ("Compilation", "Model")])
def test_an_execution_survives_what_it_was_made_from(client: Client, order: tuple[str, ...]) -> None:
    model = client.add_model()
    compilation = client.compilation(model)
    execution = client.execution(compilation)
    for family in order:
        client.free(family, {"Model": model, "Compilation": compilation}[family])
    output = client.fill(execution)
    client.must("Execution_compute", execution)
    assert output.tolist() == [11, 22]


def test_memory_may_be_freed_before_the_run(client: Client) -> None:
    execution, output = client.execution(), np.zeros(2, np.float32)
    for index, values in enumerate(([1, 2], [10, 20])):
        memory = file_memory(client, 64, b"\0" * 8 + np.array(values, np.float32).tobytes())
        client.must("Execution_setInputFromMemory", execution, index, None, memory, 8, 8)
        client.free("Memory", memory)
    client.set_output(execution, 0, output)
    client.must("Execution_compute", execution)
    assert output.tolist() == [11, 22]


def test_freed_objects_go_away(client: Client) -> None:
    execution = client.execution()
    known = weakref.ref(table(client).handles.get("Execution", execution))
    client.free("Execution", execution)
    gc.collect()
    assert known() is None


def test_a_freed_compilation_cannot_be_used(client: Client) -> None:
    compilation = client.compilation()
    client.free("Compilation", compilation)
    assert client.refused("Execution_create", compilation) == ResultCode.BAD_STATE


def test_a_freed_memory_cannot_be_used(client: Client) -> None:
    memory = file_memory(client, 8)
    client.free("Memory", memory)
    assert client.call("Memory_copy", memory, file_memory(client, 8)) == ResultCode.BAD_STATE


def test_a_burst_needs_a_finished_compilation(client: Client) -> None:
    assert client.new("Burst_create", client.compilation())
    for compilation in (client.compilation(finished=False), client.failed_compilation()):
        assert client.refused("Burst_create", compilation) == ResultCode.BAD_STATE
    assert client.refused("Burst_create", None) == ResultCode.UNEXPECTED_NULL
    assert client.call("Burst_create", client.compilation(), None) == ResultCode.UNEXPECTED_NULL


def test_a_burst_is_of_one_compilation(client: Client) -> None:
    burst = client.new("Burst_create", client.compilation())
    execution = client.execution(filled=True)
    assert client.call("Execution_burstCompute", execution, burst) == ResultCode.BAD_DATA


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


def test_shared_memory_is_a_file_of_zeros(client: Client) -> None:
    descriptor = client.api.ASharedMemory_create(b"weights", 4096)
    try:
        assert os.fstat(descriptor).st_size == 4096
        assert os.pread(descriptor, 4096, 0) == bytes(4096)
    finally:
        os.close(descriptor)


def test_shared_memory_needs_no_name(client: Client) -> None:
    descriptor = client.api.ASharedMemory_create(None, 1)
    assert descriptor >= 0
    os.close(descriptor)


@pytest.mark.parametrize("size", [0, 2**63, 2**64 - 1])
def test_shared_memory_of_an_impossible_size_is_minus_1(client: Client, size: int) -> None:
    assert client.api.ASharedMemory_create(b"", size) == -1


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


def test_device_memory_carries_a_tensor_from_run_to_run(client: Client) -> None:
    compilation = client.compilation()
    described = client.new("MemoryDesc_create")
    client.must("MemoryDesc_addOutputRole", described, compilation, 0, 1.0)
    client.must("MemoryDesc_addInputRole", described, compilation, 0, 1.0)
    client.must("MemoryDesc_finish", described)
    memory = client.new("Memory_createFromDesc", described)
    first = client.execution(compilation)
    for index in range(2):
        client.set_input(first, index, np.array([1, 2], np.float32))
    client.must("Execution_setOutputFromMemory", first, 0, None, memory, 0, 0)
    client.must("Execution_compute", first)
    second, output = client.execution(compilation), np.zeros(2, np.float32)
    client.must("Execution_setInputFromMemory", second, 0, None, memory, 0, 0)
    client.set_input(second, 1, np.array([10, 20], np.float32))
    client.set_output(second, 0, output)
    client.must("Execution_compute", second)
    assert output.tolist() == [12, 24]


def test_a_failed_run_forgets_the_device_memory_of_its_output(client: Client) -> None:
    compilation = client.compilation()
    result, source = (
        device_memory(client, compilation, direction="Output"),
        device_memory(client, compilation),
    )
    client.must("Memory_copy", file_memory(client, 8), result)
    execution = client.execution(compilation)
    client.must("Execution_setInputFromMemory", execution, 0, None, source, 0, 0)
    client.set_input(execution, 1, np.zeros(2, np.float32))
    client.must("Execution_setOutputFromMemory", execution, 0, None, result, 0, 0)
    assert client.call("Execution_compute", execution) == ResultCode.OP_FAILED
    assert client.call("Memory_copy", result, file_memory(client, 8)) == ResultCode.BAD_DATA


def test_results_may_go_to_memory(client: Client) -> None:
    execution = client.execution()
    descriptor = shared_file(client, 64)
    memory = client.new("Memory_createFromFd", 64, READ_WRITE, descriptor, 0)
    for index in range(2):
        client.set_input(execution, index, np.array([1, 2], np.float32))
    client.must("Execution_setOutputFromMemory", execution, 0, None, memory, 16, 8)
    client.must("Execution_compute", execution)
    assert np.frombuffer(os.pread(descriptor, 8, 16), np.float32).tolist() == [2, 4]
    os.close(descriptor)


def test_memory_that_must_not_be_accessed_is_unmappable(client: Client) -> None:
    codes = []
    for protect, side in ((0, "Input"), (2, "Input"), (1, "Output"), (0, "Output")):
        descriptor, execution = shared_file(client, 64), client.execution()
        memory = client.new("Memory_createFromFd", 64, protect, descriptor, 0)
        os.close(descriptor)
        for index in range(2):
            if side == "Output" or index:
                client.set_input(execution, index, np.zeros(2, np.float32))
        client.must(f"Execution_set{side}FromMemory", execution, 0, None, memory, 0, 8)
        if side == "Input":
            client.set_output(execution, 0, np.zeros(2, np.float32))
        codes.append(client.call("Execution_compute", execution))
    assert codes == [ResultCode.UNMAPPABLE] * 4


def test_a_file_that_became_shorter_is_unmappable(client: Client) -> None:
    descriptor = shared_file(client, 8192)
    memory = client.new("Memory_createFromFd", 8192, READ_WRITE, descriptor, 0)
    os.ftruncate(descriptor, 0)
    os.close(descriptor)
    assert client.call("Memory_copy", memory, file_memory(client, 8192)) == ResultCode.UNMAPPABLE


def test_names_and_versions_stay_where_they_are(client: Client) -> None:
    for function, expected in (("Name", [b"npu-sim-tiny", b"nnapi-reference"]), ("Version", None)):
        found = []
        for device in client.devices():
            texts = [ctypes.c_char_p() for _ in range(2)]
            for text in texts:
                client.must(f"Device_get{function}", device, ctypes.byref(text))
            addresses = [ctypes.cast(text, ctypes.c_void_p).value for text in texts]
            assert addresses[0] == addresses[1]
            found.append(texts[0].value)
        assert all(found)
        assert expected in (None, found)


def test_device_types_and_levels(client: Client) -> None:
    kinds, levels = [], []
    for device in client.devices():
        kind, level = ctypes.c_int32(), ctypes.c_int64()
        client.must("Device_getType", device, ctypes.byref(kind))
        client.must("Device_getFeatureLevel", device, ctypes.byref(level))
        kinds.append(kind.value)
        levels.append(level.value)
    assert kinds == [4, 2]
    assert levels == [30, 30]


def test_supported_operations_are_in_the_order_of_the_calls(client: Client) -> None:
    model = client.model()
    a, b, c = (client.tensor(model, 2) for _ in range(3))
    assert client.operation(model, OperationCode.ABS, [b], [c]) == 0
    assert client.operation(model, OperationCode.RELU, [a], [b]) == 0
    client.identify(model, [a], [c])
    client.must("Model_finish", model)
    answers = (ctypes.c_bool * 2)()
    devices = client.handles(client.devices())
    client.must("Model_getSupportedOperationsForDevices", model, devices, 2, answers)
    assert list(answers) == [False, True]


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


def test_on_run_is_told_of_runs_that_succeed() -> None:
    told: list[Execution] = []
    client = Client(NnApi("tiny", on_run=told.append))
    for values in (2, 3):
        execution = client.execution()
        client.fill(execution)
        if values == 2:
            client.must("Execution_compute", execution)
    (run,) = told
    assert run.result.simulation is not None


def test_threads_may_build_compile_and_run_at_the_same_time(client: Client) -> None:
    outputs: list[list[float]] = []

    def work() -> None:
        own = Client(client.api)
        for _ in range(3):
            execution = own.execution()
            output = own.fill(execution)
            event = own.new("Execution_startCompute", execution)
            assert own.wait(event) == ResultCode.NO_ERROR
            outputs.append(output.tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == [[11, 22]] * 24


def test_a_run_on_two_devices_is_bit_exact(client: Client) -> None:
    model, outputs = client.add_model((4,), code=QUANT8), []
    for device in client.devices():
        execution = client.execution(client.compilation(model, [device]))
        output = np.zeros(4, np.uint8)
        for index, values in enumerate(([0, 10, 200, 255], [255, 12, 100, 255])):
            client.set_input(execution, index, np.array(values, np.uint8))
        client.set_output(execution, 0, output)
        client.must("Execution_compute", execution)
        outputs.append(output.tolist())
    assert outputs[0] == outputs[1] == [245, 12, 255, 255]
