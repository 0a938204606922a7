"""Lets hooks see the parts of a run as one run."""

from collections.abc import Sequence
from typing import NamedTuple

from npu_sim.core.hooks import Hook
from npu_sim.events import Activity, Flow, Retire, Span, Stall


class Position(NamedTuple):
    """How much of a run lies before a part of it."""

    cycles: int = 0
    instructions: int = 0
    layers: int = 0

    def after(self, cycles: int, instructions: int, layers: int) -> "Position":
        """The position behind a part of that size."""
        return Position(self.cycles + cycles, self.instructions + instructions, self.layers + layers)


def shifted(hooks: Sequence[Hook], position: Position) -> tuple[Hook, ...]:
    """Hooks for a part of a run that starts at a position; `hooks` see its events at their place."""
    if position == Position():
        return tuple(hooks)
    return tuple(ShiftedHook(hook, position) for hook in hooks)


class ShiftedHook(Hook):
    """Passes events on, later by what lies before the part they come from."""

    def __init__(self, hook: Hook, position: Position) -> None:
        self._hook = hook
        self._cycles, self._instructions, self._layers = position

    def on_span(self, span: Span) -> None:
        """Pass a span on."""
        self._hook.on_span(
            span._replace(
                start=span.start + self._cycles,
                end=span.end + self._cycles,
                instruction=span.instruction + self._instructions,
                layer=span.layer + self._layers,
            )
        )

    def on_stall(self, stall: Stall) -> None:
        """Pass a stall on."""
        self._hook.on_stall(stall._replace(start=stall.start + self._cycles, end=stall.end + self._cycles))

    def on_activity(self, activity: Activity) -> None:
        """Pass an activity on."""
        self._hook.on_activity(
            activity._replace(cycle=activity.cycle + self._cycles, layer=activity.layer + self._layers)
        )

    def on_retire(self, retire: Retire) -> None:
        """Pass a retirement on."""
        self._hook.on_retire(
            retire._replace(
                cycle=retire.cycle + self._cycles,
                instruction=retire.instruction + self._instructions,
                layer=retire.layer + self._layers,
            )
        )

    def on_flow(self, flow: Flow) -> None:
        """Pass a flow on."""
        self._hook.on_flow(flow._replace(cycle=flow.cycle + self._cycles))
