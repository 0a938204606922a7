"""Operations on shapes: RESHAPE and CONCATENATION."""

import math

import numpy as np

from compiler.graph import OperandType
from compiler.nnapi import OperandCode, OperationCode, ResultCode
from compiler.reference.arithmetic import INT32_MAX, INT32_MIN, round_half_away
from compiler.reference.registry import Array, Call, reference

_RESHAPED_TYPES = (OperandCode.TENSOR_FLOAT32, OperandCode.TENSOR_INT32, OperandCode.TENSOR_QUANT8_ASYMM)


@reference(OperationCode.RESHAPE)
def reshape(call: Call) -> list[Array]:
    """Give the same values another shape; one dimension of −1 takes what is left."""
    call.expect_count(2)
    values, target = call.any_tensor(0, *_RESHAPED_TYPES), call.tensor(1, OperandCode.TENSOR_INT32)
    call.expect_rank(1, 1)
    call.expect_kept_type()
    shape = [int(size) for size in target]
    known = math.prod(size for size in shape if size != -1)
    if shape.count(-1) == 1 and known > 0 and values.size % known == 0:
        shape[shape.index(-1)] = values.size // known
    if any(size < 0 for size in shape) or math.prod(shape) != values.size:
        raise call.error(
            f"{values.size} elements of shape {list(values.shape)} do not fill {target.tolist()}"
        )
    return [values.reshape(shape).copy()]


@reference(OperationCode.CONCATENATION)
def concatenation(call: Call) -> list[Array]:
    """Tensors joined along an axis; from level 29 on, bytes are brought to the output's quantisation."""
    if call.count < 2:
        raise call.error("no inputs to concatenate", ResultCode.BAD_DATA)
    is_float = call.is_float()
    parts = [call.any_tensor(position, call.type(0).code) for position in range(call.count - 1)]
    axis, result = call.integer(call.count - 1), call.result(call.type(0).code)
    rank = parts[0].ndim
    if not 0 <= axis < rank or rank > 4:
        raise call.error(f"axis {axis} of tensors of rank {rank}; allowed are 0 ≤ axis < rank ≤ 4")
    for position, part in enumerate(parts):
        if (
            part.ndim != rank
            or np.delete(part.shape, axis).tolist() != np.delete(parts[0].shape, axis).tolist()
        ):
            raise call.error(
                f"input {position} is {list(part.shape)}; outside axis {axis} it must equal "
                f"input 0, {list(parts[0].shape)}"
            )
    if not is_float:
        parts = [_requantized(call, position, part, result) for position, part in enumerate(parts)]
    return [np.concatenate(parts, axis)]


def _requantized(call: Call, position: int, values: Array, result: OperandType) -> Array:
    """`values` in the output's quantisation: multiply, then add, then round, in single precision."""
    kind = call.type(position)
    if (kind.scale, kind.zero_point) == (result.scale, result.zero_point):
        return values
    if call.is_level_27:
        raise call.error(
            f"input {position} has scale {kind.scale} and zero point {kind.zero_point}, the output "
            f"{result.scale} and {result.zero_point}; level 27 wants them equal"
        )
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        factor = np.float32(kind.scale) * (np.float32(1) / np.float32(result.scale))
        offset = np.float32(-kind.zero_point) * factor
        real = values.astype(np.float32) * factor + offset
    if not np.isfinite(real).all():
        raise call.error(
            f"scale {kind.scale} of input {position} / {result.scale} is beyond single precision"
        )
    steps = round_half_away(np.clip(real.astype(np.float64), INT32_MIN, INT32_MAX)) + result.zero_point
    return np.clip(steps, 0, 255).astype(np.uint8)
