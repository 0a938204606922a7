"""Prices: integer attojoules per action and per cycle, of one machine at one operating point.

    E_action(V) = E_nominal * (V / V0)^2        on-chip actions; DRAM has its own, fixed rail
    P_leak(V)   = P0 * (V / V0) * exp(a * (V - V0))

Both are section 4.4 of the hardware reference. Each price is rounded to an attojoule once; after that only
integers are added and multiplied, so every way of summing gives the same total.
"""

import dataclasses
import math

from npu_sim.actions import COMPONENT_OF, Action, Component
from npu_sim.config import MachineConfig, OperatingPoint

ATTOJOULES_PER_PICOJOULE = 10**6
ATTOWATTS_PER_MILLIWATT = 10**15


@dataclasses.dataclass(frozen=True, slots=True)
class EnergyTable:
    """`action_aj`: price of each action; `static_aj_per_cycle`: what every cycle costs, by component."""

    action_aj: dict[Action, int]
    static_aj_per_cycle: dict[Component, int]


def energy_table(config: MachineConfig, point: OperatingPoint) -> EnergyTable:
    """The prices of a machine at an operating point."""
    energy = config.energy
    logic_scale = (point.voltage_v / energy.nominal_voltage_v) ** 2
    prices = {}
    for action in Action:
        picojoules: float = getattr(energy, f"{action.value}_pj")
        scale = 1.0 if COMPONENT_OF[action] is Component.DRAM else logic_scale
        prices[action] = round(picojoules * scale * ATTOJOULES_PER_PICOJOULE)
    over_nominal_v = point.voltage_v - energy.nominal_voltage_v
    leakage_mw = (
        energy.leakage_mw
        * (point.voltage_v / energy.nominal_voltage_v)
        * math.exp(energy.leakage_per_volt * over_nominal_v)
    )
    return EnergyTable(
        action_aj=prices,
        static_aj_per_cycle={
            Component.CLOCK: round(energy.clock_pj_per_cycle * logic_scale * ATTOJOULES_PER_PICOJOULE),
            Component.LEAKAGE: _per_cycle(leakage_mw, point),
            Component.DRAM_BACKGROUND: _per_cycle(energy.dram_background_mw, point),
        },
    )


def _per_cycle(milliwatts: float, point: OperatingPoint) -> int:
    return round(milliwatts * ATTOWATTS_PER_MILLIWATT / point.frequency_hz)
