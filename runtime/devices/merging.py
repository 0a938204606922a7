"""The results of the parts of a run, one after the other, as the result of the whole run."""

import dataclasses
from collections.abc import Iterator, Sequence

from npu_sim.events import StallReason
from npu_sim.result import LayerResult, SimResult, UnitResult


def merged(parts: Sequence[SimResult]) -> SimResult:
    """One result for parts that ran one after the other at one operating point; there is at least one.

    Cycles, energies and bytes add up; a unit is idle during the parts that do not list it. Values are those
    of all parts.
    """
    return dataclasses.replace(
        parts[0],
        cycles=sum(part.cycles for part in parts),
        latency_s=sum(part.cycles for part in parts) / parts[0].frequency_hz,
        energy_aj=sum(part.energy_aj for part in parts),
        energy_breakdown_aj={
            component: sum(part.energy_breakdown_aj.get(component, 0) for part in parts)
            for component in _all_keys([part.energy_breakdown_aj for part in parts])
        },
        layers=tuple(_layers(parts)),
        units={name: _unit(name, parts) for name in _all_keys([part.units for part in parts])},
        dram_bytes_read=sum(part.dram_bytes_read for part in parts),
        dram_bytes_written=sum(part.dram_bytes_written for part in parts),
        dram_bytes_fetched=sum(part.dram_bytes_fetched for part in parts),
        sram_peak_bytes=max(part.sram_peak_bytes for part in parts),
        matrix_cycles=sum(part.matrix_cycles for part in parts),
        outputs={name: array for part in parts for name, array in part.outputs.items()},
        tensors={number: array for part in parts for number, array in part.tensors.items()},
    )


def _all_keys(tables: Sequence[dict[str, int]] | Sequence[dict[str, UnitResult]]) -> list[str]:
    """Every key once, in order of first appearance."""
    return list(dict.fromkeys(key for table in tables for key in table))


def _layers(parts: Sequence[SimResult]) -> Iterator[LayerResult]:
    index = cycle = 0
    for part in parts:
        for layer in part.layers:
            yield dataclasses.replace(
                layer,
                index=index,
                start_cycle=cycle + layer.start_cycle,
                end_cycle=cycle + layer.end_cycle,
            )
            index += 1
        cycle += part.cycles


def _unit(name: str, parts: Sequence[SimResult]) -> UnitResult:
    """Where a unit's cycles went in the whole run."""
    own = [part.units[name] for part in parts if name in part.units]
    away = sum(part.cycles for part in parts if name not in part.units)
    return UnitResult(
        busy=sum(unit.busy for unit in own),
        stalls={reason: sum(unit.stalls[reason] for unit in own) for reason in StallReason},
        idle=sum(unit.idle for unit in own) + away,
    )
