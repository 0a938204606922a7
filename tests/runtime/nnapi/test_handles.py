import threading

import pytest

from runtime.errors import BadStateError
from runtime.nnapi.handles import HandleTable


def test_a_handle_stands_for_an_object_of_its_family() -> None:
    table, thing = HandleTable(), object()
    handle = table.add("Model", thing)
    assert table.get("Model", handle) is thing
    with pytest.raises(BadStateError, match="of a Memory is one of a Model"):
        table.get("Memory", handle)


def test_a_freed_handle_is_known_as_such() -> None:
    table = HandleTable()
    handle = table.add("Model", object())
    table.free("Model", handle)
    with pytest.raises(BadStateError, match="is not in use: it was freed, or never given"):
        table.get("Model", handle)
    assert len(table) == 0


def test_freeing_gives_the_object_once_and_only_for_its_family() -> None:
    table, thing = HandleTable(), object()
    handle = table.add("Model", thing)
    assert table.free("Memory", handle) is None
    assert table.free("Model", handle) is thing
    assert table.free("Model", handle) is None


def test_handles_look_like_pointers_and_are_never_used_again() -> None:
    table, seen = HandleTable(), set()
    for _ in range(1000):
        handle = table.add("Model", object())
        assert handle % 16 == 0
        seen.add(handle)
        table.free("Model", handle)
    assert len(seen) == 1000
    assert 0 not in seen


def test_threads_get_different_handles() -> None:
    table = HandleTable()
    handles: list[int] = []
    threads = [
        threading.Thread(target=lambda: handles.extend(table.add("Model", None) for _ in range(500)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(handles)) == 2000
