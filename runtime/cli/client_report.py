"""The files about a client's executions: a report of all, a timeline of the latest."""

import logging
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from npu_sim.config import MachineConfig
from runtime.cli.failures import Failure
from runtime.cli.output_files import output_file
from runtime.cli.timeline import recorder, write_timeline
from runtime.device import RunOptions
from runtime.devices.npu_prepared import NpuPrepared
from runtime.execution import Execution
from runtime.result import JOULES_PER_ATTOJOULE, tool_version
from runtime.runner import execution_result

if TYPE_CHECKING:
    from traces import Recorder

logger = logging.getLogger(__name__)

REPORT_VERSION = 1
_WRITING_SHARE = 0.05
"""Largest part of the time that goes into writing files before the end of the process."""


class _Timeline(NamedTuple):
    recording: "Recorder"
    document: dict[str, Any]
    config: MachineConfig


class ClientReport:
    """Collects executions as they succeed, from any thread, and writes files that appear whole.

    Files are written from time to time, so that a process that is killed leaves one, and by `close`.
    """

    def __init__(self, report: Path | None, trace: Path | None) -> None:
        self._report, self._trace = report, trace
        self._executions: list[dict[str, Any]] = []
        self._documents: dict[bytes, msgspec.Raw] = {}
        self._timeline: _Timeline | None = None
        self._next_write_s = 0.0
        self._summary = {"executions": 0, "npu_executions": 0, "cycles": 0, "energy_aj": 0}
        self._lock = threading.Lock()

    def new_run_options(self) -> RunOptions:
        """Options of one more execution: with a recorder of its own if there will be a timeline."""
        return RunOptions() if self._trace is None else RunOptions(hooks=(recorder(),))

    def add(self, execution: Execution) -> None:
        """Take up an execution that has succeeded."""
        if self._report is None and self._trace is None:
            return
        with self._lock:
            try:
                self._add(execution)
            except Exception:
                logger.exception("the report lacks an execution")
            if time.monotonic() >= self._next_write_s:
                self._write()

    def write(self) -> None:
        """Write the files now; Failure if one cannot be written."""
        with self._lock:
            self._write_files()

    def close(self) -> None:
        """Write the files at the end of the process; a failure is logged."""
        with self._lock:
            self._write()

    def _write(self) -> None:
        begun_s = time.monotonic()
        try:
            self._write_files()
        except (Failure, OSError) as error:
            logger.error("%s", error)
        ended_s = time.monotonic()
        self._next_write_s = ended_s + (ended_s - begun_s) / _WRITING_SHARE

    def _add(self, execution: Execution) -> None:
        entry: dict[str, Any] = {"device": execution.compilation.device.name, "result": None}
        self._summary["executions"] += 1
        prepared = execution.prepared
        if isinstance(prepared, NpuPrepared):
            result = execution_result(execution)
            document = result.to_json_dict()
            encoded = msgspec.json.encode(document)
            # Equal results, of which clients have many, are kept once.
            entry["result"] = self._documents.setdefault(encoded, msgspec.Raw(encoded))
            self._summary["npu_executions"] += 1
            self._summary["cycles"] += result.cycles
            self._summary["energy_aj"] += result.simulation.energy_aj
            if self._trace is not None:
                (recording,) = execution.options.hooks
                self._timeline = _Timeline(recording, document, prepared.config)  # type: ignore[arg-type]
        if execution.timing is not None:
            entry["start_ps"], entry["end_ps"] = execution.timing.start_ps, execution.timing.end_ps
        self._executions.append(entry)

    def _write_files(self) -> None:
        if self._report is not None:
            with output_file(self._report) as stream:
                stream.write(self._report_bytes())
        if self._trace is not None and self._timeline is not None:
            with output_file(self._trace) as stream:
                write_timeline(*self._timeline, stream)

    def _report_bytes(self) -> bytes:
        energy_j = self._summary["energy_aj"] * JOULES_PER_ATTOJOULE
        document = {
            "schema_version": REPORT_VERSION,
            "tool_version": tool_version(),
            "summary": {**self._summary, "energy_j": energy_j},
            "executions": self._executions,
        }
        return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"
