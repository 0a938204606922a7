"""The functions of NNAPI up to API level 30: the one list that everything else is generated from.

Signatures follow the NDK header of level 30; ASharedMemory_create is Android's, which NNAPI's clients load
beside it.
"""

import dataclasses
import enum
import re

_PROTOTYPES = {
    27: """
int ANeuralNetworksMemory_createFromFd(size_t size, int protect, int fd, size_t offset,
    ANeuralNetworksMemory** memory);
void ANeuralNetworksMemory_free(ANeuralNetworksMemory* memory);
int ANeuralNetworksModel_create(ANeuralNetworksModel** model);
void ANeuralNetworksModel_free(ANeuralNetworksModel* model);
int ANeuralNetworksModel_finish(ANeuralNetworksModel* model);
int ANeuralNetworksModel_addOperand(ANeuralNetworksModel* model, const ANeuralNetworksOperandType* type);
int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel* model, int32_t index, const void* buffer,
    size_t length);
int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel* model, int32_t index,
    const ANeuralNetworksMemory* memory, size_t offset, size_t length);
int ANeuralNetworksModel_addOperation(ANeuralNetworksModel* model, ANeuralNetworksOperationType type,
    uint32_t inputCount, const uint32_t* inputs, uint32_t outputCount, const uint32_t* outputs);
int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel* model, uint32_t inputCount,
    const uint32_t* inputs, uint32_t outputCount, const uint32_t* outputs);
int ANeuralNetworksCompilation_create(ANeuralNetworksModel* model, ANeuralNetworksCompilation** compilation);
void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation* compilation);
int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation* compilation, int32_t preference);
int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation* compilation);
int ANeuralNetworksExecution_create(ANeuralNetworksCompilation* compilation,
    ANeuralNetworksExecution** execution);
void ANeuralNetworksExecution_free(ANeuralNetworksExecution* execution);
int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution* execution, int32_t index,
    const ANeuralNetworksOperandType* type, const void* buffer, size_t length);
int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
    const ANeuralNetworksOperandType* type, const ANeuralNetworksMemory* memory, size_t offset,
    size_t length);
int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution* execution, int32_t index,
    const ANeuralNetworksOperandType* type, void* buffer, size_t length);
int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution* execution, int32_t index,
    const ANeuralNetworksOperandType* type, const ANeuralNetworksMemory* memory, size_t offset,
    size_t length);
int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution* execution, ANeuralNetworksEvent** event);
int ANeuralNetworksEvent_wait(ANeuralNetworksEvent* event);
void ANeuralNetworksEvent_free(ANeuralNetworksEvent* event);
int ASharedMemory_create(const char* name, size_t size);
""",
    28: """
int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel* model, bool allow);
""",
    29: """
int ANeuralNetworks_getDeviceCount(uint32_t* numDevices);
int ANeuralNetworks_getDevice(uint32_t devIndex, ANeuralNetworksDevice** device);
int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice* device, const char** name);
int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice* device, const char** version);
int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice* device, int64_t* featureLevel);
int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice* device, int32_t* type);
int ANeuralNetworksDevice_getExtensionSupport(const ANeuralNetworksDevice* device, const char* extensionName,
    bool* isExtensionSupported);
int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel* model,
    const ANeuralNetworksDevice* const* devices, uint32_t numDevices, bool* supportedOps);
int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(ANeuralNetworksModel* model, int32_t index,
    const ANeuralNetworksSymmPerChannelQuantParams* channelQuant);
int ANeuralNetworksModel_getExtensionOperandType(ANeuralNetworksModel* model, const char* extensionName,
    uint16_t operandCodeWithinExtension, int32_t* type);
int ANeuralNetworksModel_getExtensionOperationType(ANeuralNetworksModel* model, const char* extensionName,
    uint16_t operationCodeWithinExtension, ANeuralNetworksOperationType* type);
int ANeuralNetworksModel_setOperandExtensionData(ANeuralNetworksModel* model, int32_t index, const void* data,
    size_t length);
int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel* model,
    const ANeuralNetworksDevice* const* devices, uint32_t numDevices,
    ANeuralNetworksCompilation** compilation);
int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation* compilation, const char* cacheDir,
    const uint8_t* token);
int ANeuralNetworksExecution_compute(ANeuralNetworksExecution* execution);
int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution* execution, int32_t index,
    uint32_t* rank);
int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution* execution, int32_t index,
    uint32_t* dimensions);
int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution* execution, bool measure);
int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution* execution, int32_t durationCode,
    uint64_t* duration);
int ANeuralNetworksBurst_create(ANeuralNetworksCompilation* compilation, ANeuralNetworksBurst** burst);
void ANeuralNetworksBurst_free(ANeuralNetworksBurst* burst);
int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution* execution, ANeuralNetworksBurst* burst);
int ANeuralNetworksMemory_createFromAHardwareBuffer(const AHardwareBuffer* ahwb,
    ANeuralNetworksMemory** memory);
""",
    30: """
uint64_t ANeuralNetworks_getDefaultLoopTimeout(void);
uint64_t ANeuralNetworks_getMaximumLoopTimeout(void);
int ANeuralNetworksDevice_wait(const ANeuralNetworksDevice* device);
int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel* model, int32_t index,
    const ANeuralNetworksModel* value);
int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation* compilation, int priority);
int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation* compilation, uint64_t duration);
int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution* execution, uint64_t duration);
int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution* execution, uint64_t duration);
int ANeuralNetworksExecution_startComputeWithDependencies(ANeuralNetworksExecution* execution,
    const ANeuralNetworksEvent* const* dependencies, uint32_t num_dependencies, uint64_t duration,
    ANeuralNetworksEvent** event);
int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent** event);
int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent* event, int* sync_fence_fd);
int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc** desc);
void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc* desc);
int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc* desc,
    const ANeuralNetworksCompilation* compilation, uint32_t index, float frequency);
int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc* desc,
    const ANeuralNetworksCompilation* compilation, uint32_t index, float frequency);
int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc* desc, uint32_t rank,
    const uint32_t* dimensions);
int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc* desc);
int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc* desc,
    ANeuralNetworksMemory** memory);
int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory* src, const ANeuralNetworksMemory* dst);
""",
}

_MAY_BE_NULL = {
    ("ANeuralNetworksModel_setOperandValue", "buffer"): "length",
    ("ANeuralNetworksModel_setOperandExtensionData", "data"): "length",
    ("ANeuralNetworksExecution_setInput", "type"): "",
    ("ANeuralNetworksExecution_setInput", "buffer"): "length",
    ("ANeuralNetworksExecution_setInputFromMemory", "type"): "",
    ("ANeuralNetworksExecution_setOutput", "type"): "",
    ("ANeuralNetworksExecution_setOutput", "buffer"): "length",
    ("ANeuralNetworksExecution_setOutputFromMemory", "type"): "",
    ("ANeuralNetworksExecution_startComputeWithDependencies", "dependencies"): "num_dependencies",
    ("ANeuralNetworksMemoryDesc_setDimensions", "dimensions"): "rank",
    ("ASharedMemory_create", "name"): "",
}
"""Pointers that may be NULL: if the named count is 0, or always. Nothing is freed by freeing NULL."""

_ON_FAILURE = {
    ("ANeuralNetworksEvent_getSyncFenceFd", "sync_fence_fd"): -1,
    ("ANeuralNetworksExecution_getDuration", "duration"): 2**64 - 1,
}
"""What a failed call leaves where its result would go; new objects become NULL, other results stay."""

_HANDLE = re.compile(
    r"(?:const )?ANeuralNetworks(Memory|Model|Compilation|Execution|Event|Device|Burst|MemoryDesc)\*$"
)
_NEW_OBJECT = re.compile(r"ANeuralNetworks\w+\*\*$")


class Null(enum.Enum):
    """What NULL means for an argument."""

    NO_POINTER = "the argument is no pointer"
    ERROR = "NULL is UNEXPECTED_NULL"
    ALLOWED = "NULL is allowed"
    IF_EMPTY = "NULL is allowed if the count is 0"


@dataclasses.dataclass(frozen=True, slots=True)
class Argument:
    """An argument: its name and C type, and what NULL means; `count` names the count that decides."""

    name: str
    c_type: str
    null: Null
    count: str = ""
    on_failure: int | None = None

    @property
    def family(self) -> str | None:
        """Which kind of object a handle stands for; None for other arguments."""
        match = _HANDLE.match(self.c_type)
        return match[1] if match else None


@dataclasses.dataclass(frozen=True, slots=True)
class Function:
    """A function: name, the API level it came with, return type and arguments."""

    name: str
    level: int
    return_type: str
    arguments: tuple[Argument, ...]

    @property
    def prototype(self) -> str:
        """The C declaration, without a semicolon."""
        arguments = ", ".join(f"{argument.c_type} {argument.name}" for argument in self.arguments)
        return f"{self.return_type} {self.name}({arguments or 'void'})"


def _functions() -> tuple[Function, ...]:
    return tuple(
        _function(level, " ".join(prototype.split()))
        for level, text in _PROTOTYPES.items()
        for prototype in text.split(";")[:-1]
    )


def _function(level: int, prototype: str) -> Function:
    return_type, name, listed = re.fullmatch(r"(\w+) (\w+)\((.*)\)", prototype).groups()  # type: ignore[union-attr]
    arguments = [] if listed == "void" else listed.split(", ")
    return Function(name, level, return_type, tuple(_argument(name, argument) for argument in arguments))


def _argument(function: str, text: str) -> Argument:
    c_type, name = text.rsplit(" ", 1)
    key = function, name
    on_failure = 0 if _NEW_OBJECT.match(c_type) else _ON_FAILURE.get(key)
    if not c_type.endswith("*"):
        return Argument(name, c_type, Null.NO_POINTER)
    if key in _MAY_BE_NULL:
        count = _MAY_BE_NULL[key]
        return Argument(name, c_type, Null.IF_EMPTY if count else Null.ALLOWED, count)
    null = Null.ALLOWED if function.endswith("_free") else Null.ERROR
    return Argument(name, c_type, null, on_failure=on_failure)


FUNCTIONS = _functions()
"""Every function, by level and in the order of the lists above."""

BY_NAME = {function.name: function for function in FUNCTIONS}

ANDROID_SDK_VERSION = max(function.level for function in FUNCTIONS)
"""The API level that a client finds."""
