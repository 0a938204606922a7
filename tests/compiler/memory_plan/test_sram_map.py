"""Placement in SRAM over time."""

from hypothesis import given
from hypothesis import strategies as st

from compiler.memory_plan.sram_map import Placement, SramMap, align


def test_an_empty_map_gives_the_lowest_address_at_once():
    assert SramMap(1024).find(100, earliest=5, use=9, death=12) == Placement(0, 5)


def test_a_block_waits_until_the_space_it_needs_is_released():
    sram = SramMap(64)
    sram.add(0, 64, birth=0, death=7)
    assert sram.find(64, earliest=0, use=10, death=12) == Placement(0, 8)


def test_space_that_is_free_earlier_wins_over_a_lower_address():
    sram = SramMap(64)
    sram.add(0, 32, birth=0, death=7)
    assert sram.find(32, earliest=0, use=10, death=12) == Placement(32, 0)


def test_space_reserved_for_a_later_block_is_not_given_away():
    sram = SramMap(32)
    sram.add(0, 32, birth=10, death=20)
    assert sram.find(32, earliest=0, use=5, death=10) is None


def test_space_before_a_later_block_is_used_until_that_one_is_born():
    sram = SramMap(32)
    sram.add(0, 32, birth=10, death=20)
    assert sram.find(32, earliest=0, use=5, death=9) == Placement(0, 0)


def test_what_is_released_after_the_use_comes_too_late():
    sram = SramMap(32)
    sram.add(0, 32, birth=0, death=9)
    assert sram.find(16, earliest=0, use=9, death=11) is None


def test_rollback_forgets_later_blocks():
    sram = SramMap(32)
    mark = sram.mark()
    sram.add(0, 32, birth=0, death=9)
    sram.rollback(mark)
    assert sram.find(32, earliest=0, use=0, death=1) == Placement(0, 0)


@given(st.lists(st.tuples(st.integers(1, 90), st.integers(0, 40), st.integers(0, 20)), max_size=300))
def test_blocks_never_share_an_address_at_the_same_time(requests):
    sram, placed = SramMap(256), []
    for size, use, life in requests:
        found = sram.place(size, 0, use, use + life)
        if found is not None:
            placed.append((found.address, found.address + align(size), found.free_from, use + life))
    for i, (start, end, birth, death) in enumerate(placed):
        assert end <= 256
        for other_start, other_end, other_birth, other_death in placed[:i]:
            in_space = start < other_end and other_start < end
            in_time = birth <= other_death and other_birth <= death
            assert not (in_space and in_time)
