"""Rows of a table picked by number or by key."""

from typing import Any

import numpy as np
import numpy.typing as npt

from isa.instructions.gather import Gather, HashGather, HashHits, RowPick
from npu_sim.errors import MachineError
from npu_sim.functional.registry import executes
from npu_sim.functional.state import ByteArray, MachineState

_INT32 = np.dtype("<i4")


@executes(Gather)
def gather(state: MachineState, i: Gather, unit_index: int) -> None:
    """Copy the rows that the lookups number."""
    lookups = _integers(state, i.lookup_address, i.lookups)
    outside = lookups[(lookups < 0) | (lookups >= i.value_rows)]
    if outside.size:
        raise MachineError(
            f"lookup {outside[0]} is outside the {i.value_rows} rows of values: 0 … {i.value_rows - 1}"
        )
    _output_rows(state, i)[...] = _value_rows(state, i)[lookups]


@executes(HashGather)
def hash_gather(state: MachineState, i: HashGather, unit_index: int) -> None:
    """Copy the rows whose keys equal the lookups."""
    lookups = _integers(state, i.lookup_address, i.lookups)
    places, found = find(_integers(state, i.key_address, i.keys), lookups)
    rows = _value_rows(state, i)[places]
    rows[~found] = 0
    _output_rows(state, i)[...] = rows


@executes(HashHits)
def hash_hits(state: MachineState, i: HashHits, unit_index: int) -> None:
    """Check the order of the keys, and look which lookups they contain."""
    keys = _integers(state, i.key_address, i.keys)
    descents = np.flatnonzero(keys[1:] < keys[:-1])
    if descents.size:
        place = int(descents[0])
        raise MachineError(
            f"key {keys[place + 1]} at {place + 1}: must not be less than the key {keys[place]} before it"
        )
    _, found = find(keys, _integers(state, i.lookup_address, i.lookups))
    state.sram_view(i.output_address, (i.lookups,), (1,))[...] = found


def find(
    keys: npt.NDArray[np.int32], lookups: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Row of each lookup (the last one for those behind all keys), and whether its key equals it."""
    places = np.minimum(np.searchsorted(keys, lookups), keys.size - 1)
    return places, keys[places] == lookups


def _integers(state: MachineState, address: int, count: int) -> npt.NDArray[Any]:
    return state.sram_view(address, (count,), (_INT32.itemsize,), _INT32)


def _value_rows(state: MachineState, i: RowPick) -> ByteArray:
    return state.sram_view(i.value_address, (i.value_rows, i.row_bytes), (i.value_row_pitch, 1))


def _output_rows(state: MachineState, i: RowPick) -> ByteArray:
    return state.sram_view(i.output_address, (i.lookups, i.row_bytes), (i.output_row_pitch, 1))
