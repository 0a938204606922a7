from compiler.nnapi import OperationCode
from compiler.partition import split
from runtime.devices.handover import handovers
from tests.support.one_operation import OperandList, quant8


def test_a_tensor_is_copied_once_for_the_host_and_once_for_the_npu() -> None:
    """The NPU makes b, which host segments read twice; the host makes c, which the NPU reads."""
    operands = OperandList()
    a, b, c, d, e = (operands.operand(quant8(size)) for size in (1, 3, 3, 3, 6))
    axis = operands.scalar(0)
    operands.operation(OperationCode.RELU, [a], [b])
    operands.operation(OperationCode.RELU, [b], [c])
    operands.operation(OperationCode.RELU, [c], [d])
    operands.operation(OperationCode.CONCATENATION, [b, d, axis], [e])
    segments = split(operands.finish([a], [e]), {1: "no", 3: "no"})
    found = handovers(segments)
    copied = [
        [segment.operands[n] for n in handover.operands]
        for segment, handover in zip(segments, found, strict=True)
    ]
    assert copied == [[], [b, c], [], [d]]
    assert [handover.size_bytes for handover in found] == [0, 6, 0, 3]


def test_inputs_and_outputs_of_the_model_are_not_copied() -> None:
    operands = OperandList()
    a, b = operands.operand(quant8(2)), operands.operand(quant8(2))
    operands.operation(OperationCode.RELU, [a], [b])
    (handover,) = handovers(split(operands.finish([a], [b]), {0: "no"}))
    assert (handover.operands, handover.size_bytes) == ((), 0)
