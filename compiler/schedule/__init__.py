"""Scheduling: tasks with dependencies, their order, and the instruction stream."""
