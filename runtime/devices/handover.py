"""Which tensors change hands between the NPU and its host."""

import dataclasses
from collections.abc import Sequence

from compiler.partition import Place, Segment


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """The tensors of a host segment that are copied for it: operands of the segment's graph.

    Empty for segments of the NPU. `size_bytes` is of all of them together.
    """

    operands: tuple[int, ...]
    size_bytes: int


def handovers(segments: Sequence[Segment]) -> tuple[Handover, ...]:
    """What each segment hands over.

    A tensor that the NPU makes is copied for the first host segment that reads it; one that the host makes is
    copied once if the NPU reads it later. Inputs and outputs of the model lie where both can reach them.
    """
    made_on_npu = _numbers([s for s in segments if s.place is Place.NPU], "outputs")
    read_on_npu = _numbers([s for s in segments if s.place is Place.NPU], "inputs")
    copied: set[int] = set()
    found = []
    for segment in segments:
        local: list[int] = []
        if segment.place is Place.REFERENCE:
            coming_in = [n for n in segment.graph.inputs if segment.operands[n] in made_on_npu - copied]
            going_out = [n for n in segment.graph.outputs if segment.operands[n] in read_on_npu]
            local = [*coming_in, *going_out]
            copied |= {segment.operands[n] for n in coming_in}
        size_bytes = sum(segment.graph.operands[n].type.size_bytes for n in local)
        found.append(Handover(operands=tuple(local), size_bytes=size_bytes))
    return tuple(found)


def _numbers(segments: Sequence[Segment], side: str) -> set[int]:
    """Numbers in the whole graph of the segments' inputs or outputs."""
    return {segment.operands[n] for segment in segments for n in getattr(segment.graph, side)}
