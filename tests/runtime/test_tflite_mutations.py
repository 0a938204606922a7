"""Damaged files: each is imported and runs, or gives one message; nothing else ever happens."""

import resource
import time

import numpy as np
import pytest

from runtime.errors import ModelFileError, RuntimeFailure
from runtime.runner import run
from runtime.tflite import load_tflite
from tests.support.classifier_file import classifier_file
from tests.support.shared import shared_path

SECONDS_PER_FILE = 10.0
MAX_MEMORY_KIB = 1 << 20
_WORDS = (0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 16)


def mutated(content: bytes, seed: int) -> bytes:
    """Truncated, with flipped bits, a word replaced, or a stretch of noise; the seed decides."""
    draw = np.random.default_rng(seed)
    data = bytearray(content)
    position = int(draw.integers(8, len(data) - 16))
    match seed % 4:
        case 0:
            return bytes(data[: int(draw.integers(0, len(data)))])
        case 1:
            for place in draw.integers(8, len(data), int(draw.integers(1, 4))):
                data[place] ^= 1 << int(draw.integers(0, 8))
        case 2:
            data[position : position + 4] = int(draw.choice(_WORDS)).to_bytes(4, "little")
        case _:
            data[position : position + 16] = draw.bytes(16)
    return bytes(data)


def survive(content: bytes) -> None:
    """Import and run; assert that all that can go wrong is one message."""
    start = time.monotonic()
    message = refusal(content)
    assert "\n" not in message
    assert time.monotonic() - start < SECONDS_PER_FILE
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < MAX_MEMORY_KIB


def refusal(content: bytes) -> str:
    """Why the file was refused; "" if it ran."""
    try:
        model = load_tflite(content)
    except ModelFileError as error:
        return str(error)
    types = [model.graph.operands[number].type for number in model.graph.inputs]
    try:
        run(model, [np.zeros(type_.dimensions, type_.dtype) for type_ in types], machine="tiny")
    except RuntimeFailure as error:
        return str(error)
    return ""


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_file_runs_or_gives_one_message(seed: int) -> None:
    survive(mutated(classifier_file(), seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60, 1060))
def test_many_damaged_files_run_or_give_one_message(seed: int) -> None:
    survive(mutated(classifier_file(), seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_damage_at_the_ends_of_a_real_file_gives_one_message_or_runs(seed: int) -> None:
    content = shared_path("models", "coral_mobilenet_v1_0.25_128_quant.tflite").read_bytes()
    ends = 60_000
    damaged = mutated(content[-ends:], seed)
    survive(content[:-ends] + damaged if seed % 2 else mutated(content[:ends], seed) + content[ends:])


@pytest.mark.parametrize("size", [0, 1, 7, 8, 100, 5000])
def test_noise_gives_one_message(size: int) -> None:
    noise = np.random.default_rng(size).bytes(size)
    for content in (noise, noise[:4] + b"TFL3" + noise[8:]):
        with pytest.raises(ModelFileError):
            load_tflite(content)
