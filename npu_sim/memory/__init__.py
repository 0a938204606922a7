"""Timing of the memories; their bytes live in `npu_sim.functional`."""
