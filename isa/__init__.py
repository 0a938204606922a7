"""The instruction set: what a program may say. Start reading at `instruction.py`."""

from isa import instructions as _instructions  # noqa: F401  (fills the registry)
