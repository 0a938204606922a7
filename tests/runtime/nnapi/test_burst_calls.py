from compiler.nnapi import ResultCode
from tests.support.nnapi_client import Client


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
