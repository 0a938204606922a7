"""Which call is legal at which point of an object's life, as a table."""

import enum

from runtime.errors import BadStateError


class Phase(enum.StrEnum):
    """Points in the life of a model, a compilation or an execution."""

    MODEL_BUILDING = "model is being built"
    MODEL_FINISHED = "model is finished"
    MODEL_INVALID = "model failed to finish"
    COMPILATION_CREATED = "compilation is not finished"
    COMPILATION_FINISHED = "compilation is finished"
    COMPILATION_FAILED = "compilation failed to finish"
    DESCRIPTION_BUILDING = "memory descriptor is being described"
    DESCRIPTION_FINISHED = "memory descriptor is finished"
    EXECUTION_PREPARING = "execution has not started"
    EXECUTION_COMPUTING = "execution is computing"
    EXECUTION_COMPLETED = "execution is completed"


LEGAL_PHASE: dict[str, Phase] = {
    "Model.add_operand": Phase.MODEL_BUILDING,
    "Model.set_operand_value": Phase.MODEL_BUILDING,
    "Model.set_operand_value_from_memory": Phase.MODEL_BUILDING,
    "Model.set_operand_value_from_model": Phase.MODEL_BUILDING,
    "Model.set_operand_symm_per_channel_quant_params": Phase.MODEL_BUILDING,
    "Model.set_operand_extension_data": Phase.MODEL_BUILDING,
    "Model.get_supported_operations_for_devices": Phase.MODEL_FINISHED,
    "Model.add_operation": Phase.MODEL_BUILDING,
    "Model.identify_inputs_and_outputs": Phase.MODEL_BUILDING,
    "Model.relax_computation_float32_to_float16": Phase.MODEL_BUILDING,
    "Model.finish": Phase.MODEL_BUILDING,
    "Model.graph": Phase.MODEL_FINISHED,
    "Compilation": Phase.MODEL_FINISHED,
    "Compilation.set_preference": Phase.COMPILATION_CREATED,
    "Compilation.finish": Phase.COMPILATION_CREATED,
    "Compilation.prepared": Phase.COMPILATION_FINISHED,
    "Compilation.specialised": Phase.COMPILATION_FINISHED,
    "Compilation.set_caching": Phase.COMPILATION_CREATED,
    "Compilation.set_timeout": Phase.COMPILATION_CREATED,
    "Compilation.set_priority": Phase.COMPILATION_CREATED,
    "Burst": Phase.COMPILATION_FINISHED,
    "MemoryDescription.add_input_role": Phase.DESCRIPTION_BUILDING,
    "MemoryDescription.add_output_role": Phase.DESCRIPTION_BUILDING,
    "MemoryDescription.set_dimensions": Phase.DESCRIPTION_BUILDING,
    "MemoryDescription.finish": Phase.DESCRIPTION_BUILDING,
    "MemoryDescription.create_memory": Phase.DESCRIPTION_FINISHED,
    "Execution": Phase.COMPILATION_FINISHED,
    "Execution.set_input": Phase.EXECUTION_PREPARING,
    "Execution.set_output": Phase.EXECUTION_PREPARING,
    "Execution.set_input_from_memory": Phase.EXECUTION_PREPARING,
    "Execution.set_output_from_memory": Phase.EXECUTION_PREPARING,
    "Execution.set_timeout": Phase.EXECUTION_PREPARING,
    "Execution.set_loop_timeout": Phase.EXECUTION_PREPARING,
    "Execution.set_measure_timing": Phase.EXECUTION_PREPARING,
    "Execution.start_compute_with_dependencies": Phase.EXECUTION_PREPARING,
    "Execution.burst_compute": Phase.EXECUTION_PREPARING,
    "Execution.get_duration": Phase.EXECUTION_COMPLETED,
    "Execution.compute": Phase.EXECUTION_PREPARING,
    "Execution.start_compute": Phase.EXECUTION_PREPARING,
    "Execution.result": Phase.EXECUTION_COMPLETED,
    "Execution.prepared": Phase.EXECUTION_COMPLETED,
    "Execution.output_dimensions": Phase.EXECUTION_COMPLETED,
}
"""Every call and the one phase in which it is legal; a class name stands for its constructor."""


def require(call: str, phase: Phase) -> None:
    """Raise BadStateError unless `call` is legal in `phase`."""
    legal = LEGAL_PHASE[call]
    if phase is not legal:
        raise BadStateError(f"{call}: the {phase}; this call is legal only while the {legal}")
