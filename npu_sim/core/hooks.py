"""Hooks: how observers listen to a run. They receive values only, so they cannot change anything."""

from npu_sim.events import Activity, Flow, Retire, Span, Stall


class Hook:
    """An observer with one method per kind of event; override those that matter.

    Events arrive when they are known, which for spans and stalls is their end; the order of events is the
    same in every run of the same program.
    """

    def on_span(self, span: Span) -> None:
        """A unit finished executing an instruction."""

    def on_stall(self, stall: Stall) -> None:
        """A unit finished waiting. A stall for SRAM or DRAM lies inside the span that it slowed down."""

    def on_activity(self, activity: Activity) -> None:
        """Countable events happened."""

    def on_retire(self, retire: Retire) -> None:
        """An instruction's results became visible."""

    def on_flow(self, flow: Flow) -> None:
        """A unit that waited for a semaphore was released."""
