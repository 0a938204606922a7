"""Dependencies from buffer accesses."""

from compiler.schedule.tasks import Lane, SramBuffers, Use
from compiler.stage import Box
from isa.instruction import UnitKind

DMA, MATRIX = Lane(UnitKind.DMA, 0), Lane(UnitKind.MATRIX, 0)


def test_a_reader_follows_the_writer_of_the_bytes_it_reads():
    buffer, after = SramBuffers().new(0, 64), {}
    buffer.write(Use(0, 32), DMA, 1, {})
    buffer.write(Use(32, 64), DMA, 2, {})
    buffer.read(Use(0, 16), MATRIX, 3, after)
    assert after == {DMA: 1}


def test_boxes_that_do_not_meet_do_not_order_tasks_even_if_their_ranges_interleave():
    buffer, after = SramBuffers().new(0, 64), {}
    shape = (1, 1, 4, 16)
    buffer.write(Use(0, 56, Box(0, 1, 0, 1, 0, 4, 0, 8), shape), DMA, 1, {})
    buffer.read(Use(8, 64, Box(0, 1, 0, 1, 0, 4, 8, 16), shape), MATRIX, 2, after)
    assert after == {}


def test_the_next_owner_of_an_address_follows_all_uses_of_the_one_before():
    sram, after = SramBuffers(), {}
    old = sram.new(0, 64)
    old.write(Use(0, 64), DMA, 1, {})
    old.read(Use(0, 64), MATRIX, 2, {})
    sram.new(32, 64).write(Use(0, 64), DMA, 3, after)
    assert after == {DMA: 1, MATRIX: 2}


def test_uses_of_other_addresses_of_the_old_buffer_do_not_order():
    sram, after = SramBuffers(), {}
    old = sram.new(0, 64)
    old.write(Use(0, 32), DMA, 1, {})
    sram.new(32, 32).write(Use(0, 32), MATRIX, 2, after)
    assert after == {}


def test_a_buffer_that_was_overwritten_whole_is_forgotten():
    sram = SramBuffers()
    first = sram.new(0, 64)
    second = sram.new(0, 64)
    second.write(Use(0, 40), DMA, 1, {})
    second.write(Use(40, 64), DMA, 2, {})
    assert sram.new(0, 64).before == (second,)
    assert second.before == (first,)


def test_behind_a_buffer_that_was_written_in_part_the_one_before_still_counts():
    sram, after = SramBuffers(), {}
    sram.new(0, 64).read(Use(32, 64), DMA, 1, {})
    sram.new(0, 64).write(Use(0, 16), MATRIX, 2, {})
    sram.new(0, 64).write(Use(32, 64), MATRIX, 3, after)
    assert after == {DMA: 1}


def test_behind_a_smaller_buffer_the_rest_of_the_one_before_still_counts():
    sram, after = SramBuffers(), {}
    sram.new(0, 64).read(Use(32, 64), DMA, 1, {})
    sram.new(0, 16).write(Use(0, 16), MATRIX, 2, {})
    sram.new(0, 64).write(Use(32, 64), MATRIX, 3, after)
    assert after == {DMA: 1}
