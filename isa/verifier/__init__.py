"""Static checks of programs; see `verify`."""

from isa.verifier.check import verify

__all__ = ["verify"]
