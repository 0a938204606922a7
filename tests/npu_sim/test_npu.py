import dataclasses
import itertools

import numpy as np
import pytest

from isa.dtypes import Region
from isa.errors import VerificationError
from isa.instruction import UnitKind
from isa.instructions.control import Halt, Wait
from isa.program import Program
from npu_sim.config import MachineConfig
from npu_sim.config_io import load_machine, override, preset_names
from npu_sim.core.hooks import Hook
from npu_sim.errors import InputError, MachineError
from npu_sim.events import Activity, Flow, Retire, Span, Stall, StallReason
from npu_sim.npu import simulate
from npu_sim.power.energy_table import energy_table
from npu_sim.result import SimResult
from tests.npu_sim.pipelines import TILE_BYTES, pipeline_program
from tests.support.programs import load, make_program, signal, wait

TILES = 12
MACHINES = [
    ("phone", []),
    ("tiny", []),
    ("ideal", []),
    ("phone", ["matrix.dataflow=output_stationary", "matrix.stationary_load=serial"]),
    ("phone", ["sram.ports=1", "dma.issue_cycles=100"]),
    ("tiny", ["frontend.queue_depth=1", "matrix.output_elements_per_cycle=1"]),
]
IDS = [" ".join([name, *changes]) for name, changes in MACHINES]


class Everything(Hook):
    """Keeps every event."""

    def __init__(self) -> None:
        self.events: list[Span | Stall | Activity | Retire | Flow] = []
        self.on_span = self.on_stall = self.on_activity = self.events.append
        self.on_retire = self.on_flow = self.events.append

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]


def pixels() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, TILES * TILE_BYTES, dtype=np.uint8)


def run(machine: MachineConfig, program: Program | None = None, **options) -> SimResult:
    program = pipeline_program(machine, TILES, layers=3) if program is None else program
    point = machine.preferences["fast_single_answer"]
    return simulate(program, machine, point, {"x": pixels()}, **options)


@pytest.fixture(params=MACHINES, ids=IDS)
def machine(request) -> MachineConfig:
    name, changes = request.param
    return override(load_machine(name), changes)


def test_every_cycle_of_every_unit_has_one_cause(machine):
    result = run(machine)
    totals = {unit.busy + sum(unit.stalls.values()) + unit.idle for unit in result.units.values()}
    assert totals == {result.cycles}


def test_no_cause_is_negative(machine):
    result = run(machine)
    assert min(min(u.busy, u.idle, *u.stalls.values()) for u in result.units.values()) >= 0


def test_layer_cycles_sum_to_the_total(machine):
    result = run(machine)
    assert sum(layer.cycles for layer in result.layers) == result.cycles


def test_energy_sums_by_component_and_by_layer(machine):
    result = run(machine)
    by_layer = sum(layer.energy_aj for layer in result.layers)
    assert by_layer == sum(result.energy_breakdown_aj.values()) == result.energy_aj


def test_utilization_is_a_share(machine):
    assert all(0 < layer.utilization <= 1 for layer in run(machine).layers)


def test_hooks_change_nothing(machine):
    plain, observed = run(machine), run(machine, hooks=[Everything(), Everything()])
    assert summary(plain) == summary(observed)


def test_the_same_run_twice_is_the_same_to_the_last_event(machine):
    first, second = Everything(), Everything()
    run(machine, hooks=[first])
    run(machine, hooks=[second])
    assert first.events == second.events


def test_timing_only_takes_exactly_the_same_cycles(machine):
    timed = run(machine, functional=False)
    assert summary(timed) == summary(run(machine))
    assert timed.outputs == timed.tensors == {}


def test_the_output_is_the_same_on_every_machine(machine):
    reference = run(load_machine("ideal")).outputs["y"]
    assert np.array_equal(run(machine).outputs["y"], reference)
    assert len(np.unique(reference)) > 10


def summary(result: SimResult) -> dict:
    fields = dataclasses.asdict(result)
    del fields["outputs"], fields["tensors"]
    return fields


def test_activities_priced_one_by_one_equal_the_energy(machine):
    events = Everything()
    result = run(machine, hooks=[events])
    table = energy_table(machine, machine.operating_point(machine.preferences["fast_single_answer"]))
    dynamic = sum(a.amount * table.action_aj[a.action] for a in events.of(Activity))
    static = result.cycles * sum(table.static_aj_per_cycle.values())
    assert dynamic + static == result.energy_aj


def test_stall_events_add_up_to_the_result(machine):
    events = Everything()
    result = run(machine, hooks=[events])
    for name, unit in result.units.items():
        totals = dict.fromkeys(StallReason, 0)
        for stall in events.of(Stall):
            if stall.source == name:
                totals[stall.reason] += stall.end - stall.start
        assert totals == unit.stalls


def test_spans_of_a_lane_never_overlap(machine):
    events = Everything()
    run(machine, hooks=[events])
    for lane in {span.source for span in events.of(Span)}:
        spans = [span for span in events.of(Span) if span.source == lane]
        assert all(a.end <= b.start for a, b in itertools.pairwise(spans))


def test_instructions_of_a_unit_retire_in_order(machine):
    events = Everything()
    run(machine, hooks=[events])
    for lane in {retire.source for retire in events.of(Retire)}:
        retires = [r for r in events.of(Retire) if r.source == lane]
        assert retires == sorted(retires, key=lambda r: (r.cycle, r.instruction))


def test_a_flow_ends_in_the_cycle_in_which_its_stall_ends(machine):
    events = Everything()
    run(machine, hooks=[events])
    ends = {(s.end, s.source) for s in events.of(Stall) if s.reason is StallReason.SEMAPHORE}
    assert {(flow.cycle, flow.target) for flow in events.of(Flow)} >= ends


def test_an_ideal_machine_never_waits_for_memory():
    units = run(load_machine("ideal")).units.values()
    assert all(u.stalls[StallReason.SRAM] == u.stalls[StallReason.DRAM] == 0 for u in units)


def test_narrow_ports_cost_sram_stalls():
    result = run(override(load_machine("phone"), ["sram.ports=1"]))
    assert result.units["matrix0"].stalls[StallReason.SRAM] > 0


@pytest.mark.parametrize("name", preset_names())
@pytest.mark.parametrize("preference", ["low_power", "fast_single_answer", "sustained_speed"])
def test_every_preference_computes_the_same_bytes(name, preference):
    machine = load_machine(name)
    program = pipeline_program(machine, TILES)
    result = simulate(program, machine, machine.preferences[preference], {"x": pixels()})
    assert np.array_equal(result.outputs["y"], run(load_machine("ideal")).outputs["y"])


def test_removing_a_wait_makes_the_bytes_wrong():
    machine = load_machine("phone")
    program = pipeline_program(machine, TILES)
    position = next(
        i
        for i, x in enumerate(program.instructions)
        if isinstance(x, Wait) and x.unit_kind is UnitKind.MATRIX
    )
    broken = without(program, position)
    right, wrong = run(machine, program), run(machine, broken, verify=False)
    assert not np.array_equal(right.outputs["y"], wrong.outputs["y"])


def test_a_program_with_a_race_is_refused_before_it_runs():
    machine = load_machine("phone")
    program = pipeline_program(machine, TILES)
    with pytest.raises(VerificationError):
        run(machine, without(program, 5))


def without(program: Program, position: int) -> Program:
    def cut(items: tuple) -> tuple:
        return items[:position] + items[position + 1 :]

    return dataclasses.replace(
        program, instructions=cut(program.instructions), layer_of=cut(program.layer_of)
    )


def test_a_program_for_another_machine_is_refused_with_the_differences():
    program = pipeline_program(load_machine("tiny"), 1)
    with pytest.raises(
        MachineError, match=r"another machine than phone: matrix_units 1 \(the machine has 2\)"
    ):
        run(load_machine("phone"), program)


def test_a_missing_input_is_refused():
    machine = load_machine("phone")
    with pytest.raises(InputError, match="'x' is missing"):
        simulate(pipeline_program(machine, 1), machine, "OD", {})


def test_an_instruction_for_a_unit_that_is_not_there_is_refused():
    machine = load_machine("phone")
    program = make_program([load(unit=7), Halt()], target=machine.target)
    with pytest.raises(MachineError, match="instruction 0 is for dma7"):
        run(machine, program, verify=False, functional=False)


def test_instructions_without_a_layer_are_refused():
    machine = load_machine("phone")
    program = make_program([Halt()], target=machine.target, layer_of=(1,))
    with pytest.raises(MachineError, match="the program has 1 layers, and instructions of others"):
        run(machine, program, verify=False)


def test_a_hook_attached_twice_is_refused():
    hook = Everything()
    with pytest.raises(ValueError, match="attached twice"):
        run(load_machine("phone"), hooks=[hook, hook])


def sequential_load(machine: MachineConfig, run_bytes: int) -> Program:
    return make_program(
        [
            load(0, run_bytes, region=Region.INPUT),
            signal(0, UnitKind.DMA),
            wait(0, 1, UnitKind.VECTOR),
            Halt(),
        ],
        target=machine.target,
        region_bytes={Region.CODE: 1 << 10, Region.INPUT: run_bytes},
    )


@pytest.mark.parametrize("point", ["UUD", "SUD", "UD", "NOM", "OD"])
def test_a_long_sequential_load_sustains_four_fifths_of_the_peak_rate(point):
    """On the phone's LPDDR4X, three channels at the lowest clock, where one cannot take the whole rate."""
    machine = override(load_machine("phone"), ["dma.bytes_per_cycle=128"])
    total = 1 << 20
    events = Everything()
    program = sequential_load(machine, total)
    simulate(program, machine, point, {}, functional=False, hooks=[events], verify=False)
    (span,) = (s for s in events.of(Span) if s.source == "dma0")
    seconds = (span.end - span.start) / machine.operating_point(point).frequency_hz
    assert total / seconds >= 0.80 * machine.dram.peak_bytes_per_second


def test_code_is_fetched_through_dram():
    machine = load_machine("phone")
    program = pipeline_program(machine, TILES)
    result = run(machine, program)
    assert program.code_bytes <= result.dram_bytes_fetched < program.code_bytes + 64


def test_dram_bytes_count_whole_bursts():
    machine = load_machine("phone")
    program = make_program([load(0, 1), Halt()], target=machine.target)
    result = run(machine, program, verify=False, functional=False)
    assert result.dram_bytes_read - result.dram_bytes_fetched == machine.dram.burst_bytes


def test_sram_peak_is_the_end_of_the_highest_address():
    machine = load_machine("phone")
    program = make_program([load(1000, 24), Halt()], target=machine.target)
    assert run(machine, program, verify=False, functional=False).sram_peak_bytes == 1024
