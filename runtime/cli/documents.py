"""The files that commands write: JSON documents and arrays."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import click
import numpy as np
import numpy.typing as npt

from runtime.cli.output_files import output_file


def json_bytes(document: Any) -> bytes:
    """A document as indented UTF-8 JSON with a final newline; keys keep their order."""
    return (json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def write_json(document: Any, destination: Path) -> None:
    """Write a document to a file, or to standard output if the destination is "-"."""
    if destination == Path("-"):
        click.echo(json_bytes(document), nl=False)
        return
    with output_file(destination) as stream:
        stream.write(json_bytes(document))


def write_npz(arrays: Mapping[str, npt.NDArray[Any]], stream: IO[bytes]) -> None:
    """Write arrays for numpy.load. Unlike with numpy.savez, any name will do."""
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
