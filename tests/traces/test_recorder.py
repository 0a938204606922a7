import numpy as np
import pytest

from npu_sim.core.hooks import Hook
from npu_sim.events import Span
from tests.traces.synthetic import EXAMPLE, HEADER, record
from traces import Recorder


def test_recorder_is_a_hook():
    assert isinstance(Recorder(), Hook)


def test_every_event_is_one_row_of_its_table():
    log = record(EXAMPLE)
    tables = (log.spans, log.stalls, log.activities, log.retires, log.flows)
    assert [len(table[0]) for table in tables] == [6, 5, 6, 6, 3]
    assert sum(len(table[0]) for table in tables) == len(EXAMPLE)


def test_a_row_holds_the_fields_of_its_event():
    log = record([Span(3, 9, "matrix1", "Convolve", 7, 2)])
    row = [column[0] for column in log.spans]
    assert (row[0], row[1], log.names[row[2]], log.names[row[3]], row[4], row[5]) == (
        3,
        9,
        "matrix1",
        "Convolve",
        7,
        2,
    )


def test_columns_are_read_only():
    log = record(EXAMPLE)
    with pytest.raises(ValueError, match="read-only"):
        log.spans.start[0] = 1


def test_times_are_64_bit():
    log = record([Span(2**40, 2**40 + 1, "dma0", "Load", 0, 0)])
    assert log.spans.end.dtype == np.int64
    assert log.cycles == 2**40 + 1


def test_an_empty_recorder_gives_an_empty_log():
    log = Recorder().log(HEADER)
    assert log.cycles == 0
    assert log.lanes == ()


def test_a_log_does_not_grow_with_its_recorder():
    recorder = Recorder()
    log = recorder.log(HEADER)
    recorder.on_span(Span(0, 1, "dma0", "Load", 0, 0))
    assert len(log.spans.start) == 0
