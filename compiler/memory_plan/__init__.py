"""Memory planning: which tensors live in SRAM, and where everything in SRAM lies when."""
