"""Errors of the simulator; every message says what, where, which value, and what is allowed.

NpuSimError
├── ConfigError      a machine description is wrong
├── InputError       the arrays given to a run do not fit the program
├── MachineError     a running program does what the machine cannot do
└── DeadlockError    every unit that still has work waits for a signal that nobody sends
"""


class NpuSimError(Exception):
    """Base of every error that the simulator raises; the message is meant for a person."""


class ConfigError(NpuSimError):
    """A machine description has an unknown key, a wrong type, a missing key or an impossible combination."""


class InputError(NpuSimError):
    """An input array is missing, unknown, or of another shape or type than the program declares."""


class MachineError(NpuSimError):
    """An instruction asks for what the machine cannot do, such as an address outside a memory or a table."""


class DeadlockError(NpuSimError):
    """The program can never finish; the message says who waits for what."""
