"""Numbers and types of an operation's operands, as NNAPI judges them when the operation is added.

A signature has a letter per operand, see `_LETTERS`: inputs, a space, outputs. In the templates, `T` is one
type throughout, `s` a scalar of its precision, and `+` after the first letter any number of it. Shapes and
values are judged when the model is compiled. Operations of later levels than 27 are known by code only.
"""

from collections.abc import Collection, Sequence

from compiler.nnapi import OperandCode, OperationCode
from runtime.errors import BadDataError

_LETTERS = {
    "F": OperandCode.TENSOR_FLOAT32,
    "H": OperandCode.TENSOR_FLOAT16,
    "Q": OperandCode.TENSOR_QUANT8_ASYMM,
    "S": OperandCode.TENSOR_QUANT8_ASYMM_SIGNED,
    "Y": OperandCode.TENSOR_QUANT8_SYMM,
    "C": OperandCode.TENSOR_QUANT8_SYMM_PER_CHANNEL,
    "I": OperandCode.TENSOR_INT32,
    "f": OperandCode.FLOAT32,
    "h": OperandCode.FLOAT16,
    "i": OperandCode.INT32,
    "b": OperandCode.BOOL,
}

_LAYOUT = ("", "b")
_LAYOUT_AND_DILATION = ("", "b", "bii")
_CORNERS = ("", "b", "bb", "bbb")


def _convolution(scalars: Sequence[str]) -> list[str]:
    """Input, filter and bias, for explicit and implicit padding."""
    operands = {"F": "FFF", "H": "HHH", "Q": "QQI|QCI", "S": "SSI|SCI"}
    return [
        f"{alternative}{scalar}{tail} {type_}"
        for type_, alternatives in operands.items()
        for alternative in alternatives.split("|")
        for scalar in scalars
        for tail in _LAYOUT_AND_DILATION
    ]


def _typed(types: str, inputs: str, outputs: str, tails: Sequence[str] = ("",)) -> list[str]:
    """A signature for each main type and each tail of optional inputs."""
    return [
        f"{inputs}{tail} {outputs}".replace("T", type_).replace("s", "h" if type_ == "H" else "f")
        for type_ in types
        for tail in tails
    ]


_REAL, _QUANT = "FH", "FHQS"
_ANY = "FHQSYCI"

_SIGNATURES: dict[OperationCode, list[str]] = {
    OperationCode.ADD: _typed(_QUANT + "I", "TTi", "T"),
    OperationCode.MUL: _typed(_QUANT + "I", "TTi", "T"),
    OperationCode.AVERAGE_POOL_2D: _typed(_QUANT, "Tiiiiii", "T", ("iii", "iiib", *_LAYOUT)),
    OperationCode.MAX_POOL_2D: _typed(_QUANT, "Tiiiiii", "T", ("iii", "iiib", *_LAYOUT)),
    OperationCode.L2_POOL_2D: _typed(_REAL, "Tiiiiii", "T", ("iii", "iiib", *_LAYOUT)),
    OperationCode.CONV_2D: _convolution(("iiiiiii", "iiii")),
    OperationCode.DEPTHWISE_CONV_2D: _convolution(("iiiiiiii", "iiiii")),
    OperationCode.FULLY_CONNECTED: ["FFFi F", "HHHi H", "QQIi Q", "SSIi S"],
    OperationCode.CONCATENATION: _typed(_QUANT, "T+i", "T"),
    OperationCode.DEPTH_TO_SPACE: _typed(_QUANT, "Ti", "T", _LAYOUT),
    OperationCode.SPACE_TO_DEPTH: _typed(_QUANT, "Ti", "T", _LAYOUT),
    OperationCode.DEQUANTIZE: [f"{source} {result}" for source in "QSYC" for result in _REAL],
    OperationCode.EMBEDDING_LOOKUP: _typed(_ANY, "IT", "T"),
    OperationCode.HASHTABLE_LOOKUP: _typed(_ANY, "IIT", "TQ"),
    OperationCode.FLOOR: _typed(_REAL, "T", "T"),
    OperationCode.L2_NORMALIZATION: _typed(_QUANT, "T", "T", ("", "i")),
    OperationCode.LOCAL_RESPONSE_NORMALIZATION: _typed(_REAL, "Tisss", "T", ("", "i")),
    OperationCode.LOGISTIC: _typed(_QUANT, "T", "T"),
    OperationCode.RELU: _typed(_QUANT, "T", "T"),
    OperationCode.RELU1: _typed(_QUANT, "T", "T"),
    OperationCode.RELU6: _typed(_QUANT, "T", "T"),
    OperationCode.TANH: _typed(_QUANT, "T", "T"),
    OperationCode.LSH_PROJECTION: [
        f"{real}{data}{weight}i I" for real in _REAL for data in _ANY for weight in _REAL
    ],
    OperationCode.LSTM: _typed(_REAL, "T" * 20 + "iss", "TTTT", ("", "TTTT")),
    OperationCode.RNN: _typed(_REAL, "TTTTTi", "TT"),
    OperationCode.SVDF: _typed(_REAL, "TTTTTii", "TT"),
    OperationCode.RESHAPE: _typed(_QUANT + "I", "TI", "T"),
    OperationCode.RESIZE_BILINEAR: [
        *_typed(_QUANT, "Tii", "T", _CORNERS),
        *_typed(_QUANT, "Tss", "T", _CORNERS),
    ],
    OperationCode.SOFTMAX: _typed(_QUANT, "Ts", "T", ("", "i")),
}


def check_signature(
    code: OperationCode, inputs: Sequence[OperandCode], outputs: Sequence[OperandCode]
) -> None:
    """Refuse an operation with operands of other number or types; BadDataError says what it may have."""
    if not (inputs and outputs):
        raise BadDataError(f"{code.name} has {len(inputs)} inputs and {len(outputs)} outputs, must have some")
    if code not in _SIGNATURES:
        return
    signatures = [_split(signature, len(inputs)) for signature in _SIGNATURES[code]]
    for kind, given, side in (("input", inputs, 0), ("output", outputs, 1)):
        counts = {len(signature[side]) for signature in signatures}
        if len(given) not in counts:
            allowed = " or ".join(str(count) for count in sorted(counts))
            raise BadDataError(f"{code.name} has {len(given)} {kind}s, must have {allowed}")
        signatures = [signature for signature in signatures if len(signature[side]) == len(given)]
    for kind, given, side in (("input", inputs, 0), ("output", outputs, 1)):
        for position, operand in enumerate(given):
            letters = dict.fromkeys(signature[side][position] for signature in signatures)
            if operand not in (_LETTERS[letter] for letter in letters):
                raise BadDataError(
                    f"{code.name}: {kind} {position} is {operand.name}, must be {_names(letters)}"
                )
            signatures = [s for s in signatures if _LETTERS[s[side][position]] is operand]


def _split(signature: str, input_count: int) -> tuple[str, str]:
    """Letters of the inputs and of the outputs, for an operation with that many inputs."""
    inputs, outputs = signature.split(" ")
    if inputs[1:2] == "+":
        inputs = inputs[0] * max(1, input_count - len(inputs) + 2) + inputs[2:]
    return inputs, outputs


def _names(letters: Collection[str]) -> str:
    return " or ".join(_LETTERS[letter].name for letter in letters)
