"""The function lists of the two header files that the product implements."""

import re

from tests.support.shared import shared_path

HEADER_27, TABLE_30 = "000_b4392f9c854e92c6.txt", "003_03ede9c34e78fdd5.txt"


def declared_functions(name: str) -> dict[str, tuple[str, list[str]]]:
    """Return type and argument types of every function of a header, by name."""
    text = re.sub(r"^\d+ ?", "", shared_path("seeds", name).read_text(), flags=re.M)
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    found = re.findall(r"(\w+) \(\*(A\w+)\)\(([^;]*?)\);", text)
    found += re.findall(r"^(int|void) (A\w+)\(([^;]*?)\)\s*(?:__\w+[^;]*)?;", text, flags=re.M)
    return {function: (result, _types(arguments)) for result, function, arguments in found}


def _types(arguments: str) -> list[str]:
    return [" ".join(argument.split()).rsplit(" ", 1)[0] for argument in arguments.split(",")]
