from pathlib import Path

from tests.support.command_line import npu_sim, stdout_of
from tests.support.native_client import NEEDS_COMPILER


@NEEDS_COMPILER
def test_folders_hold_the_library_and_the_header() -> None:
    assert (Path(stdout_of("nnapi", "--libdir").strip()) / "libneuralnetworks.so").is_file()
    assert (Path(stdout_of("nnapi", "--includedir").strip()) / "android" / "NeuralNetworks.h").is_file()


def test_one_folder_has_to_be_asked_for() -> None:
    result = npu_sim("nnapi")
    assert result.exit_code == 2
    assert "Ask for one of --libdir and --includedir." in result.stderr
