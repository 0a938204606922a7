from pathlib import Path
from typing import Any

import pytest

from compiler.nnapi import Numerics
from npu_sim.config_io import load_machine
from runtime.conformance.case_file import case_files, read_case
from runtime.conformance.harness import Verdict
from runtime.conformance.suite import Suite
from runtime.conformance.variants import variants
from tests.support.case_files import relu_case, sum_case, write
from tests.support.shared import shared_path


@pytest.mark.parametrize("device", ["npu", "reference"])
def test_processes_give_the_same_outcomes_in_the_same_order(tmp_path: Path, device: str) -> None:
    written = [write(tmp_path, f"sum{i}", sum_case()) for i in range(5)]
    written += [write(tmp_path, f"relu{i}", relu_case(expected=[128, 200 + i])) for i in range(4)]
    suite = Suite(
        cases=tuple(read_case(path) for path in written),
        device=device,
        machine=load_machine("tiny"),
        numerics=Numerics.NNAPI,
    )
    alone = list(suite.outcomes())
    assert [each.name for each in alone] == [path.stem for path in written]
    assert list(suite.outcomes(jobs=2)) == alone


def runs() -> list[Any]:
    """Devices, machines and rules; the full set is slow."""
    places = [("reference", "phone"), ("npu", "tiny"), ("npu", "phone"), ("npu", "ideal")]
    return [
        pytest.param(*place, rules, marks=[] if place in places[:2] else [pytest.mark.slow])
        for place in places
        for rules in Numerics
    ]


@pytest.mark.parametrize(("device", "machine", "numerics"), runs())
def test_level_27_passes_and_its_bytes_are_exact(device: str, machine: str, numerics: Numerics) -> None:
    stored = [read_case(path) for path in case_files([shared_path("nnapi", "vts", "V1_0")])]
    cases = tuple(each for case in stored for each in (case, *variants(case)))
    suite = Suite(cases=cases, device=device, machine=load_machine(machine), numerics=numerics)
    outcomes = list(suite.outcomes())
    assert len(stored) == 103
    assert len(outcomes) == 227
    worst = {Verdict.EXACT, Verdict.WITHIN_TOLERANCE}
    assert [each for each in outcomes if each.verdict not in worst] == []
    on_bytes = [each for each in outcomes if each.subjects[0].type == "TENSOR_QUANT8_ASYMM"]
    assert {each.verdict for each in on_bytes} == {Verdict.EXACT}
