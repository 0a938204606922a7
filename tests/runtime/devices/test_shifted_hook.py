from npu_sim.core.hooks import Hook
from npu_sim.events import Activity, Flow, Retire, Span, Stall, StallReason
from runtime.devices.shifted_hook import Position, shifted


class Recording(Hook):
    """Keeps every event."""

    def __init__(self) -> None:
        self.events: list[tuple[object, ...]] = []
        self.on_span = self.events.append  # type: ignore[method-assign]
        self.on_stall = self.events.append  # type: ignore[method-assign]
        self.on_activity = self.events.append  # type: ignore[method-assign]
        self.on_retire = self.events.append  # type: ignore[method-assign]
        self.on_flow = self.events.append  # type: ignore[method-assign]


def test_events_come_later_by_what_lies_before() -> None:
    recording = Recording()
    (hook,) = shifted([recording], Position(100, 10, 1))
    hook.on_span(Span(1, 2, "dma0", "Load", 3, 4))
    hook.on_stall(Stall(1, 2, "dma0", StallReason.DRAM))
    hook.on_activity(Activity(5, "dma0", "dma_byte", 6, 7))
    hook.on_retire(Retire(8, "dma0", 3, 4))
    hook.on_flow(Flow(9, "dma0", "matrix0", 2, 1))
    assert recording.events == [
        Span(101, 102, "dma0", "Load", 13, 5),
        Stall(101, 102, "dma0", StallReason.DRAM),
        Activity(105, "dma0", "dma_byte", 6, 8),
        Retire(108, "dma0", 13, 5),
        Flow(109, "dma0", "matrix0", 2, 1),
    ]


def test_at_the_beginning_hooks_stay_themselves() -> None:
    hook = Hook()
    assert shifted([hook], Position()) == (hook,)


def test_a_position_moves_behind_a_part() -> None:
    assert Position(1, 2, 3).after(10, 20, 30) == Position(11, 22, 33)
