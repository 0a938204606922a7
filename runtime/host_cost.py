"""What the host's work costs: a coarse model, stated in full here.

    time of a segment   = dispatch latency + bytes handed over / byte rate + sum over its operations
    time of an operation = max(operations / operation rate, bytes / byte rate)

An operation of the model counts as one machine operation per multiply-accumulate and per element that it
reads or writes; its bytes are those of all its operands, once. Handed over are the tensors that come from
the NPU or go to it: they are copied between the NPU's buffers and the host's. The NPU waits meanwhile. Rates,
latency and power are the section [host] of the machine. Times are whole picoseconds; an operation ends with
the NPU cycle in which its time is up. Energy is active power for those cycles.
"""

import dataclasses
import math
from collections.abc import Collection

from compiler.graph import Graph, Operation
from compiler.nnapi import Numerics
from compiler.operation import REGISTRY, OperationView
from npu_sim.config import HostConfig, MachineConfig, OperatingPoint

HOST_CYCLE = "host_cycle"
"""Name of the countable action of the host: one NPU cycle in which it computes."""

_ATTOWATTS_PER_MILLIWATT = 10**15
_PS_PER_US = 10**6
_PS_PER_NS = 1000
_PS_PER_S = 10**12


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HostOperationCost:
    """One operation on the host. `cycles` are NPU cycles and include its share of latency and copies."""

    macs: int
    cycles: int


def host_costs(
    graph: Graph,
    handed_over: Collection[int],
    config: MachineConfig,
    point: OperatingPoint,
    numerics: Numerics,
) -> tuple[HostOperationCost, ...]:
    """Cost of each operation of a segment that runs on the host.

    `handed_over` are the operands of `graph` that come from the NPU or go to it. The dispatch latency and the
    copies of what comes in are charged to the first operation, the copies of what goes out to the last.
    """
    host = config.host
    coming_in = [number for number in handed_over if number in graph.inputs]
    going_out = [number for number in handed_over if number in graph.outputs]
    now_ps = round(host.dispatch_latency_us * _PS_PER_US) + _copy_ps(graph, coming_in, host)
    costs, cycle = [], 0
    for index, operation in enumerate(graph.operations):
        macs = REGISTRY[operation.code].macs(OperationView(graph, operation, numerics))
        now_ps += _operation_ps(graph, operation, macs, host)
        if index == len(graph.operations) - 1:
            now_ps += _copy_ps(graph, going_out, host)
        end_cycle = -(-now_ps * point.frequency_hz // _PS_PER_S)
        costs.append(HostOperationCost(macs=macs, cycles=end_cycle - cycle))
        cycle = end_cycle
    return tuple(costs)


def host_aj_per_cycle(config: MachineConfig, point: OperatingPoint) -> int:
    """Attojoules of the working host per NPU cycle at an operating point."""
    return round(config.host.active_power_mw * _ATTOWATTS_PER_MILLIWATT / point.frequency_hz)


def _operation_ps(graph: Graph, operation: Operation, macs: int, host: HostConfig) -> int:
    """Time of one operation's arithmetic or memory traffic, whichever is longer."""
    present = [n for n in (*operation.inputs, *operation.outputs) if not graph.operands[n].omitted]
    elements = sum(math.prod(graph.operands[number].type.dimensions) for number in present)
    arithmetic_ps = round((macs + elements) * _PS_PER_NS / host.giga_operations_per_second)
    return max(arithmetic_ps, _copy_ps(graph, present, host))


def _copy_ps(graph: Graph, operands: Collection[int], host: HostConfig) -> int:
    """Time to move the bytes of operands once."""
    size_bytes = sum(graph.operands[number].type.size_bytes for number in operands)
    return round(size_bytes * _PS_PER_NS / host.gigabytes_per_second)
