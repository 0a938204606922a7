"""What a user may pass by mistake: each gives one message that says what was passed and what is allowed."""

import dataclasses
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npu_sim.config_io import load_machine, to_toml
from runtime.devices.npu_prepared import NpuPrepared
from runtime.errors import BadDataError, MissingPackageError, RuntimeFailure, UnexpectedNullError
from runtime.inputs import fixed_input
from runtime.runner import compile_model, run, run_compilation, run_program
from runtime.tflite import load_tflite
from tests.support.classifier_file import IMAGE_SHAPE, classifier_file
from tests.support.nnapi_models import add_model

FILE = classifier_file()
IMAGE = fixed_input(IMAGE_SHAPE, "uint8", "random")
ANY: Any = None
FIVE: Any = 5


def classify(**options: Any) -> Any:
    return run(FILE, **{"inputs": [IMAGE], "machine": "tiny", **options})


WRONG: dict[str, tuple[Callable[[], object], type[RuntimeFailure], str]] = {
    "machine None": (
        lambda: classify(machine=None),
        UnexpectedNullError,
        "machine is None, must be the name of a preset, the path of a TOML file or a MachineConfig",
    ),
    "machine 5": (lambda: classify(machine=5), BadDataError, "machine is 5 of type int, must be the name of"),
    "hooks None": (
        lambda: classify(hooks=None),
        UnexpectedNullError,
        "hooks is None, must be a sequence of instances of Hook, which may be empty",
    ),
    "hooks object": (
        lambda: classify(hooks=[object()]),
        BadDataError,
        "of type object, must be instances of Hook",
    ),
    "hooks 5": (lambda: classify(hooks=5), BadDataError, "hooks is 5 of type int, must be a sequence of"),
    "model None": (
        lambda: run(ANY, [IMAGE]),
        UnexpectedNullError,
        "model is None, must be a Model, the path of a .tflite file or its content",
    ),
    "model 5": (lambda: load_tflite(FIVE), BadDataError, "model is 5 of type int, must be a Model, the path"),
    "preference None": (
        lambda: classify(preference=None),
        BadDataError,
        "preference is None, must be one of low_power, fast_single_answer, sustained_speed",
    ),
    "preference 5": (
        lambda: classify(preference=5),
        BadDataError,
        "preference is 5, must be one of low_power",
    ),
    "numerics 5": (
        lambda: classify(numerics=5),
        BadDataError,
        "numerics is 5, must be one of nnapi, nnapi27",
    ),
    "inputs 5": (lambda: classify(inputs=5), BadDataError, "inputs is 5 of type int, must be a sequence of"),
    "inputs ragged": (lambda: classify(inputs=[[[1], [1, 2]]]), BadDataError, "input 0 is no array: "),
    "until text": (
        lambda: classify(until="scores"),
        BadDataError,
        "until is the text 'scores', must be a sequence of names or numbers of tensors",
    ),
    "until element": (
        lambda: classify(until=[2.5]),
        BadDataError,
        r"until\[0\] is 2.5 of type float, must be",
    ),
    "tile limits": (lambda: classify(tile_limits=5), BadDataError, "tile_limits is 5 of type int, must be a"),
    "program": (lambda: run_program(FIVE), BadDataError, "program is 5 of type int, must be a compiled"),
    "compilation": (lambda: run_compilation(ANY), UnexpectedNullError, "compilation is None, must be what"),
}


@pytest.mark.parametrize(("call", "kind", "message"), WRONG.values(), ids=WRONG)
def test_wrong_argument_is_refused_with_what_is_allowed(
    call: Callable[[], object], kind: type[RuntimeFailure], message: str
) -> None:
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_files_content_may_come_in_any_buffer(kind: Callable[[bytes], bytes]) -> None:
    assert run(kind(FILE), [IMAGE], machine="tiny").outputs["scores"].shape == (1, 5)


def test_a_machine_may_be_a_path(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(to_toml(load_machine("tiny")))
    value = np.ones((2, 3), np.uint8)
    assert run(add_model(), [value, value], machine=path).machine == "tiny"


def test_a_frame_without_pandas_is_refused_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    result = classify()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        MissingPackageError, match=r"needs the package pandas.* pip install '\.\[notebooks\]'"
    ):
        result.to_frame()


def test_a_note_that_must_be_a_number_is_checked() -> None:
    prepared = compile_model(FILE, machine="tiny").prepared
    assert isinstance(prepared, NpuPrepared)
    notes = {**prepared.program.notes, "lb_peak_cycles": "few"}
    with pytest.raises(BadDataError, match="note 'lb_peak_cycles' is 'few', must be a number of cycles"):
        run_program(dataclasses.replace(prepared.program, notes=notes), [IMAGE], machine="tiny")
