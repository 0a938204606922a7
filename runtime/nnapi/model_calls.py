"""ANeuralNetworksModel_*."""

import ctypes

from compiler.nnapi import OperationCode
from runtime.errors import BadDataError
from runtime.memory import Memory
from runtime.model import Model
from runtime.nnapi import foreign_memory
from runtime.nnapi.device_calls import chosen_devices
from runtime.nnapi.state import State, implements


@implements("ANeuralNetworksModel_create")
def create(state: State, model: int) -> None:
    """Make an empty model."""
    foreign_memory.write(model, ctypes.c_void_p, state.handles.add("Model", Model()))


@implements("ANeuralNetworksModel_addOperand")
def add_operand(state: State, model: Model, type_: int) -> None:
    """Add an operand."""
    model.require_building("Model.add_operand")
    operand_type = foreign_memory.operand_type(type_)
    assert operand_type is not None
    model.add_operand(operand_type)


@implements("ANeuralNetworksModel_setOperandValue")
def set_operand_value(state: State, model: Model, index: int, buffer: int, length: int) -> None:
    """Make an operand a constant, or omit it."""
    model.require_building("Model.set_operand_value")
    model.set_operand_value(index, foreign_memory.view(buffer, length) if buffer else None)


@implements("ANeuralNetworksModel_setOperandValueFromMemory")
def set_operand_value_from_memory(
    state: State, model: Model, index: int, memory: Memory, offset: int, length: int
) -> None:
    """Make an operand a constant in a memory."""
    model.set_operand_value_from_memory(index, memory, offset, length)


@implements("ANeuralNetworksModel_setOperandValueFromModel")
def set_operand_value_from_model(state: State, model: Model, index: int, value: Model) -> None:
    """Let an operand stand for a model."""
    model.set_operand_value_from_model(index, value)


@implements("ANeuralNetworksModel_setOperandSymmPerChannelQuantParams")
def set_operand_symm_per_channel_quant_params(state: State, model: Model, index: int, params: int) -> None:
    """Give an operand its scales per channel."""
    struct = foreign_memory.ChannelQuantizationStruct.from_address(params)
    scales = foreign_memory.float_list(struct.scales, struct.scaleCount) if struct.scales else []
    model.set_operand_symm_per_channel_quant_params(index, struct.channelDim, scales)


@implements("ANeuralNetworksModel_setOperandExtensionData")
def set_operand_extension_data(state: State, model: Model, index: int, data: int, length: int) -> None:
    """Give an extension's operand its data, or take it away."""
    model.set_operand_extension_data(index, bytes(foreign_memory.view(data, length)) if data else None)


@implements("ANeuralNetworksModel_getExtensionOperandType")
def get_extension_operand_type(state: State, model: Model, extension: int, code: int, type_: int) -> None:
    """Name an extension's operand type."""
    name = foreign_memory.string(extension).decode(errors="replace")
    foreign_memory.write(type_, ctypes.c_int32, int(model.get_extension_operand_type(name, code)))


@implements("ANeuralNetworksModel_getExtensionOperationType")
def get_extension_operation_type(state: State, model: Model, extension: int, code: int, type_: int) -> None:
    """Name an extension's operation."""
    name = foreign_memory.string(extension).decode(errors="replace")
    foreign_memory.write(type_, ctypes.c_int32, int(model.get_extension_operation_type(name, code)))


@implements("ANeuralNetworksModel_addOperation")
def add_operation(
    state: State, model: Model, type_: int, input_count: int, inputs: int, output_count: int, outputs: int
) -> None:
    """Add an operation."""
    model.require_building("Model.add_operation")
    try:
        code = OperationCode(type_)
    except ValueError:
        raise BadDataError(f"operation code is {type_}, no such operation exists") from None
    model.add_operation(
        code,
        foreign_memory.uint32_list(inputs, input_count),
        foreign_memory.uint32_list(outputs, output_count),
    )


@implements("ANeuralNetworksModel_identifyInputsAndOutputs")
def identify_inputs_and_outputs(
    state: State, model: Model, input_count: int, inputs: int, output_count: int, outputs: int
) -> None:
    """Say what the model takes and returns."""
    model.identify_inputs_and_outputs(
        foreign_memory.uint32_list(inputs, input_count), foreign_memory.uint32_list(outputs, output_count)
    )


@implements("ANeuralNetworksModel_relaxComputationFloat32toFloat16")
def relax_computation_float32_to_float16(state: State, model: Model, allow: bool) -> None:
    """Permit less precision."""
    model.relax_computation_float32_to_float16(allow)


@implements("ANeuralNetworksModel_finish")
def finish(state: State, model: Model) -> None:
    """End construction."""
    model.finish()


@implements("ANeuralNetworksModel_getSupportedOperationsForDevices")
def get_supported_operations_for_devices(
    state: State, model: Model, devices: int, count: int, supported: int
) -> None:
    """Say which operations devices can run."""
    foreign_memory.write_all(supported, ctypes.c_bool, [False] * model.operation_count)
    chosen = chosen_devices(state, devices, count)
    foreign_memory.write_all(supported, ctypes.c_bool, model.get_supported_operations_for_devices(chosen))
