"""`--trace`: the recorded run in the format of the Perfetto viewer."""

from typing import IO, TYPE_CHECKING, Any

from npu_sim.config import OperatingPoint
from npu_sim.power.energy_table import energy_table
from runtime.cli.failures import Failure
from runtime.host_cost import HOST_CYCLE, host_aj_per_cycle

if TYPE_CHECKING:
    from npu_sim.config import MachineConfig
    from traces import Recorder


def recorder() -> "Recorder":
    """A hook that keeps every event."""
    try:
        from traces import Recorder
    except ImportError as error:
        raise Failure(f"--trace needs the package traces, which cannot be imported: {error}") from error
    return Recorder()


def write_timeline(
    recorder: "Recorder", report: dict[str, Any], config: "MachineConfig", stream: IO[bytes]
) -> None:
    """Write what was recorded of the run that the report is about."""
    from traces import EnergyPrices, TraceHeader, dump_perfetto

    point = OperatingPoint("run", report["frequency_hz"], report["voltage_v"])
    prices = energy_table(config, point)
    action_aj = {str(action): price_aj for action, price_aj in prices.action_aj.items()}
    action_aj[HOST_CYCLE] = host_aj_per_cycle(config, point)
    energies = EnergyPrices(action_aj, sum(prices.static_aj_per_cycle.values()))
    dump_perfetto(recorder.log(TraceHeader.from_report(report)), stream, energies=energies)
