"""After the fact: recorded events, exports, metrics and plots. Start reading at `recorder.py`.

Figures are in `traces.plots`, which is not imported here: it alone needs matplotlib.
"""

from traces.checks import violations
from traces.metrics import EnergyPrices, dram_bandwidth_gbps, power_w, utilisation, window_edges
from traces.perfetto import dump_perfetto, trace_document, write_perfetto
from traces.recorder import Recorder
from traces.trace_log import TraceHeader, TraceLog, layer_windows

__all__ = [
    "EnergyPrices",
    "Recorder",
    "TraceHeader",
    "TraceLog",
    "dram_bandwidth_gbps",
    "dump_perfetto",
    "layer_windows",
    "power_w",
    "trace_document",
    "utilisation",
    "violations",
    "window_edges",
    "write_perfetto",
]
