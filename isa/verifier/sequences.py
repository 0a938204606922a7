"""Sums that stay in the accumulators from one Convolve to the next."""

from isa.errors import VerificationError
from isa.instruction import Queue
from isa.instructions.matrix import Convolve

_KEPT_FIELDS = ("accumulator_row", "batch", "output_height", "output_width", "output_channels")
"""What a Convolve must share with the one whose sums it continues."""


class AccumulatorSequences:
    """Pairs start and finish: between them, a matrix unit works on nothing else."""

    def __init__(self) -> None:
        self._open: dict[Queue, tuple[int, Convolve]] = {}

    def check(self, index: int, queue: Queue, instruction: Convolve) -> None:
        """Take the next Convolve of a queue; raise VerificationError if it does not fit the one before."""
        before = self._open.pop(queue, None)
        if instruction.start and before is not None:
            raise VerificationError(
                f"start = 1: {queue} has not finished the sums of instruction {before[0]}, which comes first"
            )
        if not instruction.start:
            if before is None:
                raise VerificationError(f"start = 0: {queue} has no unfinished sums to continue")
            for name in _KEPT_FIELDS:
                value, expected = getattr(instruction, name), getattr(before[1], name)
                if value != expected:
                    raise VerificationError(
                        f"{name} = {value}: the sums continued from instruction {before[0]} have {expected}"
                    )
        if not instruction.finish:
            self._open[queue] = (index, instruction)

    def unfinished(self) -> tuple[int, str] | None:
        """Return an instruction whose sums are never finished, with the reason; None if there is none."""
        for queue, (index, _) in self._open.items():
            return index, f"finish = 0: no later Convolve of {queue} finishes these sums"
        return None
