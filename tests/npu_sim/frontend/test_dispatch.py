from isa.instruction import UnitKind
from isa.instructions.control import Halt
from npu_sim.config_io import load_machine, override
from npu_sim.core.hooks import Hook
from npu_sim.events import Span, StallReason
from npu_sim.npu import simulate
from tests.support.programs import copy, load, make_program, signal, wait


class Spans(Hook):
    def __init__(self) -> None:
        self.spans: list[Span] = []

    def on_span(self, span: Span) -> None:
        self.spans.append(span)


def run(instructions, changes=(), name="ideal"):
    machine = override(load_machine(name), changes)
    hook = Spans()
    program = make_program(instructions, target=machine.target)
    point = machine.preferences["fast_single_answer"]
    result = simulate(program, machine, point, {}, functional=False, verify=False, hooks=[hook])
    return result, {span.instruction: span for span in hook.spans if span.source != "fetch"}


def test_one_instruction_is_dispatched_per_cycle():
    _, spans = run([load(unit=0), load(unit=1), load(unit=2), Halt()])
    assert [spans[i].start for i in range(3)] == [1, 2, 3]


def test_a_full_queue_holds_the_instructions_behind_it():
    copies = [copy(0, 4096, 4096)] * 4
    _, free = run([*copies, load(), Halt()], ["frontend.queue_depth=8"])
    _, blocked = run([*copies, load(), Halt()], ["frontend.queue_depth=1"])
    # A queue of one takes the last copy when the one before it starts, and the load a cycle later.
    assert free[4].start == 5
    assert blocked[4].start == blocked[2].start + 1


def test_a_unit_without_instructions_stalls_for_them_and_is_idle_after_its_last():
    waiting = [load(), signal(0, UnitKind.DMA), wait(0, 1, UnitKind.VECTOR), copy(0, 64), Halt()]
    result, spans = run(waiting, name="phone")
    dma = result.units["dma0"]
    assert dma.stalls[StallReason.INSTRUCTION] == spans[0].start
    assert dma.busy == spans[0].end - spans[0].start
    # The load's data arrives one DRAM latency (185 cycles of 1230 MHz) after its last request.
    assert dma.stalls[StallReason.DRAM] == 185
    assert dma.idle == result.cycles - spans[0].end - 185


def test_the_longest_instruction_passes_the_smallest_buffer():
    copies = [copy(0, 64)] * 40
    result, spans = run([*copies, Halt()], ["frontend.fetch_block_bytes=128", "frontend.prefetch_blocks=2"])
    assert len(spans) == 40
    assert result.cycles > 40


def test_fetch_latency_delays_the_first_instruction():
    _, spans = run([load(), Halt()], name="phone")
    # One block: a row change and its bursts, then the latency, then one cycle of dispatch.
    assert spans[0].start > 185


def test_without_prefetch_space_the_latency_of_each_block_is_felt():
    program = [copy(0, 64)] * 100 + [Halt()]
    deep, _ = run(program, name="phone")
    shallow, _ = run(program, ["frontend.fetch_block_bytes=128", "frontend.prefetch_blocks=2"], name="phone")
    assert shallow.cycles > 2 * deep.cycles
