"""The reference device: computes every operation from its definition, on the host, without a machine."""

from collections.abc import Sequence

from compiler.graph import Graph
from compiler.nnapi import Numerics
from compiler.reference.interpreter import run_graph
from runtime.device import Array, CompilationOptions, DeviceResult, RunOptions
from runtime.devices.support import check_reference_size, supported_operations


class ReferenceDevice:
    """NNAPI's CPU device. It has no time and no energy; every operand's value is kept."""

    @property
    def name(self) -> str:
        """How the registry names it."""
        return "reference"

    def supported(self, graph: Graph, numerics: Numerics) -> tuple[bool, ...]:
        """For each operation, whether the reference computes it."""
        return supported_operations(graph, numerics)

    def prepare(self, graph: Graph, options: CompilationOptions) -> "ReferencePrepared":
        """Nothing to compile; preference and tile limits have no effect."""
        check_reference_size(graph)
        return ReferencePrepared(graph, options.numerics)


class ReferencePrepared:
    """A graph and the rules to run it by."""

    def __init__(self, graph: Graph, numerics: Numerics) -> None:
        self._graph = graph
        self._numerics = numerics

    def execute(self, inputs: Sequence[Array], options: RunOptions) -> DeviceResult:
        """Compute every operand; nothing at all if the run is not functional."""
        if not options.functional:
            return DeviceResult(outputs=(), tensors={})
        values = run_graph(self._graph, inputs, self._numerics)
        written = {
            number: values[number] for operation in self._graph.operations for number in operation.outputs
        }
        return DeviceResult(outputs=tuple(values[number] for number in self._graph.outputs), tensors=written)
