import json
from pathlib import Path

import pytest

from npu_sim.config_io import machine_text, preset_names
from tests.support.command_line import failure_of, npu_sim, stdout_of


def test_list_names_every_preset() -> None:
    printed = stdout_of("machines")
    assert all(name in printed for name in preset_names())


@pytest.mark.parametrize("name", preset_names())
def test_table_and_document_agree_on_the_preferences(name: str) -> None:
    document = json.loads(stdout_of("machines", name, "--json"))
    printed = stdout_of("machines", name)
    assert document["machine_hash"] in printed
    assert all(point["preference"] in printed for point in document["operating_points"])


def test_ridge_point_is_peak_over_sustained_bandwidth() -> None:
    for point in json.loads(stdout_of("machines", "phone", "--json"))["operating_points"]:
        # two units of 32x32, two operations per multiply-accumulate
        assert point["matrix_peak_ops_per_s"] == 2 * 2 * 32 * 32 * point["frequency_hz"]
        assert point["dma_bytes_per_s"] > point["dram_sustained_bytes_per_s"]
        ridge = point["matrix_peak_ops_per_s"] / point["dram_sustained_bytes_per_s"]
        assert point["ridge_ops_per_byte"] == pytest.approx(ridge)


def test_ridge_point_of_a_machine_with_slow_dma_is_peak_over_its_bandwidth() -> None:
    slow = ("--set", "dma.channels=1", "--set", "dma.bytes_per_cycle=2.0")
    for point in json.loads(stdout_of("machines", "phone", *slow, "--json"))["operating_points"]:
        # 4096 operations against 2 bytes, both per cycle
        assert point["ridge_ops_per_byte"] == pytest.approx(2048)


def test_sustained_bandwidth_is_below_the_peak() -> None:
    document = json.loads(stdout_of("machines", "phone", "--json"))
    for point in document["operating_points"]:
        share = point["dram_sustained_bytes_per_s"] / document["dram_peak_bytes_per_s"]
        assert 0.80 <= share < 1


def test_printed_toml_is_the_same_machine(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(stdout_of("machines", "tiny", "--set", "sram.kib=96", "--toml"))
    overridden = stdout_of("machines", "tiny", "--set", "sram.kib=96", "--json")
    assert stdout_of("machines", path, "--json") == overridden


@pytest.mark.parametrize("name", preset_names())
def test_toml_of_a_preset_keeps_its_comments(name: str) -> None:
    assert stdout_of("machines", name, "--toml") == machine_text(name)


def test_unknown_machine_gives_one_message() -> None:
    assert "unknown machine 'fone'" in failure_of("machines", "fone")


@pytest.mark.parametrize("option", [["--toml"], ["--set", "sram.kib=1"]])
def test_options_of_one_machine_need_its_name(option: list[str]) -> None:
    assert npu_sim("machines", *option).exit_code == 2
