"""Errors of the instruction set.

All derive from IsaError: FieldRangeError (a field's value does not fit its width), DecodeError (bytes are
not a valid instruction), AssemblyError (text is not one), ContainerError (a program file is damaged or of
another version) and VerificationError (a program breaks a rule of its target).
"""


class IsaError(Exception):
    """Base of every error that the instruction set raises; the message is meant for a person."""


class FieldRangeError(IsaError):
    """A field's value does not fit its declared width."""


class DecodeError(IsaError):
    """Bytes do not decode to an instruction."""


class AssemblyError(IsaError):
    """Text does not parse as an instruction."""


class ContainerError(IsaError):
    """A program file is truncated, corrupted or of an unknown version."""


class VerificationError(IsaError):
    """A program breaks a static rule: range, alignment, ordering, or a read of unwritten memory."""
