"""Energy: counted actions times a table, plus static power times cycles."""
