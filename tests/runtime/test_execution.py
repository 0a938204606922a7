import threading
from collections.abc import Sequence

import numpy as np
import pytest

from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperationCode
from runtime.compilation import Compilation
from runtime.device import Array, CompilationOptions, DeviceResult, RunOptions
from runtime.device_registry import get_device
from runtime.errors import (
    BadDataError,
    BadStateError,
    OpFailedError,
    OutputInsufficientSizeError,
    RuntimeFailure,
)
from runtime.execution import Execution
from runtime.model import Model
from tests.support.mixed_models import constant, scalar
from tests.support.nnapi_models import add_model
from tests.support.one_operation import float32, quant8

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
    with pytest.raises(BadStateError, match=r"input 1 \(operand 1 “b”\): it is set already"):
        run.set_input(1, A)


@pytest.mark.parametrize("index", [-1, 2])
def test_a_position_that_does_not_exist_is_bad_data(index: int) -> None:
    with pytest.raises(BadDataError, match=f"input {index} does not exist, must be 0 to 1"):
        execution(fill=False)[0].set_input(index, A)


@pytest.mark.parametrize(
    ("array", "fragment"),
    [
        (A.astype(np.int8), "input 0 (operand 0 “a”): the array has dtype int8, must have uint8"),
        (A.reshape(3, 2), "input 0 (operand 0 “a”): the array has shape [3, 2], must have [2, 3]"),
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


def open_model() -> Model:
    """sum = a (0, 3) + b (2, 3); nothing is said about the output's shape."""
    model = Model("open")
    a, b = model.add_operand(quant8(0, 3), "a"), model.add_operand(quant8(2, 3), "b")
    fuse, result = scalar(model, 0), model.add_operand(quant8(), "sum")
    model.add_operation(OperationCode.ADD, [a, b, fuse], [result])
    model.identify_inputs_and_outputs([a, b], [result])
    model.finish()
    return model


def open_execution(device: str = "reference") -> Execution:
    compilation = Compilation(open_model(), get_device(device, "tiny"))
    compilation.finish()
    return Execution(compilation)


@pytest.mark.parametrize("device", ["reference", "npu"])
@pytest.mark.parametrize("rows", [1, 2])
def test_a_type_fills_in_the_dimensions_that_the_model_leaves_open(device: str, rows: int) -> None:
    run, output = open_execution(device), np.zeros((2, 3), np.uint8)
    run.set_input(0, A[:rows], quant8(rows, 3))
    run.set_input(1, A)
    run.set_output(0, output)
    run.compute()
    np.testing.assert_array_equal(output, A[:rows] + A)
    assert run.output_dimensions(0) == (2, 3)


def test_only_the_dimensions_of_a_type_count() -> None:
    run = open_execution()
    run.set_input(0, A, quant8(2, 3, scale=7, zero_point=9))
    run.set_input(1, A)
    run.set_output(0, np.zeros((2, 3), np.uint8))
    run.compute()


@pytest.mark.parametrize(
    ("type_", "fragment"),
    [
        (None, "input 0 (operand 0 “a”): the operand has dimensions [0, 3]; a type must fill in"),
        (quant8(0, 3), "has dimensions [0, 3]; a type must fill in"),
        (quant8(2, 4), "the type has dimensions [2, 4], may only fill in the 0 of [0, 3]"),
        (quant8(2), "the type has dimensions [2], may only fill in the 0 of [0, 3]"),
        (quant8(1, 3), "has shape [2, 3], must have [1, 3]"),
    ],
)
def test_a_type_that_does_not_fit_is_bad_data(type_: OperandType | None, fragment: str) -> None:
    with pytest.raises(BadDataError) as caught:
        open_execution().set_input(0, A, type_)
    assert fragment in str(caught.value)


def test_each_shape_is_compiled_once() -> None:
    prepared = []

    class Counting(FailingDevice):
        def prepare(self, graph: Graph, options: CompilationOptions) -> "FailingDevice":
            prepared.append(graph.operands[0].type.dimensions)
            return self

    compilation = Compilation(open_model(), Counting())
    compilation.finish()
    assert prepared == []
    for shape in ((1, 3), (2, 3), (1, 3)):
        compilation.specialised([shape, (2, 3)])
    assert prepared == [(1, 3), (2, 3)]


def test_an_output_array_that_is_too_small_says_what_is_needed() -> None:
    run = open_execution()
    run.set_input(0, A, quant8(2, 3))
    run.set_input(1, A)
    run.set_output(0, np.zeros((1, 3), np.uint8))
    with pytest.raises(OutputInsufficientSizeError, match=r"room for 3 bytes, needs 6 for \[2, 3\]"):
        run.compute()
    assert run.output_dimensions(0) == (2, 3)


def test_an_output_array_of_another_shape_is_bad_data() -> None:
    run = open_execution()
    run.set_input(0, A, quant8(2, 3))
    run.set_input(1, A)
    run.set_output(0, np.zeros((3, 3), np.uint8))
    with pytest.raises(BadDataError, match=r"has shape \[3, 3\], must have \[2, 3\]"):
        run.compute()


def test_shapes_that_the_operations_refuse_fail_the_run() -> None:
    run = open_execution()
    run.set_input(0, np.zeros((5, 3), np.uint8), quant8(5, 3))
    run.set_input(1, A)
    run.set_output(0, np.zeros((5, 3), np.uint8))
    with pytest.raises(RuntimeFailure, match=r"ADD \(operation 0\)"):
        run.compute()


def test_a_compilation_with_open_inputs_has_no_single_result() -> None:
    compilation = Compilation(open_model(), get_device("reference"))
    compilation.finish()
    with pytest.raises(BadDataError, match=r"input 0 \(operand 0 “a”\) has dimensions \[0, 3\]"):
        _ = compilation.prepared


def test_timing_needs_the_shapes_that_are_open() -> None:
    compilation = Compilation(open_model(), get_device("npu", "tiny"))
    compilation.finish()
    run = Execution(compilation, RunOptions(functional=False))
    with pytest.raises(BadDataError, match=r"its dimensions \[0, 3\] are needed even for timing"):
        run.compute()


@pytest.mark.parametrize("device", ["reference", "npu"])
def test_an_optional_input_may_be_left_out_at_execution(device: str) -> None:
    model = Model("svdf")
    x, state = model.add_operand(float32(1, 1), "x"), model.add_operand(float32(1, 2), "state")
    bias = model.add_operand(float32(0), "bias")
    weights = constant(model, float32(1, 1), np.full((1, 1), 3, np.float32))
    time = constant(model, float32(1, 2), np.array([[0, 1]], np.float32))
    results = [model.add_operand(float32(1, size)) for size in (2, 1)]
    inputs = [x, weights, time, bias, state, scalar(model, 1), scalar(model, 0)]
    model.add_operation(OperationCode.SVDF, inputs, results)
    model.identify_inputs_and_outputs([x, bias, state], results)
    model.finish()
    compilation = Compilation(model, get_device(device, "tiny"))
    compilation.finish()
    found = []
    for given in (None, np.array([10], np.float32)):
        run = Execution(compilation)
        run.set_input(0, np.ones((1, 1), np.float32))
        run.set_input(1, given, None if given is None else float32(1))
        run.set_input(2, np.zeros((1, 2), np.float32))
        output = np.zeros((1, 1), np.float32)
        run.set_output(0, np.zeros((1, 2), np.float32))
        run.set_output(1, output)
        run.compute()
        found.append(output.item())
    assert found == [3, 13]


def test_a_mandatory_input_cannot_be_left_out() -> None:
    run = open_execution()
    run.set_input(0, None)
    run.set_input(1, A)
    run.set_output(0, np.zeros((2, 3), np.uint8))
    with pytest.raises(RuntimeFailure, match=r"ADD \(operation 0\)"):
        run.compute()


def test_dimensions_of_an_output_are_there_only_after_the_run() -> None:
    with pytest.raises(BadStateError):
        open_execution().output_dimensions(0)
    run, _ = execution()
    run.compute()
    with pytest.raises(BadDataError, match="output 1 does not exist, must be 0 to 0"):
        run.output_dimensions(1)
