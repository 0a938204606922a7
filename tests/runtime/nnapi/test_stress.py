"""Many threads that share a table and its objects, with legal and illegal calls in random order."""

import random
import threading
import time

import numpy as np
import pytest

from compiler.nnapi import ResultCode
from runtime.nnapi.table import NnApi
from tests.support.nnapi_cases.memory_tools import file_memory
from tests.support.nnapi_client import Client

KINDS = ("Model", "Compilation", "Execution", "Event", "Burst", "Memory")


class Stress:
    """Threads pick from common lists of handles, which others may have freed meanwhile."""

    def __init__(self, seed: int) -> None:
        self.client = Client(NnApi("tiny"))
        self.seed = seed
        self.pools: dict[str, list[int]] = {kind: [0] for kind in KINDS}
        self.codes: set[int] = set()
        self.errors: list[BaseException] = []
        self.output = np.zeros(2, np.float32)
        self.input = np.ones(2, np.float32)

    def step(self, generator: random.Random) -> None:
        picked = {kind: generator.choice(self.pools[kind][-20:]) for kind in KINDS}
        action = generator.randrange(14)
        if action == 0:
            self.pools["Model"].append(self.client.add_model(finished=generator.random() < 0.8))
        elif action == 1:
            self.make("Compilation", "Compilation_create", picked["Model"])
        elif action == 2:
            self.note("Compilation_finish", picked["Compilation"])
        elif action == 3:
            self.make("Execution", "Execution_create", picked["Compilation"])
        elif action in (4, 5):
            for index in range(2):
                self.codes.add(self.client.set_input(picked["Execution"], index, self.input))
            self.codes.add(self.client.set_output(picked["Execution"], 0, self.output))
        elif action == 6:
            self.note("Execution_compute", picked["Execution"])
        elif action == 7:
            self.make("Event", "Execution_startCompute", picked["Execution"])
        elif action == 8:
            after = self.client.handles([picked["Event"]])
            self.make("Event", "Execution_startComputeWithDependencies", picked["Execution"], after, 1, 0)
        elif action == 9:
            self.note("Event_wait", picked["Event"])
        elif action == 10:
            self.make("Burst", "Burst_create", picked["Compilation"])
            self.note("Execution_burstCompute", picked["Execution"], picked["Burst"])
        elif action == 11:
            self.pools["Memory"].append(file_memory(self.client, 8))
            self.note("Execution_setOutputFromMemory", picked["Execution"], 0, None, picked["Memory"], 0, 8)
        else:
            kind = generator.choice(KINDS)
            self.client.free(kind, picked[kind])

    def note(self, name: str, *arguments: object) -> None:
        self.codes.add(self.client.call(name, *arguments))

    def make(self, kind: str, name: str, *arguments: object) -> None:
        made = self.client.pointer(holder := self.client.keep(np.zeros(1, np.uint64)))
        self.note(name, *arguments, made)
        if holder[0]:
            self.pools[kind].append(int(holder[0]))

    def work(self, number: int, seconds: float) -> None:
        generator, end = random.Random(self.seed * 100 + number), time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                self.step(generator)
        except BaseException as error:
            self.errors.append(error)


def run(seed: int, seconds: float) -> None:
    stress = Stress(seed)
    threads = [threading.Thread(target=stress.work, args=(number, seconds)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=seconds + 60)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    assert stress.errors == []
    for event in stress.pools["Event"]:
        stress.client.call("Event_wait", event)
    assert stress.codes <= set(ResultCode)
    assert stress.codes >= {ResultCode.NO_ERROR, ResultCode.BAD_STATE, ResultCode.UNEXPECTED_NULL}
    expected = {
        ResultCode.NO_ERROR,
        ResultCode.BAD_STATE,
        ResultCode.BAD_DATA,
        ResultCode.UNEXPECTED_NULL,
    }
    assert stress.codes <= expected, stress.codes - expected


def test_threads_that_share_everything_get_codes_of_the_rules() -> None:
    run(seed=1, seconds=1.5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_threads_that_share_everything_for_long(seed: int) -> None:
    run(seed, seconds=10)
