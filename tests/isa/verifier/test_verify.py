import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import pytest

from isa.dtypes import Region
from isa.errors import VerificationError
from isa.instruction import Instruction, UnitKind
from isa.instructions.control import Halt
from isa.verifier import verify
from tests.support.programs import (
    OUTPUT_SYMBOL,
    REGION_BYTES,
    convolution_instructions,
    convolution_program,
    convolve,
    copy,
    load,
    make_program,
    signal,
    store,
    wait,
)

DMA, MATRIX, VECTOR = UnitKind.DMA, UnitKind.MATRIX, UnitKind.VECTOR


def refuse(instructions: Sequence[Instruction], message: str, **changes: Any) -> None:
    with pytest.raises(VerificationError, match=re.escape(message)):
        verify(make_program(instructions, **changes))


def convolution_steps(*steps: Instruction) -> list[Instruction]:
    """The hand-made convolution with `steps` in place of its Convolve."""
    made = convolution_instructions()
    return [*made[:5], *steps, *made[6:]]


def test_good_program_passes() -> None:
    verify(convolution_program())


def test_message_names_instruction_and_text() -> None:
    refuse(
        [load(5000), Halt()],
        "instruction 0 (Load unit_mask=1 region=CONSTANTS dram_offset=0 sram_address=5000",
    )


def test_field_range_is_checked() -> None:
    refuse([load(run_bytes=1 << 32), Halt()], "Load.run_bytes = 4294967296: allowed are 0 … 4294967295")


def test_instruction_rules_are_checked() -> None:
    refuse(convolution_steps(convolve(stride_height=0)), "stride_height = 0: must be at least 1")


# Halt and tables


def test_halt_is_needed() -> None:
    refuse([load()], "no Halt: it must be the last of the 1 instructions")


def test_a_program_of_nothing_has_no_halt() -> None:
    refuse([], "no Halt")


def test_halt_must_be_last() -> None:
    refuse([Halt(), load()], "instruction 0 (Halt): Halt must stand once, as the last instruction (1)")


def test_halt_must_stand_once() -> None:
    refuse([Halt(), Halt()], "instruction 0 (Halt): Halt must stand once")


def test_layer_of_must_cover_all_instructions() -> None:
    refuse([Halt()], "layer_of has 0 entries: allowed is one for each of 1 instructions", layer_of=())


def test_layer_of_must_name_a_layer() -> None:
    refuse([Halt()], "layer_of[0] = 1: allowed is the index of one of 1 layers", layer_of=(1,))


def test_code_must_fit_its_region() -> None:
    refuse(
        [Halt()],
        "region_bytes[CODE] = 0: allowed is the size of its content, 16, or more",
        region_bytes=REGION_BYTES,
    )


def test_constants_must_fit_their_region() -> None:
    refuse(
        [Halt()],
        "region_bytes[CONSTANTS] = 256: allowed is the size of its content, 257, or more",
        constants=bytes(257),
    )


# Bounds and permissions


def test_sram_limit_is_exact() -> None:
    verify(make_program([load(4080), Halt()]))


def test_access_behind_the_sram_is_refused() -> None:
    refuse([load(4081), Halt()], "destination: bytes 4081 … 4096 of SRAM, which has 4096 bytes")


def test_last_repetition_counts_for_the_limit() -> None:
    refuse([load(0, 16, count3=3, sram_stride3=2041), Halt()], "bytes 0 … 4097 of SRAM, which has 4096 bytes")


def test_region_limit_is_exact() -> None:
    verify(make_program([load(dram_offset=240), Halt()]))


def test_access_behind_the_region_is_refused() -> None:
    refuse([load(dram_offset=241), Halt()], "source: bytes 241 … 256 of CONSTANTS, which has 256 bytes")


def test_padding_of_the_constants_region_cannot_be_read() -> None:
    refuse([load(), Halt()], "bytes 0 … 15 of CONSTANTS, which has 15 bytes", constants=bytes(15))


@pytest.mark.parametrize("region", [Region.CODE, Region.CONSTANTS, Region.INPUT])
def test_store_to_a_read_only_region_is_refused(region: Region) -> None:
    refuse([load(), store(region=region), Halt()], f"destination: {region.name} must not be written")


@pytest.mark.parametrize("region", [Region.OUTPUT, Region.SCRATCH])
def test_store_to_a_writable_region_passes(region: Region) -> None:
    verify(make_program([load(), store(region=region), Halt()]))


def test_a_write_that_overlaps_itself_is_refused() -> None:
    refuse(
        [load(0, 16, count1=2, sram_stride1=15), Halt()],
        "destination: the strides write some bytes of SRAM twice",
    )


def test_a_read_may_overlap_itself() -> None:
    verify(make_program([load(0, 16, count1=2, dram_stride1=1, sram_stride1=16), Halt()]))


def test_a_read_that_names_more_bytes_than_its_memory_has_is_refused() -> None:
    overlapping = copy(0, 0, 2, count1=600, count2=600, input_pitch0=2, input_pitch1=3, input_pitch2=3)
    refuse([overlapping, Halt()], "input: the strides name 720000 bytes, more than the 4096 of SRAM")


# Unwritten memory


def test_read_of_unwritten_sram_is_refused() -> None:
    refuse([load(0, 15), store(0, 16), Halt()], "source: reads byte 15 of SRAM, which nothing wrote")


def test_read_of_unwritten_scratch_is_refused() -> None:
    refuse([load(region=Region.SCRATCH), Halt()], "source: reads byte 0 of SCRATCH, which nothing wrote")


def test_read_of_written_scratch_passes() -> None:
    instructions = [load(), store(region=Region.SCRATCH), load(64, region=Region.SCRATCH), Halt()]
    verify(make_program(instructions))


def test_the_gap_of_a_strided_write_stays_unwritten() -> None:
    strided = load(0, 4, count1=3, sram_stride1=8)
    verify(make_program([strided, store(0, 4, count1=3, sram_stride1=8, dram_stride1=4), Halt()]))
    refuse([strided, store(0, 5), Halt()], "source: reads byte 4 of SRAM, which nothing wrote")


def test_output_symbol_must_be_written_completely() -> None:
    instructions = convolution_instructions()
    instructions[8] = store(1024, 15)
    refuse(
        instructions,
        "symbol 'result' (output): nothing writes byte 15 of OUTPUT",
        symbols=(OUTPUT_SYMBOL,),
    )


def test_symbol_must_lie_in_its_region() -> None:
    symbol = dataclasses.replace(OUTPUT_SYMBOL, offset_bytes=250)
    refuse(
        convolution_instructions(),
        "symbols[0] 'result': offset_bytes = 250 with shape [1, 2, 2, 4] of uint8, 16 bytes: allowed are 256"
        " bytes of region OUTPUT",
        symbols=(symbol,),
    )


def test_input_symbol_needs_no_writer() -> None:
    symbol = dataclasses.replace(OUTPUT_SYMBOL, role="input", region=Region.INPUT)
    verify(make_program(convolution_instructions(), symbols=(symbol,)))


# Sums kept in the accumulators


def test_sums_may_be_split() -> None:
    verify(
        make_program(
            convolution_steps(convolve(finish=0), convolve(start=0, finish=0), convolve(start=0, has_bias=0))
        )
    )


def test_continuing_without_a_start_is_refused() -> None:
    refuse(convolution_steps(convolve(start=0)), "start = 0: matrix0 has no unfinished sums to continue")


def test_sums_of_another_unit_cannot_be_continued() -> None:
    other = [wait(0, 1, MATRIX, 1), convolve(start=0, unit_mask=2)]
    refuse(convolution_steps(convolve(finish=0), *other), "start = 0: matrix1 has no unfinished sums")


def test_starting_over_unfinished_sums_is_refused() -> None:
    refuse(
        convolution_steps(convolve(finish=0), convolve()),
        "start = 1: matrix0 has not finished the sums of instruction 5, which comes first",
    )


def test_sums_that_are_never_finished_are_refused() -> None:
    refuse(
        convolution_steps(convolve(), convolve(finish=0)),
        "finish = 0: no later Convolve of matrix0 finishes these sums",
    )


@pytest.mark.parametrize(
    "changed",
    [{"accumulator_row": 1}, {"output_height": 1}, {"output_width": 1}, {"output_channels": 3}],
)
def test_continuing_with_another_shape_is_refused(changed: dict[str, int]) -> None:
    (name,) = changed
    refuse(
        convolution_steps(convolve(finish=0), convolve(start=0, **changed)),
        f"{name} = {changed[name]}: the sums continued from instruction 5 have",
    )


# Semaphores


def test_wait_without_a_signal_is_refused() -> None:
    refuse(
        [wait(3, 1, DMA), Halt()],
        "unmatched synchronisation: waits for semaphore 3 to reach 1, but only 0 signals stand before it",
    )


def test_signal_must_stand_before_its_wait() -> None:
    refuse(
        [wait(3, 1, DMA), signal(3, MATRIX), Halt()], "waits for semaphore 3 to reach 1, but only 0 signals"
    )


def test_semaphore_has_one_signalling_queue() -> None:
    refuse(
        [signal(3, DMA), signal(3, MATRIX), Halt()],
        "semaphore 3 is signalled by dma0 (instruction 0); one queue only may signal it, not also matrix0",
    )


def test_signal_that_nothing_waits_for_is_refused() -> None:
    refuse(
        [signal(3, DMA), Halt()],
        "instruction 0 (Signal unit_kind=DMA unit_mask=1 semaphore=3): "
        "unmatched synchronisation: raises semaphore 3 to 1, but nothing waits for it",
    )


def test_last_signal_must_be_waited_for() -> None:
    refuse(
        [signal(3, DMA), wait(3, 1, MATRIX), signal(3, DMA), Halt()],
        "raises semaphore 3 to 2, but the largest count waited for is 1",
    )


def test_a_later_count_covers_earlier_signals() -> None:
    verify(make_program([signal(3, DMA), signal(3, DMA), wait(3, 2, MATRIX), Halt()]))


# Races


def test_read_after_write_needs_a_wait() -> None:
    refuse(
        [load(0), copy(0, 64), Halt()],
        "instruction 1 (Copy unit_mask=1 count0=16 input_address=0 output_address=64): race: input: "
        "reads byte 0 of SRAM without waiting for instruction 0 (Load unit_mask=1 region=CONSTANTS "
        "dram_offset=0 sram_address=0 run_bytes=16), which writes it in dma0; "
        "vector0 has not waited for dma0",
    )


def test_race_says_how_far_the_queue_has_waited() -> None:
    instructions = [load(0), signal(0, DMA), load(16), wait(0, 1, VECTOR), copy(0, 64, 32), Halt()]
    refuse(instructions, "reads byte 16 of SRAM without waiting for instruction 2")
    refuse(instructions, "vector0 has only waited for dma0 up to instruction 1")


def test_write_after_read_needs_a_wait() -> None:
    read = [load(0), signal(0, DMA), wait(0, 1, VECTOR), copy(0, 64)]
    refuse([*read, load(0), Halt()], "destination: writes byte 0 of SRAM without waiting for instruction 3")
    verify(make_program([*read, signal(1, VECTOR), wait(1, 1, DMA), load(0), Halt()]))


def test_write_after_write_needs_a_wait() -> None:
    refuse([load(0), load(15, unit=1), Halt()], "writes byte 15 of SRAM without waiting for instruction 0")
    verify(make_program([load(0), signal(0, DMA), wait(0, 1, DMA, 1), load(15, unit=1), Halt()]))


def test_one_queue_needs_no_wait() -> None:
    verify(make_program([load(0), store(0), load(0), Halt()]))


def test_two_queues_may_read_the_same_bytes() -> None:
    waits = [wait(0, 1, VECTOR), wait(0, 1, DMA, 1)]
    verify(make_program([load(0), signal(0, DMA), *waits, copy(0, 64), store(0, unit=1), Halt()]))


def test_every_reader_must_be_waited_for() -> None:
    readers = [load(0), signal(0, DMA), wait(0, 1, VECTOR), wait(0, 1, DMA, 1), copy(0, 64), store(0, unit=1)]
    one = [signal(1, VECTOR), wait(1, 1, DMA)]
    other = [signal(2, DMA, 1), wait(2, 1, DMA)]
    refuse([*readers, *one, load(0), Halt()], "without waiting for instruction 5")
    refuse([*readers, *other, load(0), Halt()], "without waiting for instruction 4")
    verify(make_program([*readers, *one, *other, load(0), Halt()]))


def test_knowledge_passes_through_a_third_queue() -> None:
    verify(
        make_program(
            [
                load(0),
                signal(0, DMA),
                wait(0, 1, MATRIX),
                signal(1, MATRIX),
                wait(1, 1, VECTOR),
                copy(0, 64),
                Halt(),
            ]
        )
    )


def test_a_signal_before_the_access_does_not_order_it() -> None:
    refuse([signal(0, DMA), load(0), wait(0, 1, VECTOR), copy(0, 64), Halt()], "race: input: reads byte 0")


def test_a_wait_behind_the_access_does_not_order_it() -> None:
    refuse([load(0), signal(0, DMA), copy(0, 64), wait(0, 1, VECTOR), Halt()], "race: input: reads byte 0")


def test_an_earlier_count_does_not_order_a_later_access() -> None:
    instructions = [load(16), signal(0, DMA), load(0), signal(0, DMA)]
    refuse(
        [*instructions, wait(0, 1, VECTOR), copy(0, 64), wait(0, 2, VECTOR), Halt()], "reads byte 0 of SRAM"
    )
    verify(make_program([*instructions, wait(0, 2, VECTOR), copy(0, 64), Halt()]))


def test_interleaved_strided_sets_do_not_race() -> None:
    even = load(0, 4, count1=4, sram_stride1=8)
    odd = load(4, 4, count1=4, sram_stride1=8, unit=1)
    verify(make_program([even, odd, Halt()]))


def test_strided_sets_that_share_one_byte_race() -> None:
    even = load(0, 4, count1=4, sram_stride1=8)
    odd = load(4, 4, count1=3, sram_stride1=7, unit=1)
    refuse([even, odd, Halt()], "destination: writes byte 11 of SRAM")


def test_scratch_is_checked_for_races() -> None:
    stored = [load(0), store(region=Region.SCRATCH)]
    again = load(64, region=Region.SCRATCH, unit=1)
    refuse([*stored, again, Halt()], "source: reads byte 0 of SCRATCH without waiting for instruction 1")
    verify(make_program([*stored, signal(0, DMA), wait(0, 1, DMA, 1), again, Halt()]))


def test_outputs_are_checked_for_races() -> None:
    loads = [load(0), load(64, unit=1)]
    refuse(
        [*loads, store(0), store(64, unit=1), Halt()],
        "writes byte 0 of OUTPUT without waiting for instruction 2",
    )


def test_constants_are_read_by_all_without_a_wait() -> None:
    verify(make_program([load(0), load(16, unit=1), Halt()]))


def test_in_place_operation_passes() -> None:
    verify(make_program([load(0), signal(0, DMA), wait(0, 1, VECTOR), copy(0, 0), Halt()]))
