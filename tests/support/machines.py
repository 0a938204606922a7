"""Machines for tests: presets with overrides, and random small ones."""

import numpy as np

from compiler.executable import Executable
from compiler.graph import Graph
from compiler.options import CompileOptions
from compiler.pipeline import compile_graph
from npu_sim.config import MachineConfig
from npu_sim.config_io import load_machine, override
from npu_sim.cost import MachineCost

PREFERENCES = ("low_power", "fast_single_answer", "sustained_speed")


def machine(name: str = "tiny", *settings: str) -> MachineConfig:
    return override(load_machine(name), list(settings))


def random_machine(rng: np.random.Generator) -> MachineConfig:
    """A small machine of random shape, dataflow, memories and queues."""
    choose = lambda *values: rng.choice(values)  # noqa: E731
    banks = choose(2, 4, 8)
    return machine(
        "tiny",
        f"matrix.units={choose(1, 2, 3)}",
        f"matrix.rows={choose(2, 3, 8, 16)}",
        f"matrix.cols={choose(2, 5, 8, 16)}",
        f"matrix.dataflow={choose('weight_stationary', 'output_stationary')}",
        f"matrix.stationary_load={choose('serial', 'hidden')}",
        f"matrix.accumulator_rows={choose(8, 64, 512)}",
        f"matrix.output_elements_per_cycle={choose(1, 4, 16)}",
        f"vector.lanes={choose(1, 16, 128)}",
        f"vector.float_lanes={choose(1, 3, 16)}",
        f"sram.kib={choose(4, 8, 16, 64)}",
        f"sram.banks={banks}",
        f"sram.ports={rng.integers(1, banks, endpoint=True)}",
        f"dma.channels={choose(1, 2, 3, 4)}",
        f"dma.outstanding_bytes={choose(64, 512, 4096)}",
        f"frontend.queue_depth={choose(1, 2, 8, 64)}",
    )


def cost_of(config: MachineConfig, preference: str = "fast_single_answer") -> MachineCost:
    return MachineCost(config, config.operating_point(config.preferences[preference]))


def compile_for(
    graph: Graph,
    config: MachineConfig,
    options: CompileOptions | None = None,
    preference: str = "fast_single_answer",
) -> Executable:
    return compile_graph(graph, config.target, cost_of(config, preference), options or CompileOptions())
