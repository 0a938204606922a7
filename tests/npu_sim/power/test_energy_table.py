import math
import typing

import pytest

from isa.instructions.float_vector import FloatRows, RowFunction
from isa.instructions.vector import DepthwiseConvolve, Softmax
from npu_sim.actions import COMPONENT_OF, Action, Component
from npu_sim.config import EnergyConfig
from npu_sim.config_io import load_machine, override
from npu_sim.power.energy_table import energy_table
from npu_sim.units.machine_timing import MachineTiming
from tests.npu_sim.pipelines import convolve_tile
from tests.npu_sim.units.test_float_timing import ROWS
from tests.npu_sim.units.test_vector_timing import SOFTMAX, WINDOW
from tests.support.programs import load, store


def table(point: str, *changes: str):
    machine = override(load_machine("phone"), changes)
    return energy_table(machine, machine.operating_point(point))


def test_every_action_has_a_price_and_every_price_an_action():
    priced = {
        name.removesuffix("_pj") for name in typing.get_type_hints(EnergyConfig) if name.endswith("_pj")
    }
    assert priced == {action.value for action in Action}


def test_every_action_has_a_component():
    assert set(COMPONENT_OF) == set(Action)


def test_every_action_is_emitted_by_some_unit():
    machine = load_machine("phone")
    timing = MachineTiming(machine, machine.operating_point("NOM"))
    depthwise = DepthwiseConvolve(**WINDOW, weight_address=1024, weight_tap_pitch=8)
    assert isinstance(SOFTMAX, Softmax)
    single = FloatRows(**ROWS, function=RowFunction.SOFTMAX)
    instructions = (convolve_tile(0, 2048, 4096), depthwise, SOFTMAX, single, load(), store())
    works = [timing.work(i) for i in instructions]
    emitted = {action for work in works for action, amount in work.activities if amount}
    assert emitted == set(Action) - {Action.INSTRUCTION_DISPATCH}


def test_prices_are_whole_attojoules_at_the_nominal_voltage():
    assert table("NOM").action_aj[Action.MAC_U8] == 108_000


def test_on_chip_prices_fall_with_the_square_of_the_voltage():
    assert table("UD").action_aj[Action.MAC_U8] == round(108_000 * (0.660 / 0.750) ** 2)


def test_dram_prices_do_not_depend_on_the_voltage():
    actions = [action for action in Action if COMPONENT_OF[action] is Component.DRAM]
    assert all(table("UUD").action_aj[a] == table("OD").action_aj[a] for a in actions)


def test_leakage_per_cycle_is_power_over_frequency():
    # 30 mW / 1066 MHz = 28.14 pJ
    assert table("NOM").static_aj_per_cycle[Component.LEAKAGE] == round(30e15 / 1.066e9)


def test_leakage_power_falls_with_the_voltage_as_the_reference_says():
    expected_mw = 30 * 0.660 / 0.750 * math.exp(2.6 * (0.660 - 0.750))
    power_mw = table("UD").static_aj_per_cycle[Component.LEAKAGE] * 800e6 / 1e15
    assert power_mw == pytest.approx(expected_mw, rel=1e-6)


def test_an_override_changes_the_price():
    assert table("NOM", "energy.mac_u8_pj=1").action_aj[Action.MAC_U8] == 1_000_000
