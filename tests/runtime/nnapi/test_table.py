import gc
import logging
import threading
import weakref

import pytest

from compiler.nnapi import ResultCode
from runtime.compilation import Compilation
from runtime.execution import Execution
from runtime.nnapi.table import NnApi
from tests.support.nnapi_cases.memory_tools import file_memory
from tests.support.nnapi_client import GARBAGE, Client


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
