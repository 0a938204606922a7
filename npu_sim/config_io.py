"""Machine files: load a preset or a TOML file, override single fields, write TOML.

Every mistake in a file or an override becomes one ConfigError that names the file, the dotted path, the
value, and what is permitted there.
"""

import difflib
import enum
import re
import tomllib
import typing
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from npu_sim.config import MachineConfig
from npu_sim.errors import ConfigError

__all__ = ["ConfigError", "load_machine", "machine_text", "override", "preset_names", "to_toml"]

_MAX_FILE_BYTES = 1 << 20
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def preset_names() -> list[str]:
    """Names of the machines that come with the simulator, sorted."""
    folder = resources.files("npu_sim") / "presets"
    return sorted(p.name.removesuffix(".toml") for p in folder.iterdir() if p.name.endswith(".toml"))


def load_machine(name_or_path: str) -> MachineConfig:
    """The preset of that name, or the machine in the TOML file at that path (ending in .toml).

    Raises ConfigError.
    """
    is_file = name_or_path.endswith(".toml")
    return _parse(machine_text(name_or_path), name_or_path if is_file else f"preset {name_or_path}")


def machine_text(name_or_path: str) -> str:
    """The TOML document of a preset or file as it was written, comments included.

    Raises ConfigError if there is none; what it says is not checked.
    """
    if name_or_path.endswith(".toml"):
        return _read(Path(name_or_path))
    names = preset_names()
    if name_or_path not in names:
        raise ConfigError(
            f"unknown machine {name_or_path!r}{_nearest(name_or_path, names)}; presets are "
            f"{', '.join(names)}, and a path must end in .toml"
        )
    return (resources.files("npu_sim") / "presets" / f"{name_or_path}.toml").read_text(encoding="utf-8")


def override(config: MachineConfig, assignments: Iterable[str]) -> MachineConfig:
    """A copy of `config` with fields replaced.

    Each assignment is `dotted.path=value`; the value is a TOML scalar, or a bare word that is taken as a
    string. Later assignments win; rules between fields are checked after the last one. Raises ConfigError.
    """
    tree = msgspec.to_builtins(config)
    for assignment in assignments:
        path, separator, text = assignment.partition("=")
        keys = path.strip().split(".")
        if not separator or not all(keys):
            raise ConfigError(f"override {assignment!r}: expected PATH=VALUE, such as matrix.rows=8")
        _assign(tree, keys, _scalar(text.strip(), assignment), assignment)
    return _build(tree, "override " + ", ".join(assignments))


def to_toml(config: MachineConfig) -> str:
    """The machine as a TOML document that `load_machine` reads back to an equal config."""
    lines: list[str] = []
    _write_table(msgspec.to_builtins(config), (), lines)
    return "\n".join(lines) + "\n"


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"machine file {path}: cannot be read: {error.strerror or error}") from error
    if len(raw) > _MAX_FILE_BYTES:
        raise ConfigError(f"machine file {path}: larger than {_MAX_FILE_BYTES} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"machine file {path}: not UTF-8 text (byte {error.start})") from error


def _parse(text: str, source: str) -> MachineConfig:
    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{source}: not valid TOML: {error}") from error
    return _build(tree, source)


def _build(tree: dict[str, Any], source: str) -> MachineConfig:
    _check(tree, MachineConfig, (), source)
    try:
        return msgspec.convert(tree, MachineConfig)
    except msgspec.ValidationError as error:
        rule, _, place = str(error).partition(" - at `$.")
        table = place.rstrip("`")
        raise ConfigError(f"{source}: {table + '.' if table else ''}{rule}") from error


def _check(tree: Any, section: type[msgspec.Struct], path: tuple[str, ...], source: str) -> None:
    """Raise ConfigError for unknown keys, missing keys and wrong values of a table and those below it."""
    where = ".".join(path) or "the top level"
    if not isinstance(tree, dict):
        raise ConfigError(f"{source}: {where} = {tree!r}: a table is expected")
    hints = typing.get_type_hints(section, include_extras=True)
    for key, value in tree.items():
        if key not in hints:
            raise ConfigError(
                f"{source}: unknown key {'.'.join((*path, key))} (value {value!r}){_nearest(key, hints)}; "
                f"permitted in {where}: {', '.join(hints)}"
            )
    for key, hint in hints.items():
        if key not in tree:
            raise ConfigError(
                f"{source}: missing key {'.'.join((*path, key))}; needed in {where}: {', '.join(hints)}"
            )
        _check_value(tree[key], hint, (*path, key), source)


def _check_value(value: Any, hint: Any, path: tuple[str, ...], source: str) -> None:
    """Check one value: a table by its keys, a named collection entry by entry, anything else as a scalar."""
    plain, limits = _split(hint)
    if isinstance(plain, type) and issubclass(plain, msgspec.Struct):
        _check(value, plain, path, source)
    elif typing.get_origin(plain) is dict and isinstance(value, dict):
        for name, entry in value.items():
            _check_value(entry, typing.get_args(plain)[1], (*path, name), source)
    else:
        try:
            msgspec.convert(value, hint)
        except msgspec.ValidationError:
            raise ConfigError(
                f"{source}: {'.'.join(path)} = {value!r}: allowed is {_describe(plain, limits)}"
            ) from None


def _split(hint: Any) -> tuple[Any, msgspec.Meta]:
    """A type hint without its limits, and the limits."""
    if typing.get_origin(hint) is typing.Annotated:
        plain, limits = typing.get_args(hint)[:2]
        return plain, limits
    return hint, msgspec.Meta()


def _describe(plain: Any, limits: msgspec.Meta) -> str:
    """What a scalar field may hold, in words."""
    if isinstance(plain, type) and issubclass(plain, enum.Enum):
        return "one of " + ", ".join(str(member.value) for member in plain)
    if plain is int:
        return f"an integer from {limits.ge} to {limits.le}"
    if plain is float:
        return f"a number from {limits.ge:g} to {'inf' if limits.le is None else format(limits.le, 'g')}"
    if plain is str:
        return "a string" if limits.max_length is None else f"1 to {limits.max_length} printable characters"
    return "a table"


def _assign(tree: dict[str, Any], keys: Sequence[str], value: Any, assignment: str) -> None:
    """Replace one leaf; the path must exist."""
    table: Any = tree
    for depth, key in enumerate(keys):
        where = ".".join(keys[:depth]) or "the top level"
        if not isinstance(table, dict):
            raise ConfigError(f"override {assignment!r}: {where} is a value, it has no key {key!r}")
        if key not in table:
            raise ConfigError(
                f"override {assignment!r}: unknown key {'.'.join(keys[: depth + 1])}"
                f"{_nearest(key, table)}; permitted in {where}: {', '.join(table)}"
            )
        if depth == len(keys) - 1:
            if isinstance(table[key], dict):
                raise ConfigError(
                    f"override {assignment!r}: {'.'.join(keys)} is a table; "
                    f"name one of its keys: {', '.join(table[key])}"
                )
            table[key] = value
            return
        table = table[key]


def _scalar(text: str, assignment: str) -> Any:
    """A TOML scalar, or the text itself where it is no TOML."""
    if not text or "\n" in text:
        raise ConfigError(f"override {assignment!r}: the value is empty or has several lines")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    if isinstance(value, dict | list):
        raise ConfigError(f"override {assignment!r}: a number, a word or a string is expected")
    return value


def _nearest(key: str, permitted: Iterable[str]) -> str:
    """A suggestion in parentheses, or nothing."""
    matches = difflib.get_close_matches(key, list(permitted), n=1, cutoff=0.5)
    return f" (nearest: {matches[0]})" if matches else ""


def _write_table(table: dict[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    """Append the scalars of a table, then its sub-tables."""
    scalars = {k: v for k, v in table.items() if not isinstance(v, dict)}
    if path and scalars:
        lines.extend(["", "[" + ".".join(map(_toml_key, path)) + "]"])
    lines.extend(f"{_toml_key(key)} = {_toml_value(value)}" for key, value in scalars.items())
    for key, value in table.items():
        if isinstance(value, dict):
            _write_table(value, (*path, key), lines)


def _toml_key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _toml_value(key)


def _toml_value(value: object) -> str:
    """A string, integer or float; JSON's escapes are a subset of TOML's."""
    return msgspec.json.encode(value).decode() if isinstance(value, str) else repr(value)
