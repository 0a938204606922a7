"""Small made-up runs for tests of the traces package."""

from collections.abc import Iterable

from hypothesis import strategies as st

from npu_sim.events import Activity, Flow, Retire, Span, Stall, StallReason
from traces.metrics import EnergyPrices
from traces.recorder import Recorder
from traces.trace_log import TraceHeader, TraceLog

HEADER = TraceHeader(
    machine="phone",
    machine_hash="0123456789abcdef",
    program="example",
    frequency_hz=800_000_000,
    tool_version="0.1.0",
    layer_names=("CONV_2D stem", "DEPTHWISE_CONV_2D mid", "SOFTMAX"),
)

ENERGIES = EnergyPrices(
    action_aj={"dram_read_byte": 50_000, "mac_u8": 100, "vector_operation": 200, "dram_write_byte": 60_000},
    static_aj_per_cycle=7_000,
)

# Two tiles of a convolution, one depthwise layer, one softmax; loads run ahead of the work.
EXAMPLE = (
    Span(0, 100, "dma0", "Load", 0, 0),
    Activity(100, "dma0", "dram_read_byte", 1600, 0),
    Retire(110, "dma0", 0, 0),
    Stall(0, 110, "matrix0", StallReason.SEMAPHORE),
    Flow(110, "dma0", "matrix0", 0, 1),
    Span(100, 220, "dma0", "Load", 1, 1),
    Stall(180, 220, "dma0", StallReason.DRAM),
    Activity(220, "dma0", "dram_read_byte", 1280, 1),
    Retire(230, "dma0", 1, 1),
    Span(110, 410, "matrix0", "Convolve", 2, 0),
    Stall(390, 410, "matrix0", StallReason.SRAM),
    Activity(410, "matrix0", "mac_u8", 90_000, 0),
    Retire(430, "matrix0", 2, 0),
    Stall(0, 430, "vector0", StallReason.SEMAPHORE),
    Flow(430, "matrix0", "vector0", 1, 1),
    Span(430, 700, "vector0", "DepthwiseConvolve", 3, 1),
    Activity(700, "vector0", "vector_operation", 9_000, 1),
    Retire(700, "vector0", 3, 1),
    Span(700, 760, "vector0", "Softmax", 4, 2),
    Activity(760, "vector0", "vector_operation", 200, 2),
    Retire(760, "vector0", 4, 2),
    Stall(220, 760, "dma0", StallReason.SEMAPHORE),
    Flow(760, "vector0", "dma0", 2, 1),
    Span(760, 800, "dma0", "Store", 5, 2),
    Activity(800, "dma0", "dram_write_byte", 640, 2),
    Retire(800, "dma0", 5, 2),
)

Event = Span | Stall | Activity | Retire | Flow


def record(events: Iterable[Event], header: TraceHeader = HEADER) -> TraceLog:
    recorder = Recorder()
    methods = {
        Span: recorder.on_span,
        Stall: recorder.on_stall,
        Activity: recorder.on_activity,
        Retire: recorder.on_retire,
        Flow: recorder.on_flow,
    }
    for event in events:
        methods[type(event)](event)
    return recorder.log(header)


@st.composite
def legal_runs(draw: st.DrawFn) -> list[Event]:
    """Draw the events of any run that keeps the rules of `npu_sim.events`."""
    events: list[Event] = []
    instruction = 0
    lanes = draw(st.lists(st.sampled_from(["fetch", "dma0", "matrix0", "matrix1", "vector0"]), unique=True))
    for lane in lanes:
        cycle = 0
        for wait, length, lost in draw(st.lists(st.tuples(*[st.integers(0, 9)] * 3), max_size=8)):
            if wait:
                events.append(Stall(cycle, cycle + wait, lane, StallReason.SEMAPHORE))
                source = draw(st.sampled_from(lanes))
                events.append(Flow(cycle + wait, source, lane, draw(st.integers(0, 3)), 1))
            start = cycle + wait
            cycle = start + length
            if lost and lost <= length:
                events.append(Stall(cycle - lost, cycle, lane, StallReason.DRAM))
            layer = draw(st.integers(0, 3))
            events.append(Span(start, cycle, lane, "Work", instruction, layer))
            events.append(Activity(cycle, lane, "dram_read_byte", draw(st.integers(0, 5000)), layer))
            events.append(Retire(cycle, lane, instruction, layer))
            instruction += 1
    return events
