import numpy as np
import pytest

from compiler.graph import OperandType
from compiler.nnapi import OperandCode, OperationCode
from runtime.compilation import Compilation
from runtime.device_memory import DeviceMemory, Direction, MemoryRole, copy_memory
from runtime.device_registry import get_device
from runtime.errors import BadDataError, BadStateError, OpFailedError, UnmappableError
from runtime.listed_device import DeviceSet, list_devices
from runtime.memory import Memory
from runtime.memory_description import MemoryDescription
from runtime.model import Model
from tests.support.nnapi_models import add_model
from tests.support.one_operation import quant8


def compiled(model: Model | None = None) -> Compilation:
    compilation = Compilation(model or add_model(), get_device("reference"))
    compilation.finish()
    return compilation


def relu_model(type_: OperandType) -> Model:
    model = Model()
    source, result = model.add_operand(type_), model.add_operand(type_)
    model.add_operation(OperationCode.RELU, [source], [result])
    model.identify_inputs_and_outputs([source], [result])
    model.finish()
    return model


def memory_of(compilation: Compilation) -> DeviceMemory:
    description = MemoryDescription()
    description.add_input_role(compilation, 0, 1)
    description.finish()
    return description.create_memory()


def test_a_memory_has_the_type_of_its_roles() -> None:
    memory = memory_of(compiled())
    assert (memory.type, memory.size_bytes) == (quant8(2, 3, scale=0.5, zero_point=10), 6)


def test_dimensions_that_roles_leave_open_may_be_set() -> None:
    compilation = compiled(relu_model(quant8(0, 3)))
    description = MemoryDescription()
    description.set_dimensions([2, 0])
    description.add_output_role(compilation, 0, 0.5)
    description.finish()
    assert description.create_memory().type.dimensions == (2, 3)


@pytest.mark.parametrize("dimensions", [(), (0, 3)])
def test_memory_of_unknown_size_cannot_be_allocated(dimensions: tuple[int, ...]) -> None:
    with pytest.raises(OpFailedError, match="the devices allocate memory only if all are known"):
        memory_of(compiled(relu_model(quant8(*dimensions))))


def test_a_refused_role_changes_nothing() -> None:
    description, compilation = MemoryDescription(), compiled()
    with pytest.raises(BadDataError, match="frequency is 2"):
        description.add_input_role(compilation, 0, 2)
    with pytest.raises(BadDataError, match="has no role"):
        description.finish()
    description.add_input_role(compilation, 0, 1)


@pytest.mark.parametrize("index", [-1, 2])
def test_a_position_that_does_not_exist_is_bad_data(index: int) -> None:
    with pytest.raises(BadDataError, match=f"input {index} does not exist, must be 0 to 1"):
        MemoryDescription().add_input_role(compiled(), index, 1)


def test_roles_of_other_scales_per_channel_clash() -> None:
    compilations = []
    for scale in (0.5, 0.25):
        model = Model()
        weights = model.add_operand(OperandType(OperandCode.TENSOR_QUANT8_SYMM_PER_CHANNEL, (2,)))
        model.set_operand_symm_per_channel_quant_params(weights, 0, [scale, 1])
        source, result = model.add_operand(quant8(2)), model.add_operand(quant8(2))
        model.add_operation(OperationCode.RELU, [source], [result])
        model.identify_inputs_and_outputs([weights, source], [result])
        model.finish()
        compilation = Compilation(model, get_device("reference"))
        compilation.finish()
        compilations.append(compilation)
    description = MemoryDescription()
    description.add_input_role(compilations[0], 0, 1)
    with pytest.raises(BadDataError, match=r"scales per channel \[0.25, 1\], must be .*\[0.5, 1\]"):
        description.add_input_role(compilations[1], 0, 1)


def test_an_unfinished_descriptor_gives_no_memory() -> None:
    with pytest.raises(BadStateError, match="legal only while the memory descriptor is finished"):
        MemoryDescription().create_memory()


def test_memory_is_unreadable_until_it_is_written() -> None:
    memory = memory_of(compiled())
    with pytest.raises(OpFailedError, match="was not initialised"):
        memory.read(0, 6)
    memory.write(0, bytes(range(6)))
    assert memory.read(0, 6).tolist() == list(range(6))
    memory.invalidate()
    with pytest.raises(OpFailedError):
        memory.read(0, 6)


def test_memory_is_used_whole_and_in_its_roles() -> None:
    compilation = compiled()
    memory = memory_of(compilation)
    memory.check_role(MemoryRole(compilation, Direction.INPUT, 0), 0, 0)
    with pytest.raises(BadDataError, match="offset is 0 and length 6, must be 0 and 0"):
        memory.check_role(MemoryRole(compilation, Direction.INPUT, 0), 0, 6)
    with pytest.raises(BadDataError, match="no role as output 0"):
        memory.check_role(MemoryRole(compilation, Direction.OUTPUT, 0), 0, 0)


def test_device_memory_holds_no_constant() -> None:
    model = Model()
    model.add_operand(quant8(6))
    with pytest.raises(BadDataError, match="cannot hold a constant"):
        model.set_operand_value_from_memory(0, memory_of(compiled()), 0, 6)


def test_copying_a_memory_to_itself_does_nothing() -> None:
    memory = memory_of(compiled())
    copy_memory(memory, memory)
    assert not memory.is_initialised


def test_bytes_are_copied() -> None:
    target = bytearray(6)
    copy_memory(Memory(bytes(range(6))), Memory(target))
    assert target == bytes(range(6))


def test_a_read_only_memory_is_no_destination() -> None:
    with pytest.raises(UnmappableError, match="read-only"):
        copy_memory(Memory(bytes(6)), Memory(bytes(6)))


def test_listed_devices_are_a_set() -> None:
    npu, cpu = list_devices("tiny")
    assert DeviceSet((npu, cpu), is_explicit=True).name == "npu-sim-tiny, nnapi-reference"
    with pytest.raises(BadDataError, match="npu-sim-tiny is listed twice"):
        DeviceSet((npu, npu), is_explicit=True)
    with pytest.raises(BadDataError, match="0 devices"):
        DeviceSet((), is_explicit=False)


@pytest.mark.parametrize(
    ("count", "is_explicit", "is_single"), [(1, True, True), (2, True, False), (1, False, False)]
)
def test_only_one_listed_device_is_single(count: int, is_explicit: bool, is_single: bool) -> None:
    assert DeviceSet(list_devices("tiny")[:count], is_explicit).is_single is is_single


def test_the_npu_is_compiled_for_with_the_cpus_help_only_if_both_are_there() -> None:
    npu, cpu = list_devices("tiny")
    graph = lookup_model().graph
    answers = {
        devices: DeviceSet(devices, is_explicit=True).supported(graph, numerics)
        for numerics in [compiled().options.numerics]
        for devices in ((npu,), (cpu,), (npu, cpu))
    }
    assert answers == {(npu,): (False,), (cpu,): (True,), (npu, cpu): (True,)}


def lookup_model() -> Model:
    """An operation that the reference has and the NPU refuses."""
    model = Model()
    function = model.add_operand(OperandType(OperandCode.TENSOR_FLOAT32, (1, 2)))
    source = model.add_operand(quant8(2, 3))
    weight = model.add_operand(OperandType(OperandCode.TENSOR_FLOAT32, (2,)))
    kind = model.add_operand(OperandType(OperandCode.INT32))
    model.set_operand_value(kind, np.int32(2))
    result = model.add_operand(OperandType(OperandCode.TENSOR_INT32, (2,)))
    model.add_operation(OperationCode.LSH_PROJECTION, [function, source, weight, kind], [result])
    model.identify_inputs_and_outputs([function, source, weight], [result])
    model.finish()
    return model
