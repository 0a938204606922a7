"""The devices: the simulated NPU and the reference."""
