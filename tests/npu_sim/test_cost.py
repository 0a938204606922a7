import pytest

from isa.instruction import UnitKind
from isa.instructions.control import Halt
from npu_sim.config_io import load_machine, override
from npu_sim.cost import MachineCost
from npu_sim.events import StallReason
from npu_sim.npu import simulate
from tests.npu_sim.pipelines import convolve_tile
from tests.support.programs import copy, load, make_program, store, wait


def cost(name: str = "phone", *changes: str) -> MachineCost:
    machine = override(load_machine(name), changes)
    return MachineCost(machine, machine.operating_point(machine.preferences["fast_single_answer"]))


INSTRUCTIONS = {
    "convolve": convolve_tile(0, 2048, 4096),
    "copy": copy(0, 4096, 5000),
    "load": load(0, 5000),
    "store": store(0, 5000),
}


@pytest.mark.parametrize("name", ["phone", "tiny", "ideal"])
@pytest.mark.parametrize("kind", INSTRUCTIONS)
def test_a_lone_instruction_takes_the_cycles_that_its_cost_predicts(name, kind):
    machine, instruction = load_machine(name), INSTRUCTIONS[kind]
    point = machine.preferences["fast_single_answer"]
    program = make_program([instruction, Halt()], target=machine.target)
    result = simulate(program, machine, point, {}, functional=False, verify=False)
    unit = result.units[str(instruction.queue)]
    memory_stalls = unit.stalls[StallReason.SRAM] + unit.stalls[StallReason.DRAM]
    assert unit.busy + memory_stalls == cost(name).cycles(instruction)


def test_control_costs_nothing():
    instruction = wait(0, 1, UnitKind.DMA)
    assert (cost().cycles(instruction), cost().peak_cycles(instruction)) == (0, 0.0)


def test_a_transfer_costs_issue_data_and_latency():
    assert cost().cycles(load(0, 2048)) == 8 + 189 + 185


def test_scarce_ports_raise_the_cost():
    # 2048 + 1024 + 2048 bytes through one port of 16 bytes
    assert cost("phone", "sram.ports=1").cycles(INSTRUCTIONS["convolve"]) == 5120 // 16


def test_a_slow_output_stage_raises_the_cost():
    assert cost("phone", "matrix.output_elements_per_cycle=1").cycles(INSTRUCTIONS["convolve"]) == 2048


def test_peak_cycles_divide_the_macs_by_all_arrays():
    assert cost().peak_cycles(INSTRUCTIONS["convolve"]) == 65536 / 2048


def test_vector_peak_cycles_divide_the_steps_by_all_lanes():
    assert cost("phone", "vector.units=2").peak_cycles(INSTRUCTIONS["copy"]) == 5000 / 256


@pytest.mark.parametrize("name", ["phone", "tiny", "ideal"])
@pytest.mark.parametrize("kind", ["convolve", "copy"])
def test_peak_is_a_bound_of_mapped_and_mapped_of_the_cycles(name, kind):
    machine, instruction = cost(name), INSTRUCTIONS[kind]
    units = 2 if kind == "convolve" and name != "tiny" else 1
    assert machine.peak_cycles(instruction) <= machine.mapped_cycles(instruction)
    assert machine.mapped_cycles(instruction) <= machine.cycles(instruction) / units


def test_dram_cycles_are_those_of_the_sustained_rate():
    # at least 0.80 of 17.07 GB/s, at 1230 MHz
    cycles = cost().dram_cycles(1 << 20)
    assert (1 << 20) / 17.067e9 * 1.23e9 < cycles <= (1 << 20) / (0.80 * 17.067e9) * 1.23e9


def test_dram_costs_nothing_on_the_ideal_machine():
    assert cost("ideal").dram_cycles(1 << 30) == 0.0
