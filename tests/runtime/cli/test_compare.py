import json
from pathlib import Path

from tests.support.command_line import failure_of, stdout_of


def test_each_machine_and_preference_gets_its_own_run() -> None:
    arguments = [
        "--machine",
        "phone",
        "--machine",
        "tiny",
        "--preference",
        "low_power",
        "--preference",
        "sustained_speed",
    ]
    runs = json.loads(stdout_of("compare", *arguments, "--json", "-"))["runs"]
    assert [(run["machine"], run["preference"]) for run in runs] == [
        ("phone", "low_power"),
        ("phone", "sustained_speed"),
        ("tiny", "low_power"),
        ("tiny", "sustained_speed"),
    ]


def test_run_is_the_one_that_run_makes() -> None:
    (compared,) = json.loads(stdout_of("compare", "--machine", "tiny", "--json", "-"))["runs"]
    assert compared == json.loads(stdout_of("run", "--machine", "tiny", "--timing-only", "--json", "-"))


def test_override_holds_for_every_machine() -> None:
    runs = json.loads(stdout_of("compare", "--set", "matrix.units=1", "--json", "-"))["runs"]
    assert [[unit for unit in run["units"] if unit.startswith("matrix")] for run in runs] == [["matrix0"]] * 3


def test_table_has_a_column_per_machine() -> None:
    printed = stdout_of("compare", "--machine", "phone", "--machine", "tiny")
    assert "phone (" in printed
    assert "tiny (" in printed


def test_wrong_machine_gives_one_message(tmp_path: Path) -> None:
    assert "unknown machine" in failure_of("compare", "--machine", "fone", "--json", tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []
