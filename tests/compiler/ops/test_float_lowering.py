"""How float32 operations reach the vector unit's float lanes, and why they do not where there are none."""

from typing import Any

import pytest

from compiler.errors import UnsupportedError
from compiler.graph import Graph
from compiler.nnapi import FuseCode, OperationCode, PaddingCode
from isa.float_bits import float32_bits
from isa.instruction import Instruction, UnitKind
from isa.instructions.float_vector import (
    BinaryFunction,
    Dequantize,
    FloatBinary,
    FloatPool,
    FloatPoolMode,
    FloatRows,
    FloatUnary,
    RowFunction,
    UnaryFunction,
)
from npu_sim.cost import MachineCost
from npu_sim.npu import simulate
from tests.support.machines import compile_for, machine
from tests.support.one_operation import OperandList, float32, one_operation, quant8

IMAGE = float32(1, 4, 6, 3)
SMALL = float32(1, 2, 3, 3)
POOL = [int(PaddingCode.VALID), 2, 2, 2, 2, int(FuseCode.NONE)]


def unary(code: OperationCode) -> Graph:
    return one_operation(code, [(IMAGE, None)], [], IMAGE)


def binary(code: OperationCode, activation: FuseCode = FuseCode.NONE) -> Graph:
    return one_operation(code, [(IMAGE, None), (float32(3), None)], [int(activation)], IMAGE)


def pool(code: OperationCode) -> Graph:
    return one_operation(code, [(IMAGE, None)], POOL, SMALL)


def local_response(radius: int = 2) -> Graph:
    scalars: list[Any] = [radius, 9.0, 4.0, 0.5]
    return one_operation(OperationCode.LOCAL_RESPONSE_NORMALIZATION, [(IMAGE, None)], scalars, IMAGE)


def softmax() -> Graph:
    return one_operation(OperationCode.SOFTMAX, [(IMAGE, None)], [0.75], IMAGE)


def dequantize() -> Graph:
    codes = quant8(1, 4, 6, 3, scale=0.25, zero_point=7)
    return one_operation(OperationCode.DEQUANTIZE, [(codes, None)], [], IMAGE)


GRAPHS = {
    "ADD": (binary(OperationCode.ADD), FloatBinary, BinaryFunction.ADD),
    "MUL": (binary(OperationCode.MUL), FloatBinary, BinaryFunction.MULTIPLY),
    "FLOOR": (unary(OperationCode.FLOOR), FloatUnary, UnaryFunction.FLOOR),
    "RELU": (unary(OperationCode.RELU), FloatUnary, UnaryFunction.CLAMP),
    "RELU1": (unary(OperationCode.RELU1), FloatUnary, UnaryFunction.CLAMP),
    "RELU6": (unary(OperationCode.RELU6), FloatUnary, UnaryFunction.CLAMP),
    "LOGISTIC": (unary(OperationCode.LOGISTIC), FloatUnary, UnaryFunction.LOGISTIC),
    "TANH": (unary(OperationCode.TANH), FloatUnary, UnaryFunction.TANH),
    "AVERAGE_POOL_2D": (pool(OperationCode.AVERAGE_POOL_2D), FloatPool, FloatPoolMode.AVERAGE),
    "MAX_POOL_2D": (pool(OperationCode.MAX_POOL_2D), FloatPool, FloatPoolMode.MAX),
    "L2_POOL_2D": (pool(OperationCode.L2_POOL_2D), FloatPool, FloatPoolMode.L2),
    "SOFTMAX": (softmax(), FloatRows, RowFunction.SOFTMAX),
    "L2_NORMALIZATION": (unary(OperationCode.L2_NORMALIZATION), FloatRows, RowFunction.L2_NORMALIZE),
    "LOCAL_RESPONSE": (local_response(), FloatRows, RowFunction.LOCAL_RESPONSE),
    "DEQUANTIZE": (dequantize(), Dequantize, None),
}


def vector_instructions(graph: Graph, *settings: str) -> list[Any]:
    program = compile_for(graph, machine("tiny", *settings)).program
    return [i for i in program.instructions if i.kind is UnitKind.VECTOR]


@pytest.mark.parametrize("name", GRAPHS)
def test_every_operation_is_one_kind_of_instruction(name: str) -> None:
    graph, instruction, function = GRAPHS[name]
    for made in vector_instructions(graph):
        assert isinstance(made, instruction)
        assert getattr(made, "mode", getattr(made, "function", None)) is function


@pytest.mark.parametrize("name", GRAPHS)
def test_without_float_lanes_it_is_refused_with_the_reason(name: str) -> None:
    graph, _, _ = GRAPHS[name]
    with pytest.raises(UnsupportedError, match="put 0 is TENSOR_FLOAT32; the NPU has no"):
        vector_instructions(graph, "vector.float_lanes=0")


@pytest.mark.parametrize("name", GRAPHS)
def test_its_cycles_and_energy_are_those_of_the_float_lanes(name: str) -> None:
    graph, _, _ = GRAPHS[name]

    def vector_energy(*settings: str) -> tuple[int, int]:
        config = machine("tiny", *settings)
        program = compile_for(graph, config).program
        result = simulate(program, config, "HIGH", {}, functional=False)
        return result.units["vector0"].busy, result.energy_breakdown_aj["vector"]

    busy, energy = vector_energy()
    narrow_busy, _ = vector_energy("vector.float_lanes=1")
    free = vector_energy("energy.vector_float_add_pj=0", "energy.vector_float_multiply_pj=0")
    assert narrow_busy > busy
    assert energy > 0
    assert free == (busy, 0)


@pytest.mark.parametrize(
    ("activation", "limits"),
    [
        (FuseCode.NONE, (float("-inf"), float("inf"))),
        (FuseCode.RELU, (0.0, float("inf"))),
        (FuseCode.RELU1, (-1.0, 1.0)),
        (FuseCode.RELU6, (0.0, 6.0)),
    ],
)
def test_a_fused_activation_is_a_clamp(activation: FuseCode, limits: tuple[float, float]) -> None:
    (made,) = vector_instructions(binary(OperationCode.ADD, activation))
    assert (made.clamp_min, made.clamp_max) == tuple(float32_bits(limit) for limit in limits)


def test_a_repeated_input_is_read_again() -> None:
    (made,) = vector_instructions(binary(OperationCode.MUL))
    assert (made.second_pitch0, made.second_pitch1, made.second_pitch2) == (4, 0, 0)
    assert (made.input_pitch0, made.input_pitch1, made.input_pitch2) == (4, 12, 72)


def test_the_parameters_of_a_local_response_are_its_operands() -> None:
    made, *_ = vector_instructions(local_response())
    bits = [float32_bits(value) for value in (9.0, 4.0, 0.5)]
    assert [made.radius, made.bias, made.alpha, made.beta] == [2, *bits]


def test_a_radius_beyond_the_row_is_cut() -> None:
    made, *_ = vector_instructions(local_response(radius=2**31 - 1))
    assert made.window == 3


def test_the_parameters_of_a_dequantization_are_those_of_the_type() -> None:
    (made,) = vector_instructions(dequantize())
    assert (made.input_zero, made.scale) == (7, float32_bits(0.25))


def test_a_clamp_of_floats_stays_an_instruction_of_its_own() -> None:
    operands = OperandList()
    first, second, total, result = (operands.operand(IMAGE) for _ in range(4))
    operands.operation(OperationCode.ADD, [first, second, operands.scalar(0)], [total])
    operands.operation(OperationCode.RELU, [total], [result])
    made = vector_instructions(operands.finish([first, second], [result]))
    assert [type(i) for i in made] == [FloatBinary, FloatUnary]


@pytest.mark.parametrize("name", GRAPHS)
def test_the_bounds_hold(name: str) -> None:
    graph, _, _ = GRAPHS[name]
    config = machine("tiny")
    executable = compile_for(graph, config)
    cost = MachineCost(config, config.operating_point("HIGH"))

    def total(instructions: list[Instruction]) -> int:
        return sum(cost.cycles(i) for i in instructions)

    vector = [i for i in executable.program.instructions if i.kind is UnitKind.VECTOR]
    assert 0 < executable.bounds.lb_peak_cycles <= executable.bounds.lb_mapped_cycles
    assert executable.bounds.stages[0].mapped_cycles <= total(vector)
