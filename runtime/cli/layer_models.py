"""Models of one layer, made from its shape."""

import dataclasses

import numpy as np

from compiler.nnapi import FuseCode, OperationCode, PaddingCode
from runtime.model import Model
from runtime.model_builder import ModelBuilder, quant8

_SCALE = 1 / 128
_ZERO_POINT = 128
_WEIGHT_SEED = 0
_UNIFORM_DEVIATION = 74.0
"""Standard deviation of a uniform code about 128: 256 / sqrt(12)."""


@dataclasses.dataclass(frozen=True, slots=True)
class ConvolutionShape:
    """A convolution's shape; `padding` is "same" or "valid", stride and dilation hold for both directions."""

    height: int
    width: int
    input_channels: int
    output_channels: int
    kernel: tuple[int, int]
    stride: int
    dilation: int
    padding: str
    depthwise: bool

    @property
    def effective_kernel(self) -> tuple[int, int]:
        """Rows and columns between the outermost taps, both included."""
        rows, columns = self.kernel
        return (rows - 1) * self.dilation + 1, (columns - 1) * self.dilation + 1

    @property
    def output_size(self) -> tuple[int, int]:
        """Rows and columns of the output; below 1 if the kernel does not fit."""
        if self.padding == "same":
            return -(-self.height // self.stride), -(-self.width // self.stride)
        rows, columns = self.effective_kernel
        return (self.height - rows) // self.stride + 1, (self.width - columns) // self.stride + 1

    @property
    def filter_shape(self) -> tuple[int, int, int, int]:
        """NNAPI's filter shape."""
        if self.depthwise:
            return 1, *self.kernel, self.output_channels
        return self.output_channels, *self.kernel, self.input_channels

    @property
    def label(self) -> str:
        """How reports name the layer."""
        kind = "depthwise" if self.depthwise else "conv"
        rows, columns = self.kernel
        image = f"{self.height}x{self.width}x{self.input_channels}"
        window = f"{rows}x{columns}, stride {self.stride}, dilation {self.dilation}, {self.padding}"
        return f"{kind} {image} to {self.output_channels}, {window}"


def gemm_model(m: int, k: int, n: int) -> Model:
    """FULLY_CONNECTED of (m, k) by weights (n, k) with zero bias."""
    add = ModelBuilder(f"gemm {m}x{k}x{n}")
    source = add.variable(quant8((m, k), _SCALE, _ZERO_POINT), "input")
    parameters = _parameters(add, source, (n, k), n)
    output_type = quant8((m, n), _output_scale(k), _ZERO_POINT)
    inputs = [source, *parameters, *add.scalars(FuseCode.NONE)]
    output = add.operation(OperationCode.FULLY_CONNECTED, inputs, output_type, "output")
    return add.finish([source], [output])


def convolution_model(shape: ConvolutionShape) -> Model:
    """CONV_2D or DEPTHWISE_CONV_2D of one image, with zero bias.

    Without dilation the model uses the operand list of level 27, which `nnapi27` accepts too.
    """
    add = ModelBuilder(shape.label)
    image = (1, shape.height, shape.width, shape.input_channels)
    source = add.variable(quant8(image, _SCALE, _ZERO_POINT), "input")
    parameters = _parameters(add, source, shape.filter_shape, shape.output_channels)
    scheme = PaddingCode.SAME if shape.padding == "same" else PaddingCode.VALID
    options = [scheme, shape.stride, shape.stride]
    products = shape.kernel[0] * shape.kernel[1]
    if shape.depthwise:
        options.append(shape.output_channels // shape.input_channels)
    else:
        products *= shape.input_channels
    inputs = [source, *parameters, *add.scalars(*options, FuseCode.NONE)]
    if shape.dilation > 1:
        inputs += [add.boolean(value=False), *add.scalars(shape.dilation, shape.dilation)]
    output_type = quant8((1, *shape.output_size, shape.output_channels), _output_scale(products), _ZERO_POINT)
    code = OperationCode.DEPTHWISE_CONV_2D if shape.depthwise else OperationCode.CONV_2D
    output = add.operation(code, inputs, output_type, "output")
    return add.finish([source], [output])


def _parameters(add: ModelBuilder, source: int, shape: tuple[int, ...], channels: int) -> tuple[int, int]:
    """Add random weights and a zero bias."""
    values = np.random.default_rng(_WEIGHT_SEED).integers(0, 256, shape, dtype=np.uint8)
    weights = add.constant(quant8(shape, _SCALE, _ZERO_POINT), values)
    return weights, add.bias(source, weights, np.zeros(channels, np.int32))


def _output_scale(products: int) -> float:
    """A scale at which about three standard deviations of a sum of random products fill the codes."""
    deviation = np.sqrt(products) * _UNIFORM_DEVIATION**2 * _SCALE**2
    return float(3 * deviation / 128)
