"""Memory of the simulating computer: weights are copied once, into the program; the largest models fit."""

import subprocess
import sys

import numpy as np
import pytest

from compiler.graph import OperandType
from compiler.nnapi import FuseCode, OperandCode, OperationCode
from npu_sim.functional.state import MachineState
from runtime.devices.npu_prepared import NpuPrepared
from runtime.devices.support import MAX_REFERENCE_ELEMENTS
from runtime.errors import UnsupportedModelError
from runtime.model_builder import ModelBuilder
from runtime.runner import compile_model, run
from runtime.tflite import load_tflite
from tests.support.classifier_file import classifier_file

MIB = 1 << 20


def peak_bytes(*arguments: str) -> int:
    """Peak resident memory of a run of the command line in a process of its own."""
    code = (
        "import resource, runpy, sys; sys.argv[0] = 'npu-sim'\n"
        "try: runpy.run_module('runtime.cli.main', run_name='__main__')\n"
        "except SystemExit as end: assert not end.code\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *arguments, "--json", "/dev/null"]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    unit = 1 if sys.platform == "darwin" else 1024
    return int(finished.stderr.split()[-1]) * unit


def test_weights_are_in_memory_twice() -> None:
    """64 MB of weights: in the model, and in the program; what else is there takes the rest."""
    small, large = peak_bytes("gemm", "1", "64", "64"), peak_bytes("gemm", "1", "8000", "8000")
    assert large - small < 2 * 64_000_000 + 24 * MIB


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        "gemm 100 16000 16000",
        "gemm 16000 16000 100",
        "conv 1024 1024 120 120 1",
        "conv 1024 1024 120 120 1 --keep-tensors",
        "conv 3 3 511 511 32",
        "conv 2048 2048 30 30 3 --depthwise",
    ],
)
def test_the_largest_layers_stay_below_a_gibibyte(arguments: str) -> None:
    assert peak_bytes(*arguments.split()) < 1024 * MIB


def test_constants_of_a_file_are_views_of_it() -> None:
    content = classifier_file()
    model = load_tflite(content)
    start = np.frombuffer(content, np.uint8).ctypes.data
    addresses = [
        operand.value.ctypes.data - start
        for operand in model.graph.operands
        if operand.value is not None and operand.value.nbytes > 128
    ]
    assert addresses
    assert all(0 <= address < len(content) for address in addresses)


def test_a_machine_reads_constants_where_the_program_has_them() -> None:
    prepared = compile_model(classifier_file(), machine="tiny").prepared
    assert isinstance(prepared, NpuPrepared)
    program = prepared.program
    region = next(r for r in program.region_bytes if r.name == "CONSTANTS")
    memory = MachineState(program).regions[region]
    assert np.shares_memory(memory, np.frombuffer(program.constants, np.uint8))
    assert not memory.flags.writeable


def test_an_operation_too_large_for_the_reference_is_refused() -> None:
    add = ModelBuilder("large")
    type_ = OperandType(OperandCode.TENSOR_FLOAT32, (1, 1200, 1200, 16))
    source = add.variable(type_, "input")
    weights = add.constant(
        OperandType(OperandCode.TENSOR_FLOAT32, (16, 1, 1, 16)), np.zeros((16, 1, 1, 16), np.float32)
    )
    bias = add.constant(OperandType(OperandCode.TENSOR_FLOAT32, (16,)), np.zeros(16, np.float32))
    inputs = [source, weights, bias, *add.scalars(1, 1, 1, FuseCode.NONE)]
    model = add.finish([source], [add.operation(OperationCode.CONV_2D, inputs, type_, "output")])
    message = f"CONV_2D .* 46080276 elements together; the reference takes at most {MAX_REFERENCE_ELEMENTS}"
    with pytest.raises(UnsupportedModelError, match=message):
        run(model, timing_only=True)
