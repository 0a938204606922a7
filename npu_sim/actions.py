"""The countable actions of the machine, and the component each one is charged to.

Units count actions; `npu_sim.power` prices them. The price of action `x` is the configuration field
`energy.x_pj`.
"""

import enum


class Component(enum.StrEnum):
    """Where energy goes in a report."""

    MATRIX = "matrix"
    VECTOR = "vector"
    SRAM = "sram"
    DMA = "dma"
    DRAM = "dram"
    FRONTEND = "frontend"
    CLOCK = "clock"
    LEAKAGE = "leakage"
    DRAM_BACKGROUND = "dram_background"


class Action(enum.StrEnum):
    """What units count."""

    MAC_U8 = "mac_u8"
    """One 8-bit multiply with 32-bit accumulation in the array."""
    ARRAY_REGISTER_BYTE = "array_register_byte"
    """One byte written into a pipeline register of a processing element."""
    ACCUMULATOR_UPDATE = "accumulator_update"
    """Read, add and write of one int32 sum in the accumulator memory."""
    OUTPUT_REQUANTISE = "output_requantise"
    """One sum through the output stage: bias, multiply, round, clamp."""
    VECTOR_MAC_U8 = "vector_mac_u8"
    """One 8-bit multiply-accumulate in a vector lane."""
    VECTOR_REQUANTISE = "vector_requantise"
    """One 32-bit fixed-point multiply with rounding in a vector lane."""
    VECTOR_OPERATION = "vector_operation"
    """One simple lane operation: compare, add, move, table look-up."""
    VECTOR_FLOAT_ADD = "vector_float_add"
    """One single-precision addition in a vector lane, or what costs no more: compare, round, convert."""
    VECTOR_FLOAT_MULTIPLY = "vector_float_multiply"
    """One single-precision multiplication in a vector lane."""
    SRAM_READ_BYTE = "sram_read_byte"
    SRAM_WRITE_BYTE = "sram_write_byte"
    DMA_BYTE = "dma_byte"
    """One byte through a DMA channel and the interconnect."""
    DRAM_READ_BYTE = "dram_read_byte"
    """One byte of a read burst, whole bursts counted."""
    DRAM_WRITE_BYTE = "dram_write_byte"
    """One byte of a write burst, whole bursts counted."""
    DRAM_ACTIVATE = "dram_activate"
    """Activate and precharge of one DRAM page."""
    INSTRUCTION_DISPATCH = "instruction_dispatch"
    """Decoding and dispatching one instruction word of 16 bytes."""


COMPONENT_OF = {
    Action.MAC_U8: Component.MATRIX,
    Action.ARRAY_REGISTER_BYTE: Component.MATRIX,
    Action.ACCUMULATOR_UPDATE: Component.MATRIX,
    Action.OUTPUT_REQUANTISE: Component.MATRIX,
    Action.VECTOR_MAC_U8: Component.VECTOR,
    Action.VECTOR_REQUANTISE: Component.VECTOR,
    Action.VECTOR_OPERATION: Component.VECTOR,
    Action.VECTOR_FLOAT_ADD: Component.VECTOR,
    Action.VECTOR_FLOAT_MULTIPLY: Component.VECTOR,
    Action.SRAM_READ_BYTE: Component.SRAM,
    Action.SRAM_WRITE_BYTE: Component.SRAM,
    Action.DMA_BYTE: Component.DMA,
    Action.DRAM_READ_BYTE: Component.DRAM,
    Action.DRAM_WRITE_BYTE: Component.DRAM,
    Action.DRAM_ACTIVATE: Component.DRAM,
    Action.INSTRUCTION_DISPATCH: Component.FRONTEND,
}
