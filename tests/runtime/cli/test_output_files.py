import os
from pathlib import Path

import pytest

from runtime.cli.failures import Failure
from runtime.cli.output_files import output_file


def write_and_raise(path: Path, error: type[BaseException]) -> None:
    with output_file(path) as stream:
        stream.write(b"half")
        raise error


def test_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "result"
    with output_file(path) as stream:
        stream.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"


def test_nothing_is_left_after_an_exception(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_and_raise(tmp_path / "result", KeyboardInterrupt)
    assert list(tmp_path.iterdir()) == []


def test_existing_file_survives_an_exception(tmp_path: Path) -> None:
    path = tmp_path / "result"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError):
        write_and_raise(path, RuntimeError)
    assert path.read_bytes() == b"old"


def test_missing_folder_is_found_before_the_block_runs(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "result"
    with (
        pytest.raises(Failure, match=r"cannot write .*missing/result: No such file or directory"),
        output_file(path),
    ):
        pytest.fail("the block ran")


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="it is a folder"), output_file(tmp_path):
        pytest.fail("the block ran")


def test_device_is_written_and_not_replaced() -> None:
    with output_file(Path(os.devnull)) as stream:
        stream.write(b"gone")
    assert Path(os.devnull).is_char_device()


def test_full_disk_names_the_path_that_was_given() -> None:
    with (
        pytest.raises(Failure, match="cannot write /dev/full: No space left on device"),
        output_file(Path("/dev/full")) as stream,
    ):
        stream.write(bytes(1 << 20))


def test_link_keeps_pointing_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with output_file(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with output_file(tmp_path / "result"):
        pass
    assert (tmp_path / "result").stat().st_mode == (tmp_path / "plain").stat().st_mode
