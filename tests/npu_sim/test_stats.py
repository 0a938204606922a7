import dataclasses

from isa.instruction import UnitKind
from isa.instructions.control import Halt
from npu_sim.config_io import load_machine, override
from npu_sim.npu import simulate
from npu_sim.result import BoundBy
from npu_sim.stats import layer_ends
from tests.npu_sim.pipelines import convolve_tile, pipeline_program
from tests.support.programs import LAYER, copy, load, make_program, signal, wait


def layers(name: str, *changes: str, tiles: int = 30, count: int = 3):
    machine = override(load_machine(name), changes)
    program = pipeline_program(machine, tiles, layers=count)
    point = machine.preferences["fast_single_answer"]
    return simulate(program, machine, point, {}, functional=False).layers


def bounds(name: str, *changes: str) -> set[BoundBy]:
    return {layer.bound_by for layer in layers(name, *changes)}


def test_a_small_array_bounds_its_layers():
    assert bounds("tiny") == {BoundBy.MATRIX}


def test_slow_memory_bounds_the_layers():
    assert bounds("phone", "dram.peak_bytes_per_second=1e9") == {BoundBy.DRAM}


def test_a_slow_channel_bounds_the_layers():
    assert bounds("phone", "dma.bytes_per_cycle=1") == {BoundBy.DMA}


def test_few_lanes_bound_the_layers():
    assert bounds("ideal", "vector.lanes=1") == {BoundBy.VECTOR}


def test_narrow_ports_bound_the_layers():
    assert bounds("ideal", "sram.ports=1") == {BoundBy.SRAM}


def test_memory_latency_bounds_the_layers():
    slow = ["dram.latency_ps=100000000", "dma.outstanding_bytes=1073741824", "frontend.prefetch_blocks=65536"]
    assert bounds("phone", *slow) == {BoundBy.LATENCY}


def test_slow_fetch_bounds_the_layers():
    slow = ["frontend.fetch_block_bytes=128", "frontend.prefetch_blocks=2"]
    machine = override(load_machine("phone"), slow)
    vector_layer = dataclasses.replace(LAYER, unit="vector")
    program = make_program([*[copy(0, 64)] * 50, Halt()], target=machine.target, layers=(vector_layer,))
    (layer,) = simulate(program, machine, "OD", {}, functional=False, verify=False).layers
    assert layer.bound_by is BoundBy.DISPATCH


def test_a_layer_that_is_done_before_the_one_in_front_is_overlapped():
    machine = load_machine("ideal")
    after_convolve = [signal(0, UnitKind.MATRIX), wait(0, 1, UnitKind.DMA), load(), Halt()]
    program = make_program(
        [convolve_tile(0, 2048, 4096), copy(8192, 9000), *after_convolve],
        target=machine.target,
        layers=tuple(dataclasses.replace(LAYER, index=i) for i in range(3)),
        layer_of=(0, 1, 0, 2, 2, 2),
    )
    result = simulate(program, machine, "NOM", {}, functional=False, verify=False)
    assert result.layers[1].cycles == 0
    assert result.layers[1].bound_by is BoundBy.OVERLAPPED


def test_layer_ends_never_go_back_and_the_last_is_the_end():
    assert layer_ends({0: 50, 1: 30, 2: 70}, [0, 1, 2], 4, 90) == [50, 50, 70, 90]


def test_windows_follow_each_other():
    found = layers("phone")
    assert [layer.end_cycle - layer.cycles for layer in found] == [0, *[x.end_cycle for x in found[:-1]]]


def test_utilization_counts_from_the_first_instruction_of_the_layer():
    (layer,) = layers("ideal", tiles=1, count=1)
    macs_per_cycle = 2 * 32 * 32
    assert layer.utilization == 65536 / (macs_per_cycle * (layer.end_cycle - layer.start_cycle))
