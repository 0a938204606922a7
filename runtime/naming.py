"""A model's inputs and outputs as the caller sees them."""

import collections
from collections.abc import Sequence

from compiler.graph import Graph
from runtime.inputs import InputSlot


def input_slots(graph: Graph) -> list[InputSlot]:
    """What each input must be, in the model's order."""
    types = [graph.operands[number].type for number in graph.inputs]
    return [
        InputSlot(name, type_.dtype, type_.dimensions if type_.dimensions or type_.code.is_scalar else None)
        for name, type_ in zip(input_names(graph), types, strict=True)
    ]


def input_names(graph: Graph) -> list[str]:
    """One name per input: the operand's, or input_0 … where it has none or shares it."""
    return unique_names([graph.operands[number].name for number in graph.inputs], "input")


def output_names(graph: Graph) -> list[str]:
    """One name per output: the operand's, or output_0 … where it has none or shares it."""
    return unique_names([graph.operands[number].name for number in graph.outputs], "output")


def unique_names(names: Sequence[str], kind: str) -> list[str]:
    """The names; an empty or shared one is replaced by `kind` and its position."""
    counts = collections.Counter(names)
    unique = []
    for position, name in enumerate(names):
        if name and counts[name] == 1:
            unique.append(name)
            continue
        numbered = f"{kind}_{position}"
        while numbered in counts:
            numbered += "_"
        unique.append(numbered)
    return unique
