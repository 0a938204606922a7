"""A client of NNAPI's C functions, through the Python table or a loaded library alike."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from compiler.nnapi import OperandCode, OperationCode, ResultCode
from runtime.nnapi.foreign_memory import ChannelQuantizationStruct, OperandTypeStruct

PREFIX = "ANeuralNetworks"
GARBAGE = 0xDEAD0
FLOAT, QUANT8, INT32 = OperandCode.TENSOR_FLOAT32, OperandCode.TENSOR_QUANT8_ASYMM, OperandCode.INT32


class Client:
    """Calls functions by their names without the prefix; keeps alive what C must still see."""

    def __init__(self, api: Any) -> None:
        self.api = api
        self._kept: list[Any] = []
        self._operands: dict[int, int] = {}
        self._events: list[int] = []

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for all runs: they write to buffers that live as long as the client."""
        for event in self._events:
            self.call("Event_wait", event)

    def call(self, name: str, *arguments: Any) -> int:
        """Result code of a call."""
        return int(getattr(self.api, PREFIX + name)(*arguments))

    def free(self, name: str, handle: int | None) -> None:
        """Call a function that returns nothing."""
        getattr(self.api, f"{PREFIX}{name}_free")(handle)

    def must(self, name: str, *arguments: Any) -> None:
        """Call something that has to succeed."""
        code = self.call(name, *arguments)
        assert code == ResultCode.NO_ERROR, f"{name} answers {ResultCode(code).name}"

    def new(self, name: str, *arguments: Any) -> int:
        """What a call that has to succeed makes."""
        made = ctypes.c_void_p()
        self.must(name, *arguments, ctypes.byref(made))
        assert made.value
        if "startCompute" in name:
            self._events.append(made.value)
        return made.value

    def refused(self, name: str, *arguments: Any) -> int:
        """Result code of a call that has to leave NULL where its result would go."""
        made = ctypes.c_void_p(GARBAGE)
        code = self.call(name, *arguments, ctypes.byref(made))
        assert made.value is None, f"{name} leaves {made.value:#x}"
        return code

    def keep(self, value: Any) -> Any:
        """The value, alive as long as the client."""
        self._kept.append(value)
        return value

    def devices(self) -> list[int]:
        """Handles of all devices: the NPU, the CPU."""
        count = ctypes.c_uint32()
        self.must("_getDeviceCount", ctypes.byref(count))
        return [self.new("_getDevice", index) for index in range(count.value)]

    def handles(self, handles: Sequence[int | None]) -> Any:
        """An array of handles."""
        return self.keep((ctypes.c_void_p * len(handles))(*handles))

    def numbers(self, numbers: Sequence[int]) -> Any:
        """An array of uint32_t; C reads negative ones as unsigned."""
        return self.keep((ctypes.c_uint32 * len(numbers))(*[n & 0xFFFFFFFF for n in numbers]))

    def type(self, code: int, dimensions: Sequence[int] = (), scale: float = 0.0, zero_point: int = 0) -> Any:
        """An operand type."""
        array = self.numbers(dimensions) if dimensions else None
        address = ctypes.addressof(array) if array is not None else None
        return self.keep(OperandTypeStruct(int(code), len(dimensions), address, scale, zero_point))

    def channels(self, dimension: int, scales: Sequence[float]) -> Any:
        """Scales per channel."""
        array = self.keep((ctypes.c_float * len(scales))(*scales))
        return self.keep(ChannelQuantizationStruct(dimension, len(scales), ctypes.addressof(array)))

    def pointer(self, value: Any) -> Any:
        """A pointer to a ctypes object or an array's data."""
        if isinstance(value, np.ndarray):
            return ctypes.c_void_p(self.keep(value).ctypes.data)
        return ctypes.byref(value)

    def model(self) -> int:
        """A model without anything."""
        model = self.new("Model_create")
        self._operands[model] = 0
        return model

    def operand(
        self, model: int, code: int, dimensions: Sequence[int] = (), scale: float = 0.0, zero_point: int = 0
    ) -> int:
        """Add an operand and return its number."""
        self.must("Model_addOperand", model, self.pointer(self.type(code, dimensions, scale, zero_point)))
        self._operands[model] += 1
        return self._operands[model] - 1

    def tensor(self, model: int, *dimensions: int, code: int = FLOAT) -> int:
        """Add a float or quant8 tensor."""
        quantization = (0.5, 10) if code == QUANT8 else (0.0, 0)
        return self.operand(model, code, dimensions, *quantization)

    def constant(self, model: int, code: int, value: Any, dimensions: Sequence[int] = ()) -> int:
        """Add a constant operand."""
        index = self.operand(model, code, dimensions)
        array = np.asarray(value)
        self.must("Model_setOperandValue", model, index, self.pointer(array), array.nbytes)
        return index

    def fuse_none(self, model: int) -> int:
        """Add a constant: no fused activation."""
        return self.constant(model, INT32, np.int32(0))

    def operation(self, model: int, code: int, inputs: Sequence[int], outputs: Sequence[int]) -> int:
        """Result code of adding an operation."""
        lists = self.numbers(inputs), self.numbers(outputs)
        return self.call(
            "Model_addOperation", model, int(code), len(inputs), lists[0], len(outputs), lists[1]
        )

    def identify(self, model: int, inputs: Sequence[int], outputs: Sequence[int]) -> int:
        """Result code of naming inputs and outputs."""
        lists = self.numbers(inputs), self.numbers(outputs)
        return self.call(
            "Model_identifyInputsAndOutputs", model, len(inputs), lists[0], len(outputs), lists[1]
        )

    def add_model(
        self,
        dimensions: Sequence[int] = (2,),
        output: Sequence[int] | None = None,
        code: int = FLOAT,
        *,
        identified: bool = True,
        finished: bool = True,
    ) -> int:
        """A model of sum (3) = a (0) + b (1), fused with nothing (2)."""
        model = self.model()
        a, b = (self.tensor(model, *dimensions, code=code) for _ in range(2))
        fuse = self.fuse_none(model)
        total = self.tensor(model, *(dimensions if output is None else output), code=code)
        assert self.operation(model, OperationCode.ADD, [a, b, fuse], [total]) == ResultCode.NO_ERROR
        if identified:
            assert self.identify(model, [a, b], [total]) == ResultCode.NO_ERROR
        if finished:
            self.must("Model_finish", model)
        return model

    def unary_model(self, code: int, *, finished: bool = True) -> int:
        """A model of one operation with one input and one output, float (2,)."""
        model = self.model()
        source, result = self.tensor(model, 2), self.tensor(model, 2)
        assert self.operation(model, code, [source], [result]) == ResultCode.NO_ERROR
        assert self.identify(model, [source], [result]) == ResultCode.NO_ERROR
        if finished:
            self.must("Model_finish", model)
        return model

    def compilation(
        self, model: int | None = None, devices: Sequence[int] | None = None, *, finished: bool = True
    ) -> int:
        """A compilation for all devices, or for some."""
        model = self.add_model() if model is None else model
        if devices is None:
            compilation = self.new("Compilation_create", model)
        else:
            listed = self.handles(devices)
            compilation = self.new("Compilation_createForDevices", model, listed, len(devices))
        if finished:
            self.must("Compilation_finish", compilation)
        return compilation

    def failed_compilation(self) -> int:
        """A compilation whose finish failed: no device has the operation."""
        model = self.unary_model(OperationCode.ABS)
        compilation = self.compilation(model, self.devices()[:1], finished=False)
        assert self.call("Compilation_finish", compilation) == ResultCode.BAD_DATA
        return compilation

    def execution(self, compilation: int | None = None, *, filled: bool = False) -> int:
        """An execution; filled: of the default model, with its inputs and its output."""
        compilation = self.compilation() if compilation is None else compilation
        execution = self.new("Execution_create", compilation)
        if filled:
            self.fill(execution)
        return execution

    def fill(self, execution: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
        """Set the slots of an execution of the default model; a + b = [11, 22]. Returns the output."""
        output = np.zeros(2, np.float32)
        for index, values in enumerate(([1, 2], [10, 20])):
            assert self.set_input(execution, index, np.array(values, np.float32)) == ResultCode.NO_ERROR
        assert self.set_output(execution, 0, output) == ResultCode.NO_ERROR
        return output

    def set_input(self, execution: int, index: int, array: Any, type_: Any = None) -> int:
        """Result code of giving an input."""
        type_ = None if type_ is None else self.pointer(type_)
        return self.call("Execution_setInput", execution, index, type_, self.pointer(array), array.nbytes)

    def set_output(self, execution: int, index: int, array: Any, type_: Any = None) -> int:
        """Result code of giving an output."""
        type_ = None if type_ is None else self.pointer(type_)
        return self.call("Execution_setOutput", execution, index, type_, self.pointer(array), array.nbytes)

    def wait(self, event: int) -> int:
        """Result code of waiting for an event, which is freed."""
        code = self.call("Event_wait", event)
        self.free("Event", event)
        return code
