"""NNAPI's codes with their numeric values, up to API level 30."""

import enum

EXTENSION_PREFIX_SHIFT = 16
"""The high bits of a type of an extension are its prefix, the low 16 its code within the extension."""


def _extension_member(cls: type[enum.IntEnum], value: object) -> enum.IntEnum | None:
    """A member, not listed, for a type of an extension; None if the value is no such type."""
    if not (isinstance(value, int) and 1 << EXTENSION_PREFIX_SHIFT <= value < 1 << 31):
        return None
    member = int.__new__(cls, value)
    member._value_ = value
    member._name_ = f"EXTENSION_{value >> EXTENSION_PREFIX_SHIFT}_{value & 0xFFFF}"
    return member


class OperandCode(enum.IntEnum):
    """Operand types. Types of extensions are members that are not listed: `OperandCode(0x10001)`."""

    FLOAT32 = 0
    INT32 = 1
    UINT32 = 2
    TENSOR_FLOAT32 = 3
    TENSOR_INT32 = 4
    TENSOR_QUANT8_ASYMM = 5
    BOOL = 6
    """A scalar of one byte; this and the next to QUANT8_SYMM are of level 29."""
    TENSOR_QUANT16_SYMM = 7
    TENSOR_FLOAT16 = 8
    TENSOR_BOOL8 = 9
    FLOAT16 = 10
    TENSOR_QUANT8_SYMM_PER_CHANNEL = 11
    TENSOR_QUANT16_ASYMM = 12
    TENSOR_QUANT8_SYMM = 13
    TENSOR_QUANT8_ASYMM_SIGNED = 14
    """Level 30, as is MODEL."""
    MODEL = 15
    """A reference to another model: a branch of IF, a condition or body of WHILE."""
    OEM_SCALAR = 10000
    TENSOR_OEM_BYTE = 10001

    @classmethod
    def _missing_(cls, value: object) -> enum.IntEnum | None:
        return _extension_member(cls, value)

    @property
    def is_scalar(self) -> bool:
        """True for types without dimensions; those of extensions may have some."""
        return self in _SCALARS

    @property
    def is_extension(self) -> bool:
        """True for a type that an extension defines."""
        return self >= 1 << EXTENSION_PREFIX_SHIFT


_SCALARS = frozenset(
    {
        OperandCode.FLOAT32,
        OperandCode.INT32,
        OperandCode.UINT32,
        OperandCode.BOOL,
        OperandCode.FLOAT16,
        OperandCode.MODEL,
        OperandCode.OEM_SCALAR,
    }
)


class OperationCode(enum.IntEnum):
    """Operations up to API level 30. Those of extensions are members that are not listed."""

    ADD = 0
    AVERAGE_POOL_2D = 1
    CONCATENATION = 2
    CONV_2D = 3
    DEPTHWISE_CONV_2D = 4
    DEPTH_TO_SPACE = 5
    DEQUANTIZE = 6
    EMBEDDING_LOOKUP = 7
    FLOOR = 8
    FULLY_CONNECTED = 9
    HASHTABLE_LOOKUP = 10
    L2_NORMALIZATION = 11
    L2_POOL_2D = 12
    LOCAL_RESPONSE_NORMALIZATION = 13
    LOGISTIC = 14
    LSH_PROJECTION = 15
    LSTM = 16
    MAX_POOL_2D = 17
    MUL = 18
    RELU = 19
    RELU1 = 20
    RELU6 = 21
    RESHAPE = 22
    RESIZE_BILINEAR = 23
    RNN = 24
    SOFTMAX = 25
    SPACE_TO_DEPTH = 26
    SVDF = 27
    TANH = 28
    BATCH_TO_SPACE_ND = 29
    DIV = 30
    MEAN = 31
    PAD = 32
    SPACE_TO_BATCH_ND = 33
    SQUEEZE = 34
    STRIDED_SLICE = 35
    SUB = 36
    TRANSPOSE = 37
    ABS = 38
    ARGMAX = 39
    ARGMIN = 40
    AXIS_ALIGNED_BBOX_TRANSFORM = 41
    BIDIRECTIONAL_SEQUENCE_LSTM = 42
    BIDIRECTIONAL_SEQUENCE_RNN = 43
    BOX_WITH_NMS_LIMIT = 44
    CAST = 45
    CHANNEL_SHUFFLE = 46
    DETECTION_POSTPROCESSING = 47
    EQUAL = 48
    EXP = 49
    EXPAND_DIMS = 50
    GATHER = 51
    GENERATE_PROPOSALS = 52
    GREATER = 53
    GREATER_EQUAL = 54
    GROUPED_CONV_2D = 55
    HEATMAP_MAX_KEYPOINT = 56
    INSTANCE_NORMALIZATION = 57
    LESS = 58
    LESS_EQUAL = 59
    LOG = 60
    LOGICAL_AND = 61
    LOGICAL_NOT = 62
    LOGICAL_OR = 63
    LOG_SOFTMAX = 64
    MAXIMUM = 65
    MINIMUM = 66
    NEG = 67
    NOT_EQUAL = 68
    PAD_V2 = 69
    POW = 70
    PRELU = 71
    QUANTIZE = 72
    QUANTIZED_16BIT_LSTM = 73
    RANDOM_MULTINOMIAL = 74
    REDUCE_ALL = 75
    REDUCE_ANY = 76
    REDUCE_MAX = 77
    REDUCE_MIN = 78
    REDUCE_PROD = 79
    REDUCE_SUM = 80
    ROI_ALIGN = 81
    ROI_POOLING = 82
    RSQRT = 83
    SELECT = 84
    SIN = 85
    SLICE = 86
    SPLIT = 87
    SQRT = 88
    TILE = 89
    TOPK_V2 = 90
    TRANSPOSE_CONV_2D = 91
    UNIDIRECTIONAL_SEQUENCE_LSTM = 92
    UNIDIRECTIONAL_SEQUENCE_RNN = 93
    RESIZE_NEAREST_NEIGHBOR = 94
    QUANTIZED_LSTM = 95
    IF = 96
    WHILE = 97
    ELU = 98
    HARD_SWISH = 99
    FILL = 100
    RANK = 101
    OEM_OPERATION = 10000

    @classmethod
    def _missing_(cls, value: object) -> enum.IntEnum | None:
        return _extension_member(cls, value)

    @property
    def is_extension(self) -> bool:
        """True for an operation that an extension defines."""
        return self >= 1 << EXTENSION_PREFIX_SHIFT


LEVEL_27_OPERATIONS = tuple(code for code in OperationCode if code <= OperationCode.TANH)
"""The operations of API level 27; the devices know these, the later ones are codes only."""


class FuseCode(enum.IntEnum):
    """Fused activations."""

    NONE = 0
    RELU = 1
    RELU1 = 2
    RELU6 = 3


class PaddingCode(enum.IntEnum):
    """Implicit paddings."""

    SAME = 1
    VALID = 2


class PreferenceCode(enum.IntEnum):
    """What a compilation is optimised for."""

    LOW_POWER = 0
    FAST_SINGLE_ANSWER = 1
    SUSTAINED_SPEED = 2


class ResultCode(enum.IntEnum):
    """What a call answers. UNMAPPABLE has level 28's value; level 27's header gave it 5."""

    NO_ERROR = 0
    OUT_OF_MEMORY = 1
    INCOMPLETE = 2
    UNEXPECTED_NULL = 3
    BAD_DATA = 4
    OP_FAILED = 5
    BAD_STATE = 6
    UNMAPPABLE = 7
    OUTPUT_INSUFFICIENT_SIZE = 8
    UNAVAILABLE_DEVICE = 9
    MISSED_DEADLINE_TRANSIENT = 10
    MISSED_DEADLINE_PERSISTENT = 11
    RESOURCE_EXHAUSTED_TRANSIENT = 12
    RESOURCE_EXHAUSTED_PERSISTENT = 13
    DEAD_OBJECT = 14


class Numerics(enum.StrEnum):
    """Which level's rules decide bits and acceptance.

    NNAPI: level 29 and later (dilation, multipliers of 1 and more, concatenation that rescales).
    NNAPI27: level 27, which refuses those.
    """

    NNAPI = "nnapi"
    NNAPI27 = "nnapi27"


class DurationCode(enum.IntEnum):
    """What a measured duration covers; the fenced ones begin when all dependencies are signalled."""

    ON_HARDWARE = 0
    IN_DRIVER = 1
    FENCED_ON_HARDWARE = 2
    FENCED_IN_DRIVER = 3


class PriorityCode(enum.IntEnum):
    """Priorities of executions on one device."""

    LOW = 90
    MEDIUM = 100
    HIGH = 110


class DeviceTypeCode(enum.IntEnum):
    """What a device is."""

    UNKNOWN = 0
    OTHER = 1
    CPU = 2
    GPU = 3
    ACCELERATOR = 4


MAX_IMMEDIATE_VALUE_BYTES = 128
"""Operand values up to this size are copied at the call (the header's constant)."""

CACHE_TOKEN_BYTES = 32
"""Bytes of a token that names a compilation in a cache (the header's constant)."""
