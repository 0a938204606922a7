import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.accesses import Access, Dimension
from npu_sim.config import SramConfig
from npu_sim.memory.sram import access_words, bank_cycles, traffic_bytes


def make_sram(banks: int, word_bytes: int, ports: int | None = None) -> SramConfig:
    return SramConfig(kib=1024, banks=banks, word_bytes=word_bytes, ports=ports or banks, buffer_cycles=1)


def make_access(address: int, run_bytes: int, *dimensions: tuple[int, int]) -> Access:
    return Access("input", None, False, address, run_bytes, tuple(Dimension(*d) for d in dimensions))


def words_of_runs(access: Access, word_bytes: int) -> list[int]:
    """Every word that every run touches, one after the other."""
    starts = [access.address]
    for count, stride in access.dimensions:
        starts = [s + i * stride for i in range(count) for s in starts]
    return [
        word
        for start in starts
        for word in range(start // word_bytes, (start + access.run_bytes - 1) // word_bytes + 1)
    ]


powers = st.sampled_from([1, 2, 4, 8, 16])


@given(powers, st.integers(0, 100), st.integers(1, 100), st.integers(1, 5), st.integers(1, 9))
def test_words_are_exact_when_the_stride_is_whole_words(word_bytes, address, run_bytes, count, stride_words):
    access = make_access(address, run_bytes, (count, stride_words * word_bytes))
    assert access_words(access, word_bytes) == len(words_of_runs(access, word_bytes))


@given(powers, st.integers(0, 100), st.integers(1, 100), st.integers(1, 5), st.integers(0, 100))
def test_words_are_exact_after_a_whole_period_of_alignments(word_bytes, address, run_bytes, periods, stride):
    period = word_bytes // math.gcd(stride, word_bytes)
    access = make_access(address, run_bytes, (period * periods, stride))
    assert access_words(access, word_bytes) == len(words_of_runs(access, word_bytes))


def test_a_contiguous_access_moves_no_more_than_its_bytes():
    assert traffic_bytes(make_access(0, 1, (1024, 1)), 16) == 1024


def test_single_bytes_far_apart_move_whole_words():
    assert traffic_bytes(make_access(0, 1, (10, 64)), 16) == 160


@given(st.sampled_from([1, 2, 4, 8, 32]), st.integers(1, 80), st.integers(1, 4))
def test_bank_cycles_equal_the_busiest_bank_over_whole_periods(banks, stride_words, periods):
    count = banks // math.gcd(stride_words, banks) * periods
    access = make_access(0, 8, (count, stride_words * 8)) if stride_words > 1 else make_access(0, 8 * count)
    words = words_of_runs(access, 8)
    busiest = max(sum(word % banks == bank for word in words) for bank in range(banks))
    assert bank_cycles(access, make_sram(banks, 8)) == busiest - 1


def test_a_stride_of_all_banks_serialises():
    conflicting = make_access(0, 16, (100, 32 * 16))
    assert bank_cycles(conflicting, make_sram(32, 16)) == 99


def test_an_odd_word_stride_uses_every_bank():
    spread = make_access(0, 16, (320, 33 * 16))
    assert bank_cycles(spread, make_sram(32, 16)) == 319 // 32


@pytest.mark.parametrize("ports", [1, 2, 4])
def test_ports_limit_a_stream_that_no_bank_limits(ports):
    assert bank_cycles(make_access(0, 800), make_sram(4, 8, ports)) == 99 // ports
