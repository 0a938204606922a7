"""Passes: each takes valid data and returns valid data of the same kind."""
