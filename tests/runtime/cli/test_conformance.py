import json
from pathlib import Path
from typing import Any

import pytest

from npu_sim.config_io import load_machine
from tests.support.case_files import case, relu_case, sum_case, tensor, write
from tests.support.command_line import failure_of, npu_sim, stdout_of


def report(*arguments: object) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(stdout_of("conformance", *arguments, "--json", "-"))
    return document


def test_cases_are_counted_in_total_and_per_operation(tmp_path: Path) -> None:
    write(tmp_path, "sum", sum_case())
    write(tmp_path, "relu", relu_case(expected=[128, 201]))
    found = report(tmp_path, "--machine", "tiny")
    counts = [found[key] for key in ("cases", "exact", "within_tolerance", "failed", "refused")]
    assert counts == [2, 1, 1, 0, 0]
    assert {name: entry["cases"] for name, entry in found["operations"].items()} == {"ADD": 1, "RELU": 1}
    assert (found["device"], found["machine"], found["machine_hash"], found["numerics"]) == (
        "npu",
        "tiny",
        load_machine("tiny").hash,
        "nnapi",
    )


def test_variants_are_run_if_they_are_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "sum", sum_case())
    found = report(path, "--device", "reference", "--variants")
    assert [(result["name"], result["variant"]) for result in found["results"]] == [
        ("sum", ""),
        ("sum", "all_tensors_as_inputs"),
        ("sum", "all_inputs_as_internal"),
    ]
    assert found["ran_on"] == {"reference": 3}
    assert (found["machine"], found["machine_hash"]) == (None, None)


def test_the_table_has_a_row_per_operation_and_type(tmp_path: Path) -> None:
    write(tmp_path, "sum", sum_case())
    write(tmp_path, "relu", relu_case())
    lines = [line.split() for line in stdout_of("conformance", tmp_path).splitlines()]
    assert ["ADD", "TENSOR_FLOAT32", "1", "1", "0", "0", "0", "npu", "1"] in lines
    assert ["RELU", "TENSOR_QUANT8_ASYMM", "1", "1", "0", "0", "0", "npu", "1"] in lines
    assert ["all", "2", "2", "0", "0", "0", "npu", "2"] in lines


def test_an_override_of_the_machine_decides_where_operations_run(tmp_path: Path) -> None:
    write(tmp_path, "sum", sum_case())
    printed = stdout_of("conformance", tmp_path, "--set", "vector.float_lanes=0")
    assert "host 1" in printed
    assert "on the NPU's host: 1 × ADD: input 0 is TENSOR_FLOAT32; the NPU has no float lanes" in printed


def test_a_failure_gives_status_1_and_is_told(tmp_path: Path) -> None:
    write(tmp_path, "wrong", sum_case(expected=["3", "6"]))
    result = npu_sim("conformance", tmp_path, "--device", "reference")
    assert result.exit_code == 1
    assert "failed: wrong: small: output 0: 1 of 2 elements differs" in result.stdout


def test_refusals_give_status_1_and_are_counted_by_reason(tmp_path: Path) -> None:
    operands = [tensor("input", [2]), tensor("output", [2])]
    for name in ("first", "second"):
        write(tmp_path, name, case(operands, "SIN", [([["0", "0"]], [["0", "0"]])]))
    result = npu_sim("conformance", tmp_path, "--device", "reference")
    assert result.exit_code == 1
    assert "refused: 2 × SIN (operation 0): not implemented" in result.stdout


def test_a_failure_gives_status_1_with_json_too(tmp_path: Path) -> None:
    write(tmp_path, "wrong", sum_case(expected=["3", "6"]))
    result = npu_sim("conformance", tmp_path, "--device", "reference", "--json", "-")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["failed"] == 1


def test_processes_change_nothing(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path, f"sum{number}", sum_case())
    arguments = (tmp_path, "--device", "reference", "--variants")
    assert report(*arguments, "--jobs", 2) == report(*arguments)


def test_rules_of_level_27_can_be_asked_for(tmp_path: Path) -> None:
    write(tmp_path, "sum", sum_case())
    assert report(tmp_path, "--numerics", "nnapi27", "--device", "reference")["numerics"] == "nnapi27"


def test_a_file_that_is_no_case_fails_and_the_others_are_judged(tmp_path: Path) -> None:
    write(tmp_path, "good", sum_case())
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    result = npu_sim("conformance", tmp_path, "--device", "reference")
    assert result.exit_code == 1
    assert (
        f"failed: {bad}: not a conformance case of format 1: Object missing required field `format`"
        in result.stdout
    )
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["all", "2", "1", "0", "1", "0", "reference", "1"] in lines


@pytest.mark.parametrize("jobs", [1, 2])
def test_files_that_are_no_cases_are_counted_without_any_case(tmp_path: Path, jobs: int) -> None:
    (tmp_path / "bad.json").write_text("[]")
    result = npu_sim("conformance", tmp_path, "--jobs", jobs, "--json", "-")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["cases"], found["failed"]) == (1, 1, 1)
    assert found["results"][0]["name"] == str(tmp_path / "bad.json")


def test_a_file_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    path = write(tmp_path, "sum", sum_case())
    assert report(path, tmp_path, path, "--device", "reference")["cases"] == 1


def test_a_folder_without_cases_is_refused(tmp_path: Path) -> None:
    assert "has no .json file" in failure_of("conformance", tmp_path)


def test_a_folder_named_like_a_case_is_refused_or_searched(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    assert "has no .json file" in failure_of("conformance", tmp_path)


@pytest.mark.parametrize("arguments", [[], ["gone.json"], [".", "--jobs", "0"], [".", "--device", "gpu"]])
def test_a_wrong_command_line_is_told(arguments: list[str]) -> None:
    assert npu_sim("conformance", *arguments).exit_code == 2
