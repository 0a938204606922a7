"""The verifier against the brute-force judgement of tests/support/synchronisation.py."""

import dataclasses

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from isa.accesses import accesses
from isa.dtypes import Region
from isa.errors import VerificationError
from isa.instruction import Instruction, Queue, UnitKind
from isa.instructions.control import Halt, Signal, Wait
from isa.program import Program
from isa.verifier import verify
from tests.support.programs import TARGET, convolution_program, copy, load, make_program, signal, store, wait
from tests.support.synchronisation import (
    RedundancyJudge,
    conflicts,
    is_race_free,
    is_redundant,
    mutations,
    reads_only_written_bytes,
)

SMALL = dataclasses.replace(TARGET, sram_bytes=64)
QUEUES = (
    Queue(UnitKind.DMA, 0),
    Queue(UnitKind.DMA, 1),
    Queue(UnitKind.VECTOR, 0),
    Queue(UnitKind.MATRIX, 0),
)
"""The last only passes on what it knows."""


def is_accepted(program: Program) -> bool:
    try:
        verify(program)
    except VerificationError:
        return False
    return True


@st.composite
def strided(draw: st.DrawFn, prefixes: tuple[str, str]) -> dict[str, int]:
    """Runs and strides in both operands of a transfer or copy, within 16 bytes."""
    run = draw(st.integers(1, 4))
    inner, outer = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    fields = {"count1": inner, "count2": outer}
    for prefix in prefixes:
        fields[f"{prefix}1"] = draw(st.integers(run, 5))
        fields[f"{prefix}2"] = draw(st.integers(inner * 5, 17))
    return fields | {"run": run}


@st.composite
def operations(draw: st.DrawFn) -> Instruction:
    """A load, store or copy with random strides in a memory so small that many share bytes."""
    first, second = draw(st.integers(0, 31)), draw(st.integers(0, 31))
    kind = draw(st.sampled_from(("load", "store", "copy", "spill", "fill")))
    if kind == "copy":
        fields = draw(strided(("input_pitch", "output_pitch")))
        return copy(first, second, fields.pop("run"), **fields)
    fields = draw(strided(("sram_stride", "dram_stride")))
    run, unit = fields.pop("run"), draw(st.integers(0, 1))
    if kind == "load":
        return load(first, run, unit=unit, dram_offset=second, **fields)
    if kind == "fill":
        return load(first, run, unit=unit, region=Region.SCRATCH, dram_offset=second, **fields)
    region = Region.OUTPUT if kind == "store" else Region.SCRATCH
    return store(first, run, unit=unit, region=region, dram_offset=second, **fields)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Random operations; semaphore q is signalled by queue q, often but not always waited for."""
    made: list[Instruction] = [load(0, 64), store(0, 64, region=Region.SCRATCH)]
    counts = [0] * len(QUEUES)
    diligence = draw(st.sampled_from((0.5, 0.9, 1.0)))

    def synchronise(waiting: Queue) -> None:
        for number, queue in enumerate(QUEUES):
            if queue == waiting or draw(st.floats(0, 1)) > diligence:
                continue
            if draw(st.integers(0, 2)) or not counts[number]:
                made.append(signal(number, *queue))
                counts[number] += 1
            count = counts[number] if draw(st.integers(0, 4)) else draw(st.integers(1, counts[number]))
            made.append(wait(number, count, *waiting))

    for operation in draw(st.lists(operations(), min_size=1, max_size=8)):
        queue = operation.queue
        assert queue is not None
        synchronise(queue)
        made.append(operation)
    for number, count in enumerate(counts):
        if count:
            made.append(wait(number, count, *QUEUES[3 if number != 3 else 0]))
    return make_program([*made, Halt()], target=SMALL)


@settings(max_examples=200)
@given(programs())
def test_accepted_are_exactly_the_race_free_programs(program: Program) -> None:
    assume(not any(a.write and a.names_a_byte_twice() for i in program.instructions for a in accesses(i)))
    expected = is_race_free(program.instructions, conflicts(program)) and reads_only_written_bytes(program)
    event("race-free" if expected else "race")
    assert is_accepted(program) == expected


@settings(max_examples=50)
@given(programs())
def test_every_deletion_is_caught_or_redundant(program: Program) -> None:
    assume(is_accepted(program))
    judge = RedundancyJudge(program)
    missed = [
        index
        for index, mutated in mutations(program)
        if is_accepted(mutated) and not judge.is_redundant(index)
    ]
    assert missed == []


CONVOLUTION = convolution_program()


@pytest.mark.parametrize("index", [index for index, _ in mutations(CONVOLUTION)])
def test_every_synchronisation_of_the_convolution_is_needed(index: int) -> None:
    assert not is_redundant(CONVOLUTION, index)


@pytest.mark.parametrize(("index", "mutated"), list(mutations(CONVOLUTION)))
def test_every_deletion_from_the_convolution_is_caught(index: int, mutated: Program) -> None:
    with pytest.raises(VerificationError, match=r"race|unmatched synchronisation"):
        verify(mutated)


def test_mutations_lack_one_wait_or_signal() -> None:
    deleted = [CONVOLUTION.instructions[index] for index, _ in mutations(CONVOLUTION)]
    expected = [i for i in CONVOLUTION.instructions if isinstance(i, Wait | Signal)]
    assert deleted == expected


def test_a_second_wait_for_the_same_count_is_redundant() -> None:
    twice = [wait(0, 1, UnitKind.VECTOR)] * 2
    program = make_program([load(0), signal(0, UnitKind.DMA), *twice, copy(0, 64), Halt()])
    assert is_redundant(program, 2)
    assert is_accepted(next(mutated for index, mutated in mutations(program) if index == 2))
