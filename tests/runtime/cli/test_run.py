import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import runtime
from runtime.digits import digits_model, held_out
from runtime.inputs import fixed_input
from tests.support.command_line import failure_of, npu_sim, stdout_of

FIELDS = [
    "schema_version",
    "tool_version",
    "machine",
    "machine_hash",
    "model",
    "preference",
    "numerics",
    "cycles",
    "frequency_hz",
    "voltage_v",
    "latency_s",
    "energy_j",
    "energy_aj",
    "energy_breakdown",
    "energy_breakdown_aj",
    "dram_bytes_read",
    "dram_bytes_written",
    "sram_peak_bytes",
    "lb_peak_cycles",
    "lb_mapped_cycles",
    "matrix_cycles",
    "units",
    "layers",
    "fallbacks",
    "transfers",
    "outputs",
]
LAYER_FIELDS = [
    "index",
    "op",
    "name",
    "device",
    "cycles",
    "macs",
    "utilization",
    "bound_by",
    "energy_j",
    "energy_aj",
]


def report_of(*arguments: object) -> dict[str, Any]:
    return json.loads(stdout_of("run", *arguments, "--json", "-"))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return report_of("--input", "random")


def test_json_has_every_documented_field(report: dict[str, Any]) -> None:
    assert list(report) == FIELDS
    assert all(set(LAYER_FIELDS) <= set(layer) for layer in report["layers"])
    assert all(set(output) == {"name", "shape", "dtype", "sha256"} for output in report["outputs"])


def test_layer_cycles_sum_to_the_total(report: dict[str, Any]) -> None:
    assert sum(layer["cycles"] for layer in report["layers"]) == report["cycles"]


def test_attojoules_of_layers_and_components_sum_to_the_total(report: dict[str, Any]) -> None:
    assert sum(layer["energy_aj"] for layer in report["layers"]) == report["energy_aj"]
    assert sum(report["energy_breakdown_aj"].values()) == report["energy_aj"]


def test_joules_are_the_attojoules(report: dict[str, Any]) -> None:
    assert report["energy_j"] == report["energy_aj"] * 1e-18
    assert all(layer["energy_j"] == layer["energy_aj"] * 1e-18 for layer in report["layers"])
    assert report["energy_breakdown"] == {k: v * 1e-18 for k, v in report["energy_breakdown_aj"].items()}


def test_every_cycle_of_every_unit_has_a_cause(report: dict[str, Any]) -> None:
    for unit in report["units"].values():
        assert unit["busy"] + sum(unit["stalls"].values()) + unit["idle"] == report["cycles"]


def test_default_preference_is_fast_single_answer(report: dict[str, Any]) -> None:
    assert report["preference"] == "fast_single_answer"
    assert report == report_of("--input", "random", "--preference", "fast_single_answer")


def test_is_what_the_runtime_returns(report: dict[str, Any]) -> None:
    image = fixed_input((1, 8, 8, 1), np.uint8, "random")
    assert report == json.loads(json.dumps(runtime.run(digits_model(), [image]).to_json_dict()))


@pytest.mark.parametrize("preference", ["low_power", "sustained_speed"])
def test_values_do_not_depend_on_the_preference(report: dict[str, Any], preference: str) -> None:
    other = report_of("--preference", preference)
    assert other["frequency_hz"] != report["frequency_hz"]
    assert other["outputs"] == report["outputs"]


def test_timing_only_takes_the_same_cycles_and_has_no_outputs(report: dict[str, Any]) -> None:
    assert report_of("--timing-only") == {**report, "outputs": []}


def test_override_changes_the_machine_and_its_hash(report: dict[str, Any]) -> None:
    other = report_of("--set", "matrix.units=1", "--set", "vector.lanes=16")
    assert other["machine_hash"] != report["machine_hash"]
    assert "matrix1" in report["units"]
    assert "matrix1" not in other["units"]


def test_keep_tensors_adds_every_operations_output(report: dict[str, Any]) -> None:
    kept = report_of("--keep-tensors")
    assert len(kept["tensors"]) == 7
    assert kept["outputs"] == report["outputs"]


def test_tables_say_that_a_run_with_kept_tensors_is_another_program() -> None:
    assert "Every operation's output was stored" in stdout_of("run", "--keep-tensors")


def test_gradient_is_another_input(report: dict[str, Any]) -> None:
    assert report_of("--input", "gradient")["outputs"] != report["outputs"]


def test_input_file_and_output_file(tmp_path: Path) -> None:
    images, labels = held_out()
    np.save(tmp_path / "image.npy", images[:1])
    stdout_of("run", "--input", tmp_path / "image.npy", "--output", tmp_path / "answer.npz")
    with np.load(tmp_path / "answer.npz") as answer:
        assert answer.files == ["probabilities"]
        assert answer["probabilities"].argmax() == labels[0]


def test_tables_name_every_layer_and_unit(report: dict[str, Any]) -> None:
    printed = stdout_of("run", "--input", "random")
    names = [*report["units"], *(layer["name"] for layer in report["layers"]), *report["energy_breakdown"]]
    assert [name for name in names if name not in printed] == []
    assert f"{report['cycles']:,}" in printed


def test_json_file_is_what_standard_output_gets(report: dict[str, Any], tmp_path: Path) -> None:
    printed = stdout_of("run", "--input", "random", "--json", tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == report
    assert "latency" in printed


def test_trace_covers_the_run_and_changes_nothing(report: dict[str, Any], tmp_path: Path) -> None:
    assert report_of("--trace", tmp_path / "trace.json") == report
    trace = json.loads((tmp_path / "trace.json").read_text())
    tracks = {event["args"]["name"] for event in trace["traceEvents"] if event.get("name") == "thread_name"}
    assert {name for name, unit in report["units"].items() if unit["busy"]} <= tracks


def test_same_command_writes_the_same_bytes(tmp_path: Path) -> None:
    def files(folder: str) -> Iterator[bytes]:
        (tmp_path / folder).mkdir()
        names = {"--json": "r.json", "--trace": "t.json", "--output": "o.npz"}
        stdout_of(
            "run", *(part for option, name in names.items() for part in (option, tmp_path / folder / name))
        )
        return (path.read_bytes() for path in sorted((tmp_path / folder).iterdir()))

    assert list(files("first")) == list(files("second"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--machine", "fone"], "unknown machine 'fone' (nearest: phone)"),
        (["--machine", "no.toml"], "no.toml"),
        (["--set", "matrix.row=8"], "unknown key matrix.row"),
        (["--set", "matrix.rows=many"], "matrix.rows"),
        (["--set", "matrix.rows"], "expected PATH=VALUE"),
        (["--input", "noise"], "--input noise: must be random, gradient or a file whose name ends in .npy"),
        (["--input", "no.npy"], "no.npy: No such file or directory"),
        (["--input", "random", "--input", "random"], "--input is given 2 times; the model has 1 inputs"),
        (["--json", "/no/folder/x.json"], "cannot write /no/folder/x.json: No such file or directory"),
        (["--trace", "/no/folder/x.json"], "cannot write /no/folder/x.json: No such file or directory"),
        (["--output", "/no/folder/x.npz"], "cannot write /no/folder/x.npz: No such file or directory"),
    ],
)
def test_bad_argument_gives_one_message(arguments: list[str], message: str) -> None:
    assert message in failure_of("run", *arguments)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((1, 8, 8, 1), np.float32), "dtype float32, must have uint8"),
        (np.zeros((8, 8), np.uint8), "shape [8, 8], must have [1, 8, 8, 1]"),
        (b"not an array", "not a valid .npy file"),
    ],
)
def test_wrong_input_file_gives_one_message(
    array: npt.NDArray[Any] | bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "input.npy"
    if isinstance(array, bytes):
        path.write_bytes(array)
    else:
        np.save(path, array)
    assert message in failure_of("run", "--input", path)


@pytest.mark.parametrize("option", ["--json", "--trace", "--output"])
def test_full_disk_names_the_file(option: str) -> None:
    assert failure_of("run", option, "/dev/full") == "cannot write /dev/full: No space left on device"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--json", ""], "Invalid value for '--json': the path is empty"),
        (["--trace", ""], "Invalid value for '--trace': the path is empty"),
        (["--output", ""], "Invalid value for '--output': the path is empty"),
        ([""], "the path is empty"),
        (["--trace", "-"], "'--trace': only --json writes to standard output; a file of this name is ./-"),
        (["--output", "-"], "'--output': only --json writes to standard output"),
        (["--json", "a", "--trace", "./a"], "--json and --trace name the same file, a"),
        (["--trace", "b/../a", "--output", "a"], "--trace and --output name the same file, a"),
        (["--input", "x.npy", "--output", "x.npy"], "--input x.npy and --output name the same file, x.npy"),
        (["--machine", "m.toml", "--json", "m.toml"], "--machine and --json name the same file, m.toml"),
    ],
)
def test_wrong_file_is_a_usage_error(arguments: list[str], message: str) -> None:
    result = npu_sim("run", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_output_does_not_replace_the_model(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(b"precious")
    result = npu_sim("run", path, "--json", path)
    assert (result.exit_code, path.read_bytes()) == (2, b"precious")
    assert "MODEL and --json name the same file" in result.stderr


def test_a_device_may_be_named_twice() -> None:
    stdout_of("run", "--json", "/dev/null", "--trace", "/dev/null")


def test_a_dash_with_its_folder_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stdout_of("run", "--timing-only", "--json", "./-", "--preference", "low_power")
    assert json.loads((tmp_path / "-").read_text())["preference"] == "low_power"


@pytest.mark.parametrize("preference", ["low_power", "fast_single_answer"])
def test_a_preference_asks_for_a_single_run(preference: str) -> None:
    printed = stdout_of("run", "--preference", preference)
    assert printed == stdout_of("run", "--preference", preference, "--input", "random")
    assert "held-out" not in printed


def test_timing_only_checks_an_input_that_is_given(tmp_path: Path) -> None:
    assert "nosuch.npy: No such file" in failure_of("run", "--timing-only", "--input", "nosuch.npy")
    np.save(tmp_path / "wrong.npy", np.zeros((8, 8), np.uint8))
    program = tmp_path / "digits.npu"
    stdout_of("compile", "-o", program)
    for source in ([], [program]):
        message = failure_of("run", *source, "--timing-only", "--input", tmp_path / "wrong.npy")
        assert "has shape [8, 8], must have [1, 8, 8, 1]" in message


def test_failed_run_leaves_no_file(tmp_path: Path) -> None:
    failure_of("run", "--input", "noise", "--json", tmp_path / "r.json", "--trace", tmp_path / "t.json")
    assert list(tmp_path.iterdir()) == []


def test_timing_only_has_no_values_to_write(tmp_path: Path) -> None:
    result = npu_sim("run", "--timing-only", "--output", tmp_path / "o.npz")
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_without_arguments_classifies_the_held_out_images() -> None:
    printed = stdout_of("run")
    assert "352 of 360 held-out images are classified correctly (97.8 %)" in printed
    assert all(name in printed for name in ("low_power", "fast_single_answer", "sustained_speed"))
    assert all(row in printed for row in ("latency", "energy", "average power"))
