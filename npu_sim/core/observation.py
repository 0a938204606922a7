"""What a run leaves behind: counters that are always kept, and events for the hooks that are attached."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from npu_sim.actions import Action
from npu_sim.core.hooks import Hook
from npu_sim.core.work import Work
from npu_sim.events import Activity, Flow, Retire, Span, Stall, StallReason


class Executed(NamedTuple):
    """One executed instruction of a unit: from `start` to `end`, `lost` of these cycles stalled."""

    start: int
    end: int
    lost: int
    instruction: int
    work: Work


class UnitLog:
    """Everything that one unit reported; `starved` are the intervals in which it had no instruction."""

    __slots__ = ("executed", "name", "stalls", "starved")

    def __init__(self, name: str) -> None:
        self.name = name
        self.executed: list[Executed] = []
        self.starved: list[tuple[int, int]] = []
        self.stalls: dict[StallReason, int] = dict.fromkeys(StallReason, 0)


class Observation:
    """Collects a run. `layer_of` maps instructions to layers; `counts` is per layer and action."""

    def __init__(self, layer_of: Sequence[int], mnemonics: Sequence[str], hooks: Sequence[Hook]) -> None:
        if len({id(hook) for hook in hooks}) != len(hooks):
            raise ValueError("a hook is attached twice")
        self._hooks = tuple(hooks)
        self._layer_of = layer_of
        self._mnemonics = mnemonics
        self.counts: defaultdict[tuple[int, Action], int] = defaultdict(int)
        self.retired: dict[int, int] = {}
        """Cycle in which each instruction retired."""

    def executed(
        self, log: UnitLog, start: int, end: int, lost: dict[StallReason, int], index: int, work: Work
    ) -> None:
        """A unit executed instruction `index`; the lost cycles of the span are stalls by reason."""
        total = 0
        for reason, cycles in lost.items():
            log.stalls[reason] += cycles
            total += cycles
        log.executed.append(Executed(start, end, total, index, work))
        if self._hooks:
            self._emit_span(log, start, end, lost, index)

    def _emit_span(
        self, log: UnitLog, start: int, end: int, lost: dict[StallReason, int], index: int
    ) -> None:
        span = Span(start, end, log.name, self._mnemonics[index], index, self._layer_of[index])
        for hook in self._hooks:
            hook.on_span(span)
        stall_end = end
        for reason, cycles in lost.items():
            if cycles:
                stall = Stall(stall_end - cycles, stall_end, log.name, reason)
                stall_end -= cycles
                for hook in self._hooks:
                    hook.on_stall(stall)

    def stalled(self, log: UnitLog, start: int, end: int, reason: StallReason) -> None:
        """A unit with nothing in execution waited; an empty interval is no stall."""
        if end <= start:
            return
        log.stalls[reason] += end - start
        if reason is StallReason.INSTRUCTION:
            log.starved.append((start, end))
        if self._hooks:
            stall = Stall(start, end, log.name, reason)
            for hook in self._hooks:
                hook.on_stall(stall)

    def acted(self, cycle: int, source: str, index: int, activities: Sequence[tuple[Action, int]]) -> None:
        """Countable events happened on behalf of instruction `index`."""
        layer = self._layer_of[index]
        for action, amount in activities:
            self.counts[layer, action] += amount
        if self._hooks:
            for action, amount in activities:
                activity = Activity(cycle, source, action, amount, layer)
                for hook in self._hooks:
                    hook.on_activity(activity)

    def retire(self, cycle: int, log: UnitLog, index: int) -> None:
        """An instruction's results became visible."""
        self.retired[index] = cycle
        if self._hooks:
            retire = Retire(cycle, log.name, index, self._layer_of[index])
            for hook in self._hooks:
                hook.on_retire(retire)

    def released(self, cycle: int, source: str, target: str, semaphore: int, count: int) -> None:
        """A waiting unit was released by a signal."""
        if self._hooks:
            flow = Flow(cycle, source, target, semaphore, count)
            for hook in self._hooks:
                hook.on_flow(flow)
