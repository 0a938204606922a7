"""Hypothesis strategies for instructions, built from the declared fields."""

from hypothesis import strategies as st

from isa.fields import BitField
from isa.instruction import REGISTRY, Instruction


def field_values(field: BitField) -> st.SearchStrategy[int]:
    """Every encodable value of a field."""
    if field.members:
        return st.sampled_from(list(field.members.values()))
    return st.integers(field.minimum, field.maximum)


def instructions_of(cls: type[Instruction]) -> st.SearchStrategy[Instruction]:
    """Every encodable instruction of a class; fields with a default may be left out."""
    required = {f.name: field_values(f) for f in cls.fields if f.required}
    optional = {f.name: field_values(f) for f in cls.fields if not f.required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda values: cls(**values))


def instructions() -> st.SearchStrategy[Instruction]:
    """Every encodable instruction of any class."""
    return st.sampled_from(sorted(REGISTRY.values(), key=lambda cls: cls.opcode)).flatmap(instructions_of)


def _small_or_extreme(field: BitField) -> st.SearchStrategy[int]:
    if field.members:
        return field_values(field)
    small = st.integers(max(field.minimum, 0), min(field.maximum, 4))
    return small | st.just(1) | st.sampled_from((field.minimum, field.maximum))


def plausible_instructions() -> st.SearchStrategy[Instruction]:
    """Instructions whose fields are mostly small, so that they pass many rules before they break one."""
    classes = sorted(REGISTRY.values(), key=lambda cls: cls.opcode)
    return st.sampled_from(classes).flatmap(
        lambda cls: st.builds(cls, **{field.name: _small_or_extreme(field) for field in cls.fields})
    )
