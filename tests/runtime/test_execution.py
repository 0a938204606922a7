import threading
from collections.abc import Sequence

import numpy as np
import pytest

from compiler.graph import Graph
from compiler.nnapi import Numerics
from runtime.compilation import Compilation
from runtime.device import Array, CompilationOptions, DeviceResult, RunOptions
from runtime.device_registry import get_device
from runtime.errors import BadDataError, BadStateError, OpFailedError
from runtime.execution import Execution
from tests.support.nnapi_models import add_model

A = np.array([[10, 11, 12], [13, 14, 15]], np.uint8)
SUM = 2 * A - 10


def execution(*, fill: bool = True) -> tuple[Execution, Array]:
    compilation = Compilation(add_model(), get_device("reference"))
    compilation.finish()
    run, output = Execution(compilation), np.zeros((2, 3), np.uint8)
    if fill:
        run.set_input(0, A)
        run.set_input(1, A)
        run.set_output(0, output)
    return run, output


def test_compute_writes_the_outputs() -> None:
    run, output = execution()
    run.compute()
    np.testing.assert_array_equal(output, SUM)


def test_start_compute_gives_an_event_to_wait_for_any_number_of_times() -> None:
    run, output = execution()
    event = run.start_compute()
    event.wait()
    event.wait()
    np.testing.assert_array_equal(output, SUM)


def test_inputs_may_lie_strided_in_memory() -> None:
    run, output = execution(fill=False)
    run.set_input(0, np.repeat(A, 2, axis=1)[:, ::2])
    run.set_input(1, A.T.copy().T)
    run.set_output(0, output)
    run.compute()
    np.testing.assert_array_equal(output, SUM)


def test_an_execution_runs_once() -> None:
    run, _ = execution()
    run.compute()
    for call in (run.compute, run.start_compute, lambda: run.set_input(0, A)):
        with pytest.raises(BadStateError, match="the execution is completed"):
            call()


def test_of_two_threads_that_start_one_execution_one_wins() -> None:
    run, _ = execution()
    outcomes = []

    def start() -> None:
        try:
            run.start_compute().wait()
            outcomes.append("won")
        except BadStateError:
            outcomes.append("lost")

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["lost"] * 7 + ["won"]


def test_every_slot_must_be_set() -> None:
    run, _ = execution(fill=False)
    run.set_input(0, A)
    with pytest.raises(BadDataError, match=r"input 1 \(operand 1 “b”\) is not set; every input and output"):
        run.compute()


def test_a_start_that_fails_for_an_unset_slot_counts_as_completed() -> None:
    run, _ = execution(fill=False)
    with pytest.raises(BadDataError):
        run.compute()
    with pytest.raises(BadStateError):
        run.set_input(0, A)


def test_a_slot_is_set_once() -> None:
    run, _ = execution()
    with pytest.raises(BadStateError, match="input 1 is set already"):
        run.set_input(1, A)


@pytest.mark.parametrize("index", [-1, 2])
def test_a_position_that_does_not_exist_is_bad_data(index: int) -> None:
    with pytest.raises(BadDataError, match=f"input {index} does not exist, must be 0 to 1"):
        execution(fill=False)[0].set_input(index, A)


@pytest.mark.parametrize(
    ("array", "fragment"),
    [
        (A.astype(np.int8), "input 0 (operand 0 “a”) has dtype int8, must have uint8"),
        (A.reshape(3, 2), "input 0 (operand 0 “a”) has shape [3, 2], must have [2, 3]"),
    ],
)
def test_an_array_of_other_dtype_or_shape_is_bad_data(array: Array, fragment: str) -> None:
    with pytest.raises(BadDataError) as caught:
        execution(fill=False)[0].set_input(0, array)
    assert fragment in str(caught.value)


def test_a_read_only_output_is_bad_data() -> None:
    run, output = execution(fill=False)
    output.flags.writeable = False
    with pytest.raises(BadDataError, match="array of output 0 is read-only"):
        run.set_output(0, output)


def test_the_result_is_there_only_after_the_run() -> None:
    run, _ = execution()
    with pytest.raises(BadStateError, match="the execution has not started"):
        _ = run.result
    run.compute()
    np.testing.assert_array_equal(run.result.outputs[0], SUM)


class FailingDevice:
    """A device whose runs fail."""

    name = "failing"

    def supported(self, graph: Graph, numerics: Numerics) -> tuple[bool, ...]:
        return ()

    def prepare(self, graph: Graph, options: CompilationOptions) -> "FailingDevice":
        return self

    def execute(self, inputs: Sequence[Array], options: RunOptions) -> DeviceResult:
        raise OpFailedError("no")


def test_wait_raises_the_runs_error_every_time() -> None:
    compilation = Compilation(add_model(), FailingDevice())
    compilation.finish()
    event = Execution(compilation, RunOptions(functional=False)).start_compute()
    for _ in range(2):
        with pytest.raises(OpFailedError, match=r"^no$"):
            event.wait()


def test_a_failed_run_has_no_result() -> None:
    compilation = Compilation(add_model(), FailingDevice())
    compilation.finish()
    run = Execution(compilation, RunOptions(functional=False))
    with pytest.raises(OpFailedError, match=r"^no$"):
        run.compute()
    with pytest.raises(OpFailedError, match="the run failed, there is no result"):
        _ = run.result
