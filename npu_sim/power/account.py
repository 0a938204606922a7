"""Energy of a run: counted actions times prices, plus the static energy of every cycle."""

import dataclasses
from collections.abc import Mapping, Sequence

from npu_sim.actions import COMPONENT_OF, Action, Component
from npu_sim.power.energy_table import EnergyTable


@dataclasses.dataclass(frozen=True, slots=True)
class EnergyAccount:
    """Attojoules: in total, by component (each has an entry) and by layer; both sum to the total."""

    total_aj: int
    by_component_aj: dict[Component, int]
    by_layer_aj: tuple[int, ...]


def account(
    counts: Mapping[tuple[int, Action], int], layer_cycles: Sequence[int], table: EnergyTable
) -> EnergyAccount:
    """Price the counts (per layer index and action) and the cycles of each layer, in order."""
    by_component = dict.fromkeys(Component, 0)
    by_layer = [0] * len(layer_cycles)
    for (layer, action), amount in counts.items():
        energy_aj = amount * table.action_aj[action]
        by_component[COMPONENT_OF[action]] += energy_aj
        by_layer[layer] += energy_aj
    for layer, cycles in enumerate(layer_cycles):
        for component, price_aj in table.static_aj_per_cycle.items():
            by_component[component] += cycles * price_aj
            by_layer[layer] += cycles * price_aj
    return EnergyAccount(sum(by_layer), by_component, tuple(by_layer))
