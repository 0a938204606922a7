"""Extensions: vendors' operand and operation types beside NNAPI's own (level 29)."""

import dataclasses
import itertools
import threading

from compiler.nnapi import EXTENSION_PREFIX_SHIFT, OperandCode, OperationCode
from runtime.errors import BadDataError

MAX_CODE = 2**EXTENSION_PREFIX_SHIFT - 1


@dataclasses.dataclass(frozen=True, slots=True)
class Extension:
    """What a vendor defines: its reverse domain name and the codes of its operand types."""

    name: str
    operand_codes: tuple[int, ...]


OPAQUE = Extension("org.npu_sim.opaque", (0,))
"""The simulated NPU's own extension. Its operand type 0 is a tensor of bytes that no operation looks at."""

KNOWN = {OPAQUE.name: OPAQUE}

_prefixes: dict[str, int] = {}
_next_prefix = itertools.count(1)
_assigning = threading.Lock()


def operand_code(name: str, code: int) -> OperandCode:
    """The operand type for a code within an extension; BadDataError for an unknown name or code."""
    extension = _known(name)
    if code not in extension.operand_codes:
        raise BadDataError(
            f"extension {name} has no operand type {code}, must be one of {list(extension.operand_codes)}"
        )
    return OperandCode(_combined(name, code))


def operation_code(name: str, code: int) -> OperationCode:
    """The operation for a code within an extension; BadDataError for an unknown name or a code too large."""
    _known(name)
    if not 0 <= code <= MAX_CODE:
        raise BadDataError(f"code within extension {name} is {code}, must be 0 to {MAX_CODE}")
    return OperationCode(_combined(name, code))


def is_registered(code: OperandCode | OperationCode) -> bool:
    """True for a type of an extension that `operand_code` or `operation_code` has named."""
    prefix, own = divmod(int(code), 1 << EXTENSION_PREFIX_SHIFT)
    names = [name for name, given in _prefixes.items() if given == prefix]
    return any(isinstance(code, OperationCode) or own in KNOWN[name].operand_codes for name in names)


def _known(name: str) -> Extension:
    if name not in KNOWN:
        raise BadDataError(f"extension is {name!r}, must be one of {', '.join(KNOWN)}")
    return KNOWN[name]


def _combined(name: str, code: int) -> int:
    """The code with the prefix that the name has in this process, from its first use on."""
    with _assigning:
        if name not in _prefixes:
            _prefixes[name] = next(_next_prefix)
    return _prefixes[name] << EXTENSION_PREFIX_SHIFT | code
