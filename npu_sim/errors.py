"""Errors of the simulator; every message says what, where, which value, and what is allowed.

NpuSimError
├── ConfigError      a machine description is wrong
├── InputError       the arrays given to a run do not fit the program
├── MachineError     a running program does what the machine cannot do
│   └── InstructionError   the same, of an instruction that a unit knows the number of
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


class InstructionError(MachineError):
    """An instruction failed when it was to retire; `instruction` is its number in the program."""

    def __init__(self, message: str, instruction: int) -> None:
        # Both are arguments of the base, for an event loop may make the error anew from these.
        super().__init__(message, instruction)
        self.instruction = instruction

    def __str__(self) -> str:
        return str(self.args[0])


class DeadlockError(NpuSimError):
    """The program can never finish; the message says who waits for what."""
