"""NNAPI's codes with their numeric values (API level 27's header, result codes up to level 30)."""

import enum


class OperandCode(enum.IntEnum):
    """Operand types."""

    FLOAT32 = 0
    INT32 = 1
    UINT32 = 2
    TENSOR_FLOAT32 = 3
    TENSOR_INT32 = 4
    TENSOR_QUANT8_ASYMM = 5
    BOOL = 6
    """A scalar of one byte; level 29."""

    @property
    def is_scalar(self) -> bool:
        """True for types without dimensions."""
        return self < OperandCode.TENSOR_FLOAT32 or self is OperandCode.BOOL


class OperationCode(enum.IntEnum):
    """Operations of API level 27."""

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


MAX_IMMEDIATE_VALUE_BYTES = 128
"""Operand values up to this size are copied at the call (the header's constant)."""
