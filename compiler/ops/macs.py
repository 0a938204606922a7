"""How many multiply-accumulates an operation has, from its shapes: what the host's cost model asks for."""

import math
from collections.abc import Callable

from compiler.operation import OperationView

MacCount = Callable[[OperationView], int]


def filter_macs(channel_axis: int) -> MacCount:
    """A filter (input 1) at every output position; one element of `channel_axis` makes an output channel."""

    def macs(view: OperationView) -> int:
        shape = view.input(1).type.dimensions
        taps = math.prod(shape) // shape[channel_axis]
        return math.prod(view.output().type.dimensions) * taps

    return macs


def matrix_macs(*positions: int) -> MacCount:
    """Every row of the input (input 0) times the weights at these positions, omitted ones left out.

    A row is as long as those of the first weights, which cannot be omitted.
    """

    def macs(view: OperationView) -> int:
        weights = [view.input(position) for position in positions]
        rows = math.prod(view.input(0).type.dimensions) // weights[0].type.dimensions[-1]
        return rows * sum(math.prod(w.type.dimensions) for w in weights if not w.omitted)

    return macs
