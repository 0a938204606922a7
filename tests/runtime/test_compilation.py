from collections.abc import Callable

import pytest

from compiler.graph import Graph, OperandType
from compiler.nnapi import Numerics, OperationCode, PreferenceCode, ResultCode
from runtime.compilation import Compilation
from runtime.device import CompilationOptions, Device, PreparedModel
from runtime.device_registry import get_device
from runtime.errors import BadDataError, BadStateError, OpFailedError, RuntimeFailure
from runtime.execution import Execution
from runtime.lifecycle import Phase
from runtime.model import Model
from tests.support.nnapi_models import QUANT8, add_model
from tests.support.one_operation import quant8


class NoDevice:
    """A device that records what it is asked."""

    name = "none"

    def __init__(self) -> None:
        self.asked: list[CompilationOptions] = []

    def supported(self, graph: Graph, numerics: Numerics) -> tuple[bool, ...]:
        return ()

    def prepare(self, graph: Graph, options: CompilationOptions) -> PreparedModel:
        self.asked.append(options)
        return get_device("reference").prepare(graph, options)


def compilation_of(model: Model, device: Device | None = None) -> Compilation:
    return Compilation(model, device or NoDevice())


def unary_model(code: OperationCode, output: OperandType) -> Model:
    model = Model()
    source, result = model.add_operand(QUANT8), model.add_operand(output)
    model.add_operation(code, [source], [result])
    model.identify_inputs_and_outputs([source], [result])
    model.finish()
    return model


def test_a_compilation_needs_a_finished_model() -> None:
    with pytest.raises(BadStateError, match="Compilation: the model is being built"):
        compilation_of(add_model(finished=False))


def test_the_default_preference_is_fast_single_answer() -> None:
    device = NoDevice()
    compilation_of(add_model(), device).finish()
    assert device.asked[0].preference is PreferenceCode.FAST_SINGLE_ANSWER


def test_the_device_is_told_the_preference() -> None:
    device = NoDevice()
    compilation = compilation_of(add_model(), device)
    compilation.set_preference(0)
    compilation.finish()
    assert device.asked[0].preference is PreferenceCode.LOW_POWER


@pytest.mark.parametrize("preference", [-1, 3])
def test_an_unknown_preference_is_bad_data(preference: int) -> None:
    with pytest.raises(BadDataError, match=f"preference is {preference}, must be one of 0"):
        compilation_of(add_model()).set_preference(preference)


@pytest.mark.parametrize("call", [Compilation.finish, lambda c: c.set_preference(1)])
def test_a_finished_compilation_cannot_be_changed(call: Callable[[Compilation], None]) -> None:
    compilation = compilation_of(add_model())
    compilation.finish()
    with pytest.raises(BadStateError, match="legal only while the compilation is not finished"):
        call(compilation)


def test_one_model_may_be_compiled_many_times() -> None:
    model = add_model()
    for _ in range(2):
        compilation_of(model).finish()


def test_finish_fills_in_the_types_the_model_left_open() -> None:
    compilation = compilation_of(unary_model(OperationCode.RELU, quant8(scale=0.5, zero_point=10)))
    compilation.finish()
    assert compilation.graph.operands[1].type == QUANT8


@pytest.mark.parametrize(
    ("code", "output", "kind", "result"),
    [
        (OperationCode.RELU, quant8(scale=0.25), OpFailedError, ResultCode.OP_FAILED),
        (OperationCode.TANH, quant8(), OpFailedError, ResultCode.OP_FAILED),
    ],
)
def test_an_operation_that_is_refused_fails_the_compilation(
    code: OperationCode, output: OperandType, kind: type[RuntimeFailure], result: ResultCode
) -> None:
    compilation = compilation_of(unary_model(code, output))
    with pytest.raises(kind, match=rf"{code.name} \(operation 0\)") as caught:
        compilation.finish()
    assert caught.value.result_code is result
    assert compilation.phase is Phase.COMPILATION_FAILED


def test_a_failed_compilation_gives_no_executions() -> None:
    compilation = compilation_of(unary_model(OperationCode.TANH, quant8()))
    with pytest.raises(OpFailedError, match="TANH"):
        compilation.finish()
    with pytest.raises(BadStateError, match="the compilation failed to finish"):
        Execution(compilation)


def test_numerics_decide_what_is_accepted() -> None:
    model = Model()
    kinds = [quant8(2), quant8(2, scale=0.5)]
    inputs = [model.add_operand(kind) for kind in kinds]
    axis = model.add_operand(add_model().graph.operands[2].type)
    model.set_operand_value(axis, b"\0\0\0\0")
    result = model.add_operand(quant8())
    model.add_operation(OperationCode.CONCATENATION, [*inputs, axis], [result])
    model.identify_inputs_and_outputs(inputs, [result])
    model.finish()
    Compilation(model, NoDevice(), numerics=Numerics.NNAPI).finish()
    with pytest.raises(OpFailedError, match="level 27"):
        Compilation(model, NoDevice(), numerics=Numerics.NNAPI27).finish()
