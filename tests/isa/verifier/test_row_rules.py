"""Rules of the instructions on rows, of lookups and of interpolation."""

import re
from typing import Any

import pytest

from isa.errors import VerificationError
from isa.float_bits import INFINITY_BITS, ONE_BITS
from isa.instruction import Instruction
from isa.instructions.gather import Gather, HashGather, HashHits
from isa.instructions.resize import ResizeBilinear
from isa.instructions.vector import L2Normalize, Multiply
from isa.verifier.rules import check_instruction
from tests.support.programs import TARGET


def made(cls: type[Instruction], **fields: Any) -> Instruction:
    """An instruction that keeps all rules, with some fields replaced: ones, addresses 4, scales 1.0."""
    values: dict[str, Any] = {field.name: 1 for field in cls.fields if field.required}
    values |= {name: 4 for name in values if name.endswith("_address")}
    values |= {name: ONE_BITS for name in values if name.endswith("_scale")}
    values |= {"output_shift": 0} if cls is Multiply else {}
    return cls(**values | fields)


@pytest.mark.parametrize("cls", [Multiply, L2Normalize, ResizeBilinear, Gather, HashGather, HashHits])
def test_good_instruction_passes(cls: type[Instruction]) -> None:
    check_instruction(made(cls), TARGET)


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (made(Multiply, count0=0), "count0 = 0: must be at least 1"),
        (made(Multiply, input_zero=256), "input_zero = 256: allowed are 0 … 255"),
        (made(Multiply, output_shift=1), "output_shift = 1: allowed are -31 … 0"),
        (made(Multiply, clamp_min=9, clamp_max=8), "clamp_min = 9: must not exceed clamp_max = 8"),
        (made(L2Normalize, depth=0), "depth = 0: must be at least 1"),
        (made(L2Normalize, input_zero=-1), "input_zero = -1: allowed are 0 … 255"),
        (made(ResizeBilinear, output_width=0), "output_width = 0: must be at least 1"),
        (made(ResizeBilinear, row_scale=0), "row_scale = 0: must be positive and finite"),
        (made(ResizeBilinear, column_scale=INFINITY_BITS), "column_scale = inf: must be positive and finite"),
        (made(Gather, lookups=0), "lookups = 0: must be at least 1"),
        (made(Gather, value_rows=0), "value_rows = 0: must be at least 1"),
        (made(Gather, lookup_address=6), "lookup_address = 6: must be a multiple of 4"),
        (made(HashGather, row_bytes=0), "row_bytes = 0: must be at least 1"),
        (made(HashGather, key_address=7), "key_address = 7: must be a multiple of 4"),
        (made(HashHits, keys=0), "keys = 0: must be at least 1"),
        (made(HashHits, key_address=7), "key_address = 7: must be a multiple of 4"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_broken_rule_is_named(instruction: Instruction, message: str) -> None:
    with pytest.raises(VerificationError, match=re.escape(message)):
        check_instruction(instruction, TARGET)
