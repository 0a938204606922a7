"""Random legal and illegal calls in random order: every result is what the rules say, and nothing else."""

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from compiler.nnapi import OperationCode, ResultCode
from runtime.nnapi.table import NnApi
from tests.support.nnapi_cases.memory_tools import file_memory
from tests.support.nnapi_client import FLOAT, QUANT8, Client
from tests.support.nnapi_oracle import (
    BAD_DATA,
    BAD_STATE,
    NULL,
    OK,
    KnownCompilation,
    KnownDescription,
    KnownExecution,
    KnownMemory,
    KnownModel,
    Life,
)

PICK = st.integers(0, 11)
STALE = 0x8
SIDES = st.sampled_from(["Input", "Output"])
A, B, SUM = (np.array(values, np.uint8) for values in ([10, 20], [11, 12], [11, 22]))


class Calls(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.client = Client(NnApi("tiny"))
        self.devices = self.client.devices()
        self.models: dict[int, KnownModel] = {}
        self.compilations: dict[int, KnownCompilation] = {}
        self.executions: dict[int, KnownExecution] = {}
        self.events: dict[int, KnownExecution] = {}
        self.bursts: dict[int, int] = {}
        self.memories: dict[int, KnownMemory] = {}
        self.descriptions: dict[int, KnownDescription] = {}
        self.pools: dict[str, dict[int, Any]] = {
            "Model": self.models,
            "Compilation": self.compilations,
            "Execution": self.executions,
            "Event": self.events,
            "Burst": self.bursts,
            "Memory": self.memories,
            "MemoryDesc": self.descriptions,
        }
        self.outputs: dict[int, Any] = {}
        self.from_memory: set[int] = set()
        self.freed: list[int] = []

    def teardown(self) -> None:
        self.client.__exit__()

    def choose(self, pool: Mapping[int, Any], pick: int) -> int:
        """NULL, a handle that is not in use, one of another family or one of the pool."""
        odd = [0, self.freed[-1] if self.freed else STALE, self.devices[0]]
        choices = [*list(pool)[:-7:-1], *list(pool)[:-4:-1], *odd]
        return choices[pick % len(choices)]

    def expect(self, code: int, *expected: ResultCode) -> None:
        assert code in expected, f"answers {ResultCode(code).name}, must answer {expected}"

    def missing(self, pool: Mapping[int, Any], handle: int) -> ResultCode | None:
        """The code for a handle that is no object's."""
        if handle == 0:
            return NULL
        return None if handle in pool else BAD_STATE

    def made(self, name: str, *arguments: Any) -> tuple[int, int]:
        result = ctypes.c_void_p(1)
        code = self.client.call(name, *arguments, ctypes.byref(result))
        assert (code == OK) == bool(result.value)
        return code, result.value or 0

    @initialize()
    def begin(self) -> None:
        self.prepare(is_filled=True)

    @rule(is_filled=st.booleans())
    def prepare_execution(self, is_filled: bool) -> None:
        self.prepare(is_filled=is_filled)

    def prepare(self, *, is_filled: bool) -> None:
        """Take one object of each kind as far as it goes before a run."""
        self.create_model()
        self.build_graph(0)
        self.finish_model(0)
        self.create_compilation(0, ["npu", "cpu", "all"][len(self.models) % 3])
        self.finish_compilation(0)
        self.use_compilation(0, "Burst")
        self.use_compilation(0, "Execution")
        if is_filled:
            self.fill(0)

    @rule()
    def create_model(self) -> None:
        self.models[self.client.model()] = KnownModel()

    @rule(pick=PICK, is_valid=st.booleans())
    def add_operand(self, pick: int, is_valid: bool) -> None:
        handle = self.choose(self.models, pick)
        type_ = self.client.type(FLOAT, (2,), 0.0 if is_valid else 1.0)
        code = self.client.call("Model_addOperand", handle, self.client.pointer(type_))
        missing = self.missing(self.models, handle)
        if missing is not None:
            return self.expect(code, missing)
        model = self.models[handle]
        expected = BAD_STATE if model.life is not Life.OPEN else OK if is_valid else BAD_DATA
        model.unused += expected is OK
        return self.expect(code, expected)

    @rule(pick=PICK)
    def build_graph(self, pick: int) -> None:
        handle = self.choose(self.models, pick)
        model = self.models.get(handle)
        if model is None or model.life is not Life.OPEN or model.has_graph:
            return
        first = model.unused
        self.client._operands[handle] = first
        a, b = (self.client.tensor(handle, 2, code=QUANT8) for _ in range(2))
        fuse = self.client.fuse_none(handle)
        total = self.client.tensor(handle, 2, code=QUANT8)
        self.expect(self.client.operation(handle, OperationCode.ADD, [a, b, fuse], [total]), OK)
        self.expect(self.client.identify(handle, [a, b], [total]), OK)
        self.expect(self.client.identify(handle, [a], []), BAD_DATA)
        model.has_graph = True

    @rule(pick=PICK)
    def finish_model(self, pick: int) -> None:
        handle = self.choose(self.models, pick)
        code = self.client.call("Model_finish", handle)
        self.expect(code, self.missing(self.models, handle) or self.models[handle].finish())

    @rule(pick=PICK, devices=st.sampled_from(["all", "npu", "cpu", "twice", "null", "stale", "none"]))
    def create_compilation(self, pick: int, devices: str) -> None:
        handle = self.choose(self.models, pick)
        npu, cpu = self.devices
        listed = {
            "npu": [npu],
            "cpu": [cpu],
            "twice": [cpu, cpu],
            "null": [npu, None],
            "stale": [STALE],
            "none": [],
        }.get(devices)
        if listed is None:
            code, made = self.made("Compilation_create", handle)
        else:
            array = self.client.handles(listed)
            code, made = self.made("Compilation_createForDevices", handle, array, len(listed))
        missing = self.missing(self.models, handle)
        if missing is not None:
            return self.expect(code, missing)
        wrong = {"twice": BAD_DATA, "null": NULL, "stale": BAD_DATA, "none": BAD_DATA}
        expected = OK if self.models[handle].life is Life.DONE else BAD_STATE
        self.expect(code, wrong.get(devices, expected))
        if made:
            self.compilations[made] = KnownCompilation(devices in ("npu", "cpu"))
        return None

    @rule(
        pick=PICK,
        call=st.sampled_from([("Preference", 1, 3), ("Priority", 110, 1)]),
        is_valid=st.booleans(),
    )
    def set_compilation(self, pick: int, call: tuple[str, int, int], is_valid: bool) -> None:
        handle = self.choose(self.compilations, pick)
        name, right, wrong = call
        code = self.client.call(f"Compilation_set{name}", handle, right if is_valid else wrong)
        missing = self.missing(self.compilations, handle)
        self.expect(code, missing or self.compilations[handle].set(is_valid=is_valid))

    @rule(pick=PICK)
    def set_compilation_timeout(self, pick: int) -> None:
        handle = self.choose(self.compilations, pick)
        code = self.client.call("Compilation_setTimeout", handle, 0)
        missing = self.missing(self.compilations, handle)
        if missing is None:
            known = self.compilations[handle]
            missing = known.set(is_valid=known.is_single)
        self.expect(code, missing)

    @rule(pick=PICK)
    def finish_compilation(self, pick: int) -> None:
        handle = self.choose(self.compilations, pick)
        code = self.client.call("Compilation_finish", handle)
        self.expect(code, self.missing(self.compilations, handle) or self.compilations[handle].finish())

    @rule(pick=PICK, name=st.sampled_from(["Execution", "Burst"]))
    def use_compilation(self, pick: int, name: str) -> None:
        handle = self.choose(self.compilations, pick)
        code, made = self.made(f"{name}_create", handle)
        missing = self.missing(self.compilations, handle)
        if missing is not None:
            return self.expect(code, missing)
        known = self.compilations[handle]
        self.expect(code, OK if known.life is Life.DONE else BAD_STATE)
        if made and name == "Burst":
            self.bursts[made] = handle
        elif made:
            self.executions[made] = KnownExecution(known, handle)
        return None

    @rule(pick=PICK, side=SIDES, index=st.integers(-1, 2), length=st.sampled_from([2, 2, 2, 1, 3]))
    def set_slot(self, pick: int, side: str, index: int, length: int) -> None:
        handle = self.choose(self.executions, pick)
        array = (
            self.outputs.setdefault(handle, np.zeros(2, np.uint8)) if side == "Output" else [A, B][index % 2]
        )
        code = self.client.call(
            f"Execution_set{side}", handle, index, None, self.client.pointer(array), length
        )
        missing = self.missing(self.executions, handle)
        if missing is not None:
            return self.expect(code, missing)
        return self.expect(code, self.executions[handle].set_slot(side, index, has_right_length=length == 2))

    @rule(pick=PICK)
    def fill(self, pick: int) -> None:
        handle = self.choose(self.executions, pick)
        for side, index in (("Input", 0), ("Input", 1), ("Output", 0)):
            if handle in self.executions and (side, index) not in self.executions[handle].slots:
                array = [A, B][index] if side == "Input" else np.zeros(2, np.uint8)
                code = self.client.call(
                    f"Execution_set{side}", handle, index, None, self.client.pointer(array), 2
                )
                self.expect(code, self.executions[handle].set_slot(side, index, has_right_length=True))
                if side == "Output" and code == OK:
                    self.outputs[handle] = array

    @rule(pick=PICK, call=st.sampled_from(["setMeasureTiming", "setTimeout"]))
    def set_execution(self, pick: int, call: str) -> None:
        handle = self.choose(self.executions, pick)
        code = self.client.call(f"Execution_{call}", handle, 0)
        self.expect(code, self.missing(self.executions, handle) or self.executions[handle].set_single())

    @rule(pick=PICK)
    def compute(self, pick: int) -> None:
        handle = self.choose(self.executions, pick)
        code = self.client.call("Execution_compute", handle)
        missing = self.missing(self.executions, handle)
        self.expect(code, missing or self.executions[handle].start(Life.DONE))
        if code == OK and handle not in self.from_memory:
            assert self.outputs[handle].tolist() == SUM.tolist()

    @rule(pick=PICK, is_fenced=st.booleans(), after=PICK)
    def start(self, pick: int, is_fenced: bool, after: int) -> None:
        handle = self.choose(self.executions, pick)
        if is_fenced:
            event = self.choose(self.events, after)
            listed = self.client.handles([event])
            name = "Execution_startComputeWithDependencies"
            code, made = self.made(name, handle, listed, 1, 0)
            missing = self.missing(self.executions, handle) or self.missing(self.events, event)
        else:
            code, made = self.made("Execution_startCompute", handle)
            missing = self.missing(self.executions, handle)
        if missing is not None:
            return self.expect(code, missing)
        known = self.executions[handle]
        self.expect(code, known.start(Life.RUNNING))
        if made:
            self.client._events.append(made)
            self.events[made] = known
        return None

    @rule(pick=PICK, burst=PICK)
    def burst_compute(self, pick: int, burst: int) -> None:
        handle, chosen = self.choose(self.executions, pick), self.choose(self.bursts, burst)
        code = self.client.call("Execution_burstCompute", handle, chosen)
        if 0 in (handle, chosen):
            return self.expect(code, NULL)
        missing = self.missing(self.executions, handle) or self.missing(self.bursts, chosen)
        if missing is not None:
            return self.expect(code, missing)
        known = self.executions[handle]
        if known.handle_of_compilation != self.bursts[chosen]:
            return self.expect(code, BAD_DATA)
        return self.expect(code, known.start(Life.DONE))

    @rule(pick=PICK)
    def wait(self, pick: int) -> None:
        handle = self.choose(self.events, pick)
        code = self.client.call("Event_wait", handle)
        missing = self.missing(self.events, handle)
        self.expect(code, missing or OK)
        if missing is None:
            self.events[handle].life = Life.DONE

    @rule(pick=PICK, index=st.integers(-1, 1))
    def ask(self, pick: int, index: int) -> None:
        handle = self.choose(self.executions, pick)
        rank = ctypes.c_uint32()
        code = self.client.call("Execution_getOutputOperandRank", handle, index, ctypes.byref(rank))
        missing = self.missing(self.executions, handle)
        if missing is not None:
            return self.expect(code, missing)
        return self.expect(code, *self.executions[handle].ask(is_valid=index == 0))

    @rule(size=st.integers(1, 3))
    def create_memory(self, size: int) -> None:
        self.memories[file_memory(self.client, size)] = KnownMemory(size)

    @rule(first=PICK, second=PICK)
    def copy_memory(self, first: int, second: int) -> None:
        source, target = self.choose(self.memories, first), self.choose(self.memories, second)
        code = self.client.call("Memory_copy", source, target)
        if 0 in (source, target):
            return self.expect(code, NULL)
        missing = self.missing(self.memories, source) or self.missing(self.memories, target)
        if missing is not None:
            return self.expect(code, missing)
        same = self.memories[source].size == self.memories[target].size
        return self.expect(code, OK if same else BAD_DATA)

    @rule(pick=PICK, memory=PICK, side=SIDES, index=st.integers(-1, 2), length=st.sampled_from([2, 2, 1]))
    def set_slot_from_memory(self, pick: int, memory: int, side: str, index: int, length: int) -> None:
        handle, chosen = self.choose(self.executions, pick), self.choose(self.memories, memory)
        name = f"Execution_set{side}FromMemory"
        code = self.client.call(name, handle, index, None, chosen, 0, length)
        if 0 in (handle, chosen):
            return self.expect(code, NULL)
        missing = self.missing(self.executions, handle) or self.missing(self.memories, chosen)
        if missing is not None:
            return self.expect(code, missing)
        known = self.executions[handle]
        if known.life is Life.OPEN and self.memories[chosen].size < length:
            return self.expect(code, BAD_DATA)
        expected = known.set_slot(side, index, has_right_length=length == 2)
        self.from_memory.add(handle)
        return self.expect(code, expected)

    @rule()
    def create_description(self) -> None:
        self.descriptions[self.client.new("MemoryDesc_create")] = KnownDescription()

    @rule(pick=PICK, compilation=PICK, side=SIDES, index=st.integers(0, 2), frequency=st.sampled_from([1, 0]))
    def add_role(self, pick: int, compilation: int, side: str, index: int, frequency: int) -> None:
        handle, chosen = self.choose(self.descriptions, pick), self.choose(self.compilations, compilation)
        code = self.client.call(f"MemoryDesc_add{side}Role", handle, chosen, index, float(frequency))
        if 0 in (handle, chosen):
            return self.expect(code, NULL)
        missing = self.missing(self.descriptions, handle) or self.missing(self.compilations, chosen)
        if missing is not None:
            return self.expect(code, missing)
        role, known = (chosen, side, index), self.compilations[chosen]
        expected = self.descriptions[handle].add_role(known, role, is_frequency_valid=frequency == 1)
        return self.expect(code, expected)

    @rule(pick=PICK)
    def finish_description(self, pick: int) -> None:
        handle = self.choose(self.descriptions, pick)
        code = self.client.call("MemoryDesc_finish", handle)
        self.expect(code, self.missing(self.descriptions, handle) or self.descriptions[handle].finish())

    @rule(pick=PICK)
    def create_device_memory(self, pick: int) -> None:
        handle = self.choose(self.descriptions, pick)
        code, made = self.made("Memory_createFromDesc", handle)
        missing = self.missing(self.descriptions, handle)
        if missing is None:
            missing = OK if self.descriptions[handle].life is Life.DONE else BAD_STATE
        self.expect(code, missing)
        if made:
            target = file_memory(self.client, 2)
            self.expect(self.client.call("Memory_copy", made, target), BAD_DATA)
            self.expect(self.client.call("Memory_copy", target, made), OK)
            self.client.free("Memory", made)

    @rule(
        pick=PICK,
        pool=st.sampled_from(["Model", "Compilation", "Execution", "Event", "Burst", "Memory", "MemoryDesc"]),
        odds=st.integers(0, 3),
    )
    def free(self, pick: int, pool: str, odds: int) -> None:
        objects = self.pools[pool]
        handle = self.choose(objects, pick)
        if handle in objects and odds:
            return
        self.client.free(pool, handle)
        if handle in objects:
            known = objects.pop(handle)
            self.freed.append(handle)
            if pool == "Event":
                known.life = Life.DONE


def run(examples: int, steps: int) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Calls,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_results_of_random_calls_are_what_the_rules_say() -> None:
    run(examples=12, steps=50)


@pytest.mark.slow
def test_results_of_many_random_calls_are_what_the_rules_say() -> None:
    run(examples=200, steps=200)
