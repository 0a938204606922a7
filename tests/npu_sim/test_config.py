import pytest

from isa.dtypes import DataType
from npu_sim.config_io import ConfigError, load_machine, override, preset_names


def test_equal_content_has_an_equal_hash_and_any_change_another():
    phone = load_machine("phone")
    assert override(phone, ["matrix.rows=32"]).hash == phone.hash
    assert override(phone, ["dma.issue_cycles=9"]).hash != phone.hash


@pytest.mark.parametrize("name", preset_names())
def test_every_preference_names_an_operating_point(name):
    machine = load_machine(name)
    assert all(machine.operating_point(point).name == point for point in machine.preferences.values())


def test_an_unknown_operating_point_lists_those_there_are():
    with pytest.raises(ConfigError, match=r"machine phone: no operating point 'MAX'; there are UUD, SUD"):
        load_machine("phone").operating_point("MAX")


def test_the_phone_runs_its_preferences_at_the_points_of_the_reference():
    phone = load_machine("phone")
    frequencies = {name: phone.operating_point(p).frequency_hz for name, p in phone.preferences.items()}
    assert frequencies == {
        "low_power": 800_000_000,
        "fast_single_answer": 1_230_000_000,
        "sustained_speed": 1_066_000_000,
    }


def test_the_target_shows_what_software_sees():
    target = load_machine("phone").target
    assert (target.matrix_units, target.array_rows, target.array_cols) == (2, 32, 32)
    assert (target.sram_bytes, target.dma_channels, target.max_tile_pixels) == (2 << 20, 3, 1024)


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_has_single_precision(name):
    assert load_machine(name).target.data_types == (DataType.U8, DataType.FP32)


def test_a_machine_without_float_lanes_has_bytes_only():
    assert override(load_machine("phone"), ["vector.float_lanes=0"]).target.data_types == (DataType.U8,)


def test_a_negative_number_of_float_lanes_is_refused():
    message = r"vector\.float_lanes = -1: allowed is an integer from 0 to 65536"
    with pytest.raises(ConfigError, match=message):
        override(load_machine("phone"), ["vector.float_lanes=-1"])


def test_the_port_limit_bounds_the_sram_rate():
    assert load_machine("phone").sram.bytes_per_cycle == 16 * 16
