"""What libneuralnetworks.so starts inside the process of a client: the table, the report, the log.

The environment says what is wanted:

    NPU_SIM_MACHINE=NAME|FILE.toml  the machine; the default is that of the command line
    NPU_SIM_REPORT=FILE.json        write cycles and energy of every execution
    NPU_SIM_TRACE=FILE              write a timeline of the latest execution
    NPU_SIM_LOG=LEVEL               debug (every call), info (every refusal), warning or error
"""

import atexit
import logging
import os
from pathlib import Path

from runtime.cli.client_report import ClientReport
from runtime.cli.options import DEFAULT_MACHINE
from runtime.errors import BadDataError
from runtime.nnapi.native.callbacks import check_fingerprint, fill
from runtime.nnapi.table import NnApi

_LEVELS = ("debug", "info", "warning", "error")


def start(table: int, fingerprint: str, *, owns_interpreter: bool) -> None:
    """Fill the table at an address with functions that run on the simulated NPU.

    An interpreter that the library owns is never ended, and the library says when the process ends; in others
    Python says it. Raises BadDataError for a wrong environment.
    """
    check_fingerprint(fingerprint)
    _log(os.environ.get("NPU_SIM_LOG", ""))
    report = ClientReport(_path("NPU_SIM_REPORT"), _path("NPU_SIM_TRACE"))
    api = NnApi(
        os.environ.get("NPU_SIM_MACHINE") or DEFAULT_MACHINE,
        new_run_options=report.new_run_options,
        on_run=report.add,
    )
    report.write()
    if not owns_interpreter:
        atexit.register(report.close)
    fill(table, api, report.close if owns_interpreter else None)


def _path(variable: str) -> Path | None:
    """The file that a variable names, wherever the client goes from here."""
    name = os.environ.get(variable)
    return Path(name).absolute() if name else None


def _log(level: str) -> None:
    """Send what the project logs to standard error, from that level on; without one Python decides."""
    if not level:
        return
    if level.lower() not in _LEVELS:
        raise BadDataError(f"NPU_SIM_LOG is {level!r}, must be one of {', '.join(_LEVELS)}")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("npu-sim: %(levelname)s: %(message)s"))
    logger = logging.getLogger("runtime")
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    logger.propagate = False
