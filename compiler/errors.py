"""Errors of the compiler; every message says what, where, which value, and what is allowed.

CompilerError
├── GraphError          the model breaks a rule of NNAPI (carries NNAPI's result code)
├── UnsupportedError    the model is legal, this compiler or machine cannot run it
├── TileCountError      a program would have too many tiles to plan
└── PlacementError      a tensor cannot be tiled into the machine's memories
"""

from compiler.nnapi import ResultCode


class CompilerError(Exception):
    """Base of every error that the compiler raises; the message is meant for a person."""


class GraphError(CompilerError):
    """A model breaks a rule of NNAPI; `result_code` is what the rules answer."""

    def __init__(self, message: str, result_code: ResultCode = ResultCode.BAD_DATA) -> None:
        super().__init__(message)
        self.result_code = result_code


class UnsupportedError(CompilerError):
    """A legal model asks for something that is not implemented."""


class PlacementError(CompilerError):
    """A tensor cannot be tiled into the machine's memories."""


class TileCountError(CompilerError):
    """A machine is so small that a program would have more tiles than are planned."""
