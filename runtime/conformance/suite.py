"""Runs many cases, in this process or in several."""

import concurrent.futures
import dataclasses
import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool

from compiler.nnapi import Numerics
from npu_sim.config import MachineConfig
from runtime.conformance.case import Case
from runtime.conformance.harness import Outcome, run_case
from runtime.device import Device
from runtime.device_registry import get_device
from runtime.errors import OpFailedError

_CASES_PER_TASK = 4
"""Enough that handing over costs little, few enough that progress moves and no process is left alone."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Cases and what to run them on: a device by name, and the machine of the NPU."""

    cases: tuple[Case, ...]
    device: str
    machine: MachineConfig
    numerics: Numerics

    def outcomes(self, jobs: int = 1) -> Iterator[Outcome]:
        """What became of each case, in order; `jobs` is the number of processes."""
        if jobs == 1 or not self.cases:
            device = get_device(self.device, self.machine)
            return (run_case(case, device, self.numerics) for case in self.cases)
        return self._in_processes(jobs)

    def _in_processes(self, jobs: int) -> Iterator[Outcome]:
        pool = concurrent.futures.ProcessPoolExecutor(
            max_workers=min(jobs, len(self.cases)),
            # Processes that start afresh: a copy of one with threads, such as a progress bar's, may hang.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start,
            initargs=(self.device, self.machine, self.numerics),
        )
        try:
            yield from pool.map(_run, self.cases, chunksize=_CASES_PER_TASK)
        except BrokenProcessPool as error:
            raise OpFailedError(
                f"one of {jobs} processes ended before its work, perhaps for lack of memory; try fewer jobs"
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


_WORKER: dict[str, tuple[Device, Numerics]] = {}
"""What a process of the pool works with; set once when it starts."""


def _start(device: str, machine: MachineConfig, numerics: Numerics) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the process that waits for this one
    _WORKER["worker"] = (get_device(device, machine), numerics)


def _run(case: Case) -> Outcome:
    device, numerics = _WORKER["worker"]
    return run_case(case, device, numerics)
