"""A program for a Python with PyTorch: networks through PyTorch's own NNAPI client.

Writes a JSON object with the largest difference from PyTorch's result: `float`, and `quant8` in steps.
"""

import json
import sys
from typing import Any

import torch
from torch.ao.nn.intrinsic import ConvReLU2d
from torch.ao.quantization import DeQuantStub, MinMaxObserver, QConfig, QuantStub, convert, prepare
from torch.backends._nnapi.prepare import convert_model_to_nnapi


def both(network: Any, values: Any) -> tuple[Any, Any]:
    """What PyTorch and NNAPI compute."""
    values = values.contiguous(memory_format=torch.channels_last)
    values.nnapi_nhwc = True
    with torch.no_grad():
        converted = convert_model_to_nnapi(torch.jit.trace(network, values), values)
        return network(values), converted(values)


def main() -> None:
    """Compare both networks."""
    torch.manual_seed(0)
    values = torch.randn(1, 3, 8, 8)
    layers = torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Conv2d(4, 2, 1)
    expected, found = both(torch.nn.Sequential(*layers).eval(), values)
    answer = {"float": float((expected - found).abs().max())}

    fused = ConvReLU2d(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU()).eval()
    network = torch.nn.Sequential(QuantStub(), fused, DeQuantStub()).eval()
    network.qconfig = QConfig(
        activation=MinMaxObserver.with_args(dtype=torch.quint8),
        weight=MinMaxObserver.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric),
    )
    prepare(network, inplace=True)
    network(values)
    convert(network, inplace=True)
    expected, found = both(network[1:2].eval(), network[0](values))
    difference = expected.int_repr().int() - found.int_repr().int()
    answer["quant8"] = int(difference.abs().max())
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
