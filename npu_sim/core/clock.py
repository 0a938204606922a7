"""The clock of a run: SimPy's environment, counting whole NPU cycles."""

import simpy


class Clock(simpy.Environment):
    """A SimPy environment whose time is an integer; every delay given to it must be one."""

    @property
    def now(self) -> int:
        """Cycles since the start of the run."""
        return int(self._now)
