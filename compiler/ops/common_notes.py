"""Notes on operands and limits that several operations share."""

from compiler.nnapi import OperandCode
from compiler.operation_notes import scalar, tensor
from compiler.ops.operands import FLOAT32, INT32

PADDING = scalar(
    "padding",
    "left, right, top and bottom, from 0 to less than the filter's extent (size - 1) x dilation + 1; or one"
    " scheme: 1 (SAME) or 2 (VALID)",
    counts=(4, 1),
)
STRIDES = scalar("strides", "width, height; at least 1", counts=(2,))
FUSED_ACTIVATION = scalar("fused activation", "0 (NONE), 1 (RELU), 2 (RELU1) or 3 (RELU6)")
DATA_LAYOUT = scalar(
    "data layout",
    "level 29: true for NCHW images, inputs and outputs alike; the shapes given here are NHWC",
    types=(OperandCode.BOOL,),
    counts=(0, 1),
)
DILATIONS = scalar("dilations", "level 29: width, height; at least 1", counts=(0, 2))
RECURRENT_ACTIVATION = scalar(
    "activation", "0 (NONE), 1 (RELU), 2 (RELU1), 3 (RELU6), 4 (TANH) or 6 (SIGMOID)"
)

BIAS = tensor(
    "bias",
    (FLOAT32, INT32),
    (1,),
    "one for each output channel; of a quant8 input int32, with zero point 0 and scale input scale x filter"
    " scale",
)

SAME_QUANTISATION = "quant8: the output has the input's scale and zero point."
MULTIPLIER = (
    "quant8: input scale x filter scale / output scale is less than 2^30; at level 27 it is less than 1."
)
LAST_AXIS = "on the NPU along the last dimension only"
QUANT8_OR_FLOAT = "NPU, vector unit: quant8 on every machine, float32 where it has float lanes; else host"
NHWC_WINDOWS = (
    "images in NHWC, and sizes, strides, dilations and paddings up to 65535, which an instruction can hold"
)
