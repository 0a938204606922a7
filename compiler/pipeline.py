"""Graph to program: legalise, lower, fuse, plan memory and tiles, schedule, emit."""

from compiler.assemble import assemble
from compiler.bounds import program_bounds
from compiler.executable import Executable
from compiler.graph import Graph
from compiler.lower import lower_graph
from compiler.options import CompileOptions
from compiler.passes.fuse_clamp import fuse_clamps
from compiler.passes.legalise import legalise
from compiler.planning import Progress, best_plan
from compiler.schedule.order import order_tasks
from compiler.schedule.synchronise import synchronise
from compiler.stage import CostModel, LoweringContext
from isa.target import Target


def compile_graph(
    graph: Graph,
    target: Target,
    cost: CostModel,
    options: CompileOptions,
    progress: Progress | None = None,
) -> Executable:
    """Compile a graph for a target; `progress` is told how many layers are planned.

    Raises GraphError (the model breaks NNAPI's rules), UnsupportedError (not implemented),
    PlacementError (a tensor cannot be tiled into SRAM) or TileCountError (too many tiles).
    """
    legal = legalise(graph, options.numerics)
    lowered = lower_graph(legal, LoweringContext(target=target, cost=cost), options)
    if not options.keep_tensors:
        lowered = fuse_clamps(lowered)
    bounds = program_bounds(lowered, cost)
    plan = best_plan(lowered, target, cost, options, progress)
    order, estimated_cycles = order_tasks(plan.tasks, cost)
    stream = synchronise(plan.tasks, order)
    program = assemble(lowered, target, options, bounds, plan, stream)
    return Executable(
        program=program, bounds=bounds, estimated_cycles=estimated_cycles, dram_bytes=plan.dram_bytes
    )
