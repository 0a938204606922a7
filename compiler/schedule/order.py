"""List scheduling: the order in which tasks stand in the program.

A task starts when its lane is free and the tasks it waits for are done, by estimated times; program order
is the order of the starts. It is a legal sequential execution, and every queue sees its work about when
it can do it, so that in-order dispatch to finite queues does not hold units up.
"""

import heapq

from compiler.schedule.tasks import Lane, Task
from compiler.stage import CostModel
from isa.instruction import Queue, UnitKind

_TRANSFERS_AHEAD = 6
"""Transfers that stand in a queue ahead of their start; with their waits and signals they must fit it."""


def physical_queue(task: Task) -> Queue:
    """The machine queue a task's instruction goes to (several lanes may share a DMA channel)."""
    queue = task.instruction.queue
    assert queue is not None
    return queue


def order_tasks(tasks: list[Task], cost: CostModel) -> tuple[list[int], int]:
    """Task numbers in program order, and the estimated end of the last one in cycles.

    Among the tasks that are next in their lane, the one that can start first is taken (then the lowest
    number). Every task follows those it waits for.
    """
    waiting: dict[Lane, list[int]] = {}
    for task in reversed(tasks):
        waiting.setdefault(task.lane, []).append(task.index)
    done_cycles = [-1] * len(tasks)
    free_cycles: dict[Queue, int] = {}
    blocked: dict[int, list[Lane]] = {}
    heads: list[tuple[int, int, Lane]] = []

    def offer(lane: Lane) -> None:
        """Put the lane's next task on the heap, or note which task it waits for."""
        if not waiting[lane]:
            return
        task = tasks[waiting[lane][-1]]
        for earlier in task.after.values():
            if done_cycles[earlier] < 0:
                blocked.setdefault(earlier, []).append(lane)
                return
        ready = max((done_cycles[earlier] for earlier in task.after.values()), default=0)
        start = max(ready, free_cycles.get(physical_queue(task), 0))
        heapq.heappush(heads, (start, task.index, lane))

    for lane in sorted(waiting):
        offer(lane)
    order: list[tuple[int, int]] = []
    while heads:
        start, index, lane = heapq.heappop(heads)
        task = tasks[index]
        queue = physical_queue(task)
        if start < free_cycles.get(queue, 0):
            heapq.heappush(heads, (free_cycles[queue], index, lane))
            continue
        waiting[lane].pop()
        done_cycles[index] = free_cycles[queue] = start + max(1, cost.cycles(task.instruction))
        order.append((start, index))
        offer(lane)
        for other in blocked.pop(index, ()):
            offer(other)
    return _hoist_transfers(tasks, order), max(done_cycles, default=0)


def _hoist_transfers(tasks: list[Task], order: list[tuple[int, int]]) -> list[int]:
    """Move each DMA task ahead to where the one `_TRANSFERS_AHEAD` before it in its queue starts.

    Dispatch is in order: a transfer that stands just before the work it overlaps would be held up by the
    full queue of another unit. No task moves before one that it waits for or that its queue does first.
    """
    starts: dict[Queue, list[int]] = {}
    latest: dict[Queue, int] = {}
    places: dict[int, tuple[int, int]] = {}
    for position, (start, index) in enumerate(order):
        task = tasks[index]
        place = start
        if task.lane.kind is UnitKind.DMA:
            queue = starts.setdefault(physical_queue(task), [])
            queue.append(start)
            place = queue[max(0, len(queue) - 1 - _TRANSFERS_AHEAD)]
            before = [places[earlier][0] for earlier in task.after.values()]
            place = latest[physical_queue(task)] = max(place, latest.get(physical_queue(task), 0), *before)
        places[index] = (place, position)
    return sorted((index for _, index in order), key=places.__getitem__)
