import math

import numpy as np
import pytest

from compiler.graph import Graph
from compiler.nnapi import Numerics, OperationCode
from npu_sim.config import MachineConfig, OperatingPoint
from npu_sim.config_io import ConfigError, load_machine, override
from runtime.host_cost import host_aj_per_cycle, host_costs
from tests.support.one_operation import Omitted, OperandList, float32, operation, quant8

POINT = OperatingPoint("test", 1_000_000_000, 0.8)
"""A cycle is a nanosecond."""


def machine(**host: float) -> MachineConfig:
    """Without latency, one operation and one byte per nanosecond, if not said otherwise."""
    fields = {
        "dispatch_latency_us": 0.0,
        "giga_operations_per_second": 1.0,
        "gigabytes_per_second": 1.0,
        "active_power_mw": 1.0,
        **host,
    }
    return override(load_machine("tiny"), [f"host.{name}={value}" for name, value in fields.items()])


def cycles(graph: Graph, handed_over: tuple[int, ...] = (), **host: float) -> list[int]:
    costs = host_costs(graph, handed_over, machine(**host), POINT, Numerics.NNAPI)
    return [cost.cycles for cost in costs]


def macs(graph: Graph) -> int:
    return host_costs(graph, (), machine(), POINT, Numerics.NNAPI)[0].macs


def two_relus() -> Graph:
    operands = OperandList()
    a, b, c = (operands.operand(float32(10)) for _ in range(3))
    operands.operation(OperationCode.RELU, [a], [b])
    operands.operation(OperationCode.RELU, [b], [c])
    return operands.finish([a], [c])


def convolution() -> Graph:
    inputs = [float32(1, 4, 4, 3), float32(5, 2, 2, 3), float32(5), 2, 1, 1, 0]
    return operation(OperationCode.CONV_2D, inputs, [float32(1, 3, 3, 5)])


def test_an_operation_takes_the_longer_of_arithmetic_and_memory() -> None:
    assert cycles(two_relus()) == [80, 80]
    assert cycles(two_relus(), gigabytes_per_second=math.inf) == [20, 20]
    assert cycles(two_relus(), giga_operations_per_second=0.1) == [200, 200]


def test_multiply_accumulates_count_as_operations() -> None:
    elements = 48 + 60 + 5 + 4 + 45
    found = cycles(convolution(), gigabytes_per_second=math.inf)
    assert found == [45 * 12 + elements]


def test_the_dispatch_latency_is_paid_once_by_the_first_operation() -> None:
    assert cycles(two_relus(), dispatch_latency_us=3.0) == [3080, 80]


def test_copies_are_paid_by_the_operations_next_to_them() -> None:
    assert cycles(two_relus(), (0,)) == [120, 80]
    assert cycles(two_relus(), (0, 2)) == [120, 120]


def test_cycles_are_rounded_up_without_adding_up_errors() -> None:
    found = cycles(two_relus(), gigabytes_per_second=math.inf, giga_operations_per_second=30)
    assert found == [1, 1]
    assert sum(cycles(two_relus(), gigabytes_per_second=math.inf, giga_operations_per_second=50)) == 1


def test_a_host_without_limits_takes_no_time() -> None:
    assert cycles(two_relus(), gigabytes_per_second=math.inf, giga_operations_per_second=math.inf) == [0, 0]


def test_omitted_operands_cost_nothing() -> None:
    inputs = [float32(1, 2), float32(3, 2), float32(3, 4), Omitted(float32(3)), float32(1, 12), 1, 0]
    svdf = operation(OperationCode.SVDF, inputs, [float32(1, 12), float32(1, 3)])
    bytes_moved = 4 * (2 + 6 + 12 + 12 + 12 + 3 + 2)
    assert cycles(svdf, giga_operations_per_second=math.inf) == [bytes_moved]


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (convolution(), 45 * 12),
        (
            operation(
                OperationCode.DEPTHWISE_CONV_2D,
                [float32(1, 4, 4, 2), float32(1, 2, 2, 4), float32(4), 2, 1, 1, 2, 0],
                [float32(1, 3, 3, 4)],
            ),
            36 * 4,
        ),
        (
            operation(
                OperationCode.FULLY_CONNECTED,
                [float32(2, 3, 4), float32(5, 4), float32(5), 0],
                [float32(6, 5)],
            ),
            6 * 20,
        ),
        (
            operation(
                OperationCode.RNN,
                [float32(2, 3), float32(4, 3), float32(4, 4), float32(4), float32(2, 4), 0],
                [float32(2, 4), float32(2, 4)],
            ),
            2 * (12 + 16),
        ),
        (operation(OperationCode.RELU, [quant8(7)], [quant8(7)]), 0),
    ],
)
def test_multiply_accumulates_follow_from_shapes(graph: Graph, expected: int) -> None:
    assert macs(graph) == expected


def test_an_lstm_multiplies_by_the_weights_it_has() -> None:
    batches, inputs, units, outputs = 2, 3, 4, 5
    input_weights, recurrent = float32(units, inputs), float32(units, outputs)
    gates, peephole = [float32(units)] * 4, [Omitted(float32(units))] * 3
    given = [
        float32(batches, inputs), Omitted(input_weights), *[input_weights] * 3, Omitted(recurrent),
        *[recurrent] * 3, *peephole, Omitted(float32(units)), *gates[1:], float32(outputs, units),
        Omitted(float32(outputs)), float32(batches, outputs), float32(batches, units), 4, 0.0, 0.0,
    ]  # fmt: skip
    results = [float32(batches, n) for n in (3 * units, outputs, units, outputs)]
    graph = operation(OperationCode.LSTM, given, results)
    assert macs(graph) == batches * (3 * units * (inputs + outputs) + outputs * units)


def test_the_energy_of_a_cycle_is_power_over_frequency() -> None:
    assert host_aj_per_cycle(machine(active_power_mw=2.0), POINT) == 2_000_000
    assert np.isclose(host_aj_per_cycle(machine(), POINT) * POINT.frequency_hz * 1e-18, 1e-3)


@pytest.mark.parametrize("field", ["giga_operations_per_second", "gigabytes_per_second"])
def test_a_rate_of_zero_is_refused(field: str) -> None:
    with pytest.raises(ConfigError, match=f"host.{field}"):
        machine(**{field: 0.0})
