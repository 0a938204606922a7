"""List scheduling and synchronisation."""

from compiler.schedule.order import order_tasks
from compiler.schedule.synchronise import synchronise
from compiler.schedule.tasks import Lane, Task
from isa.dtypes import Region
from isa.instruction import UnitKind
from isa.instructions.control import Halt, Signal, Wait
from isa.instructions.dma import Load
from isa.instructions.vector import Copy

LOADS, VECTOR = Lane(UnitKind.DMA, 0), Lane(UnitKind.VECTOR, 0)


class FixedCost:
    """Loads take 100 cycles, everything else 10."""

    def cycles(self, instruction):
        return 100 if isinstance(instruction, Load) else 10

    def peak_cycles(self, instruction):
        return float(self.cycles(instruction))

    mapped_cycles = peak_cycles

    def dram_bytes(self, instruction):
        return 0

    def dram_cycles(self, total_bytes):
        return float(total_bytes)


def _load(index, after=None, lane=LOADS, channel=1):
    instruction = Load(unit_mask=channel, region=Region.INPUT, dram_offset=0, sram_address=0, run_bytes=16)
    return Task(index, lane, instruction, 0, after or {})


def _copy(index, after=None):
    return Task(index, VECTOR, Copy(unit_mask=1, count0=1, input_address=0, output_address=1), 0, after or {})


def test_program_order_is_the_order_of_estimated_starts():
    tasks = [_load(0), _copy(1, {LOADS: 0}), _load(2), _copy(3, {LOADS: 2})]
    order, end_cycles = order_tasks(tasks, FixedCost())
    assert order == [0, 1, 2, 3] or order == [0, 2, 1, 3]
    assert end_cycles == 210


def test_a_ready_task_of_another_lane_does_not_wait_for_a_blocked_one():
    store_lane = Lane(UnitKind.DMA, 2)
    tasks = [_load(0), _copy(1, {LOADS: 0}), _load(2, {VECTOR: 1}, store_lane), _load(3)]
    order, _ = order_tasks(tasks, FixedCost())
    assert order.index(3) < order.index(2)


def test_a_dependency_becomes_one_wait_and_one_signal():
    tasks = [_load(0), _copy(1, {LOADS: 0})]
    stream = synchronise(tasks, [0, 1])
    assert [type(i) for i in stream.instructions] == [Load, Signal, Wait, Copy, Halt]
    assert stream.instructions[2].count == 1


def test_what_a_queue_already_knows_is_not_waited_for_again():
    tasks = [_load(0), _copy(1, {LOADS: 0}), _copy(2, {LOADS: 0})]
    stream = synchronise(tasks, [0, 1, 2])
    assert sum(isinstance(i, Wait) for i in stream.instructions) == 1


def test_tasks_of_one_queue_need_no_semaphore():
    tasks = [_copy(0), _copy(1, {VECTOR: 0})]
    assert not any(isinstance(i, Wait | Signal) for i in synchronise(tasks, [0, 1]).instructions)
