"""The machine: a SimPy model of an NPU that executes programs on simulated bytes."""
