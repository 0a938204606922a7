"""Text form of instructions, derived from their declared fields.

One line per instruction: the class name, then `field=value` in the order of the fields. Fields at their
default are left out, enumerations are written by name, `;` starts a comment:

    Wait unit_kind=MATRIX unit_mask=1 semaphore=3 count=17   ; 17th tile loaded
"""

import difflib
from collections.abc import Iterable

from isa.errors import AssemblyError, FieldRangeError
from isa.fields import BitField
from isa.instruction import REGISTRY, Instruction
from isa.program import Program

_COMMENT = ";"


def format_instruction(instruction: Instruction) -> str:
    """Write an instruction as one line; `parse_instruction` reads it back."""
    words = [type(instruction).__name__]
    for field in instruction.fields:
        value = getattr(instruction, field.name)
        if field.required or value != field.default:
            words.append(f"{field.name}={_format_value(field, value)}")
    return " ".join(words)


def _format_value(field: BitField, value: int) -> str:
    member = field.members.get(value)
    return member.name if member is not None else str(int(value))


def parse_instruction(text: str) -> Instruction:
    """Read one instruction.

    Integers may be decimal, 0x…, 0o… or 0b…. Raises AssemblyError naming the word that is wrong and the
    values that are allowed.
    """
    words = text.partition(_COMMENT)[0].split()
    if not words:
        raise AssemblyError(f"no instruction in {text!r}: expected NAME field=value …")
    cls = _class_named(words[0])
    fields = {field.name: field for field in cls.fields}
    values: dict[str, int] = {}
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not equals:
            raise AssemblyError(f"{cls.__name__}: {word!r} is not of the form field=value")
        if name not in fields:
            raise AssemblyError(
                f"{cls.__name__} has no field {name!r}{_suggestion(name, fields)}; it has {_listing(fields)}"
            )
        if name in values:
            raise AssemblyError(f"{cls.__name__}: field {name!r} is given twice")
        values[name] = _parse_value(cls, fields[name], value)
    missing = [name for name, field in fields.items() if field.required and name not in values]
    if missing:
        raise AssemblyError(f"{cls.__name__}: missing {_listing(missing)}")
    instruction = cls(**values)
    try:
        instruction.check_ranges()
    except FieldRangeError as error:
        raise AssemblyError(str(error)) from None
    return instruction


def _class_named(name: str) -> type[Instruction]:
    classes = {cls.__name__: cls for cls in REGISTRY.values()}
    if name not in classes:
        raise AssemblyError(
            f"no instruction {name!r}{_suggestion(name, classes)}; there are {_listing(classes)}"
        )
    return classes[name]


def _parse_value(cls: type[Instruction], field: BitField, text: str) -> int:
    for member in field.members.values():
        if member.name == text:
            return member
    try:
        value = int(text, 0)
    except ValueError:
        raise AssemblyError(f"{cls.__name__}.{field.name} = {text!r}: allowed are {field.allowed}") from None
    return field.members.get(value, value)


def _listing(names: Iterable[str]) -> str:
    return ", ".join(names)


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def disassemble(program: Program) -> str:
    """List a program: index, byte offset in the code, queue, instruction; layers as comment lines.

    The part behind the queue is the text that `parse_instruction` reads.
    """
    index_width = len(str(max(len(program.instructions) - 1, 0)))
    lines, offset, layer = [], 0, None
    for index, instruction in enumerate(program.instructions):
        if index < len(program.layer_of) and program.layer_of[index] != layer:
            layer = program.layer_of[index]
            info = program.layers[layer] if layer < len(program.layers) else None
            title = f" {info.op} {info.name}".rstrip() if info is not None else ""
            lines.append(f"{_COMMENT} layer {layer}{title}")
        queue = instruction.queue
        lines.append(
            f"{index:{index_width}}  0x{offset:06x}  {str(queue) if queue else '-':<8}  "
            f"{format_instruction(instruction)}"
        )
        offset += instruction.size_bytes
    return "\n".join(lines) + "\n"
