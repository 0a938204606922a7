from hypothesis import given
from hypothesis import strategies as st

from npu_sim.actions import Action, Component
from npu_sim.power.account import account
from npu_sim.power.energy_table import EnergyTable

TABLE = EnergyTable(
    action_aj={action: 10 + n for n, action in enumerate(Action)},
    static_aj_per_cycle={Component.LEAKAGE: 5, Component.CLOCK: 7},
)


def test_counts_are_priced_and_every_cycle_pays_static_energy():
    energy = account({(1, Action.MAC_U8): 100}, [3, 4], TABLE)
    assert energy.by_layer_aj == (3 * 12, 100 * 10 + 4 * 12)
    assert energy.by_component_aj[Component.MATRIX] == 1000
    assert energy.by_component_aj[Component.LEAKAGE] == 7 * 5


@given(
    st.dictionaries(st.tuples(st.integers(0, 3), st.sampled_from(Action)), st.integers(0, 10**15)),
    st.lists(st.integers(0, 10**9), min_size=4, max_size=4),
)
def test_layers_and_components_sum_to_the_total(counts, cycles):
    energy = account(counts, cycles, TABLE)
    assert energy.total_aj == sum(energy.by_layer_aj) == sum(energy.by_component_aj.values())
