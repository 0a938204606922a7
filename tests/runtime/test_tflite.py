import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tflite

from compiler.nnapi import Numerics, OperationCode
from compiler.passes.legalise import legalise
from runtime.errors import ModelFileError
from runtime.tflite import load_tflite
from tests.support.classifier_file import classifier_file
from tests.support.shared import shared_path
from tests.support.tflite_files import Operator, Tensor, options, tflite_file

RELU, RESHAPE = tflite.BuiltinOperator.RELU, tflite.BuiltinOperator.RESHAPE
X, Y = Tensor(name="x", shape=(1, 4)), Tensor(name="y", shape=(1, 4))
UINT8_NETWORKS = {
    "coral_mobilenet_v1_0.25_128_quant": 31,
    "coral_mobilenet_v1_0.5_160_quant": 31,
    "coral_mobilenet_v2_1.0_224_quant": 66,
    "coral_mobilenet_v2_1.0_224_inat_bird_quant": 65,
}


def relu_file(source: Tensor = X, target: Tensor = Y, **changes: object) -> bytes:
    step = dataclasses.replace(Operator(code=RELU, inputs=[0], outputs=[1]), **changes)
    return tflite_file([source, target], [step], [0], [1])


def test_operators_become_operations_in_order() -> None:
    codes = [operation.code.name for operation in load_tflite(classifier_file()).graph.operations]
    assert codes == ["CONV_2D", "AVERAGE_POOL_2D", "RESHAPE", "FULLY_CONNECTED", "SOFTMAX"]


def test_operands_keep_the_names_and_numbers_of_the_files_tensors() -> None:
    model = load_tflite(classifier_file())
    names = {tensor: model.graph.operands[operand].name for operand, tensor in model.tensor_indices.items()}
    assert (names[0], names[8], names[9]) == ("image", "logits;fused/BiasAdd", "scores")


def test_operations_are_named_by_the_first_of_the_fused_names() -> None:
    assert load_tflite(classifier_file()).graph.operations[3].name == "logits"


def test_constants_keep_their_values() -> None:
    graph = load_tflite(classifier_file()).graph
    value = graph.operands[graph.operations[2].inputs[1]].value
    assert value is not None
    assert value.tolist() == [1, 36]


def test_a_model_is_named_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / "small.quant.tflite"
    path.write_bytes(classifier_file())
    assert load_tflite(path).name == load_tflite(str(path)).name == "small.quant"


def test_an_output_without_a_shape_gets_it_from_its_operation() -> None:
    graph = legalise(load_tflite(relu_file(target=dataclasses.replace(Y, shape=None))).graph, Numerics.NNAPI)
    assert graph.operands[graph.outputs[0]].type.dimensions == (1, 4)


def test_a_dilated_convolution_gets_the_operands_of_level_29() -> None:
    tensors = [
        Tensor(name="x", shape=(1, 9, 9, 1)),
        Tensor(name="w", shape=(1, 3, 3, 1), data=np.ones((1, 3, 3, 1), np.uint8)),
        Tensor(name="y", shape=(1, 5, 5, 1), scales=[2.0]),
    ]
    given = options("Conv2DOptions", Padding=1, StrideW=1, StrideH=1, DilationWFactor=2, DilationHFactor=2)
    step = Operator(code=tflite.BuiltinOperator.CONV_2D, inputs=[0, 1], outputs=[2], options=given)
    graph = load_tflite(tflite_file(tensors, [step], [0], [2])).graph
    assert len(graph.operations[0].inputs) == 10
    legalise(graph, Numerics.NNAPI)


def test_a_reshape_takes_its_new_shape_from_the_option() -> None:
    step = Operator(code=RESHAPE, inputs=[0], outputs=[1], options=options("ReshapeOptions", NewShape=[2, 2]))
    target = dataclasses.replace(Y, shape=(2, 2))
    legalise(load_tflite(tflite_file([X, target], [step], [0], [1])).graph, Numerics.NNAPI)


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        (lambda: b"", "not a TFLite model: the file must have the identifier TFL3 at byte 4"),
        (lambda: b"PK\x03\x04" + bytes(100), "not a TFLite model"),
        (lambda: relu_file()[:200], "the file is damaged: "),
        (lambda: tflite_file([X], [], [0], [0], subgraphs=2), "the file has 2 subgraphs; only files with 1"),
        (lambda: relu_file(inputs=[2]), "the file is damaged: inputs name tensor 2, but there are 2"),
        (lambda: relu_file(outputs=[-1]), "the file is damaged: outputs name tensor -1, but there are 2"),
        (lambda: relu_file(outputs=[]), "TFLite operator RELU (operator 0) has no outputs"),
        (lambda: relu_file(inputs=[-1]), "TFLite operator RELU writing “y”: input (input 0) is missing"),
        (
            lambda: relu_file(code=tflite.BuiltinOperator.SIN),
            "TFLite operator SIN (operator 0) is not supported (supported: ADD, AVERAGE_POOL_2D,",
        ),
        (
            lambda: relu_file(code=tflite.BuiltinOperator.CUSTOM, custom="Magic"),
            "TFLite operator CUSTOM “Magic” (operator 0) is not supported",
        ),
        (
            lambda: relu_file(dataclasses.replace(X, type=tflite.TensorType.INT8)),
            "tensor 0 “x” has type INT8; supported are UINT8, INT32, FLOAT32",
        ),
        (
            lambda: relu_file(dataclasses.replace(X, scales=[1.0, 2.0], zero_points=[0, 0])),
            "tensor 0 “x” is quantised per channel; only per tensor is supported",
        ),
        (
            lambda: relu_file(dataclasses.replace(X, scales=[0.0])),
            "tensor 0 “x” is UINT8 with scale 0.0, must be greater than 0",
        ),
        (
            lambda: relu_file(dataclasses.replace(X, zero_points=[256])),
            "tensor 0 “x”: TENSOR_QUANT8_ASYMM operand has zero point 256, must be 0 to 255",
        ),
        (
            lambda: relu_file(dataclasses.replace(X, shape=(1, -4))),
            "tensor 0 “x” has shape [1, -4]; it must have dimensions of at least 1",
        ),
        (
            lambda: relu_file(dataclasses.replace(X, shape=(2**31 - 1, 9))),
            "19327352823 bytes; must be below 2^32",
        ),
        (
            lambda: relu_file(dataclasses.replace(X, data=np.zeros(5, np.uint8))),
            "tensor 0 “x” has 5 bytes of data, must have 4 for UINT8 [1, 4]",
        ),
        (
            lambda: relu_file(dataclasses.replace(X, is_state=True)),
            "tensor 0 “x” keeps its value between inferences, but no operator has it as its state",
        ),
        (
            lambda: tflite_file([X, Y], [Operator(code=RELU, inputs=[0], outputs=[1])], [0], [0, 1]),
            "operand 0 “x” is a model input already, cannot be a model output",
        ),
        (
            lambda: relu_file(code=tflite.BuiltinOperator.SOFTMAX),
            "TFLite operator SOFTMAX writing “y”: its option beta is missing in the file",
        ),
    ],
)
def test_a_file_that_cannot_be_imported_gives_one_message(
    content: Callable[[], bytes], fragment: str
) -> None:
    with pytest.raises(ModelFileError) as caught:
        load_tflite(content())
    assert fragment in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_in_messages_hold_no_control_characters() -> None:
    source = dataclasses.replace(X, name="a\nb\x1b[1m", type=tflite.TensorType.INT8)
    with pytest.raises(ModelFileError, match="tensor 0 “a\ufffdb\ufffd\\[1m” has type INT8"):
        load_tflite(relu_file(source))


def test_a_message_begins_with_the_path(tmp_path: Path) -> None:
    path = tmp_path / "broken.tflite"
    path.write_bytes(b"nothing")
    with pytest.raises(ModelFileError) as caught:
        load_tflite(path)
    assert str(caught.value).startswith(f"{path}: not a TFLite model")


def test_a_missing_file_and_a_folder_give_one_message(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.tflite", tmp_path):
        with pytest.raises(ModelFileError, match="cannot be read: ") as caught:
            load_tflite(path)
        assert str(caught.value).count(str(path)) == 1


@pytest.mark.parametrize("network", UINT8_NETWORKS)
def test_the_uint8_networks_are_imported_and_accepted(network: str) -> None:
    model = load_tflite(shared_path("models", f"{network}.tflite"))
    assert len(legalise(model.graph, Numerics.NNAPI).operations) == UINT8_NETWORKS[network]


def test_a_network_with_a_post_processing_operator_is_refused_by_its_name() -> None:
    with pytest.raises(ModelFileError, match="CUSTOM “TFLite_Detection_PostProcess”"):
        load_tflite(shared_path("models", "tfsup_coco_ssd_mobilenet_v1.tflite"))


def test_the_float_network_is_imported_and_accepted() -> None:
    model = load_tflite(shared_path("models", "mlperf_resnet8_float.tflite"))
    assert len(legalise(model.graph, Numerics.NNAPI27).operations) == 16


def test_bytes_without_a_quantisation_have_scale_1() -> None:
    bare = {"scales": [], "zero_points": []}
    graph = load_tflite(relu_file(dataclasses.replace(X, **bare), dataclasses.replace(Y, **bare))).graph
    assert [(graph.operands[i].type.scale, graph.operands[i].type.zero_point) for i in (0, 1)] == [(1, 0)] * 2


def float_tensor(name: str, *shape: int, is_state: bool = False) -> Tensor:
    kind = tflite.TensorType.FLOAT32
    return Tensor(name=name, shape=shape, type=kind, scales=(), zero_points=(), is_state=is_state)


def rnn_file(state: Tensor) -> bytes:
    tensors = [
        *(float_tensor(name, *shape) for name, shape in (("x", (1, 3)), ("w", (4, 3)), ("r", (4, 4)))),
        float_tensor("b", 4),
        state,
        float_tensor("y", 1, 4),
    ]
    given = options("RNNOptions", FusedActivationFunction=tflite.ActivationFunctionType.TANH)
    step = Operator(code=tflite.BuiltinOperator.RNN, inputs=range(5), outputs=[5], options=given)
    return tflite_file(tensors, [step], [0, 1, 2, 3], [5])


def test_a_state_becomes_an_input_and_its_next_value_an_output() -> None:
    graph = legalise(load_tflite(rnn_file(float_tensor("h", 1, 4, is_state=True))).graph, Numerics.NNAPI)
    assert [graph.operands[number].name for number in graph.inputs] == ["x", "w", "r", "b", "h"]
    assert [graph.operands[number].name for number in graph.outputs] == ["y", "h (next)"]
    assert graph.operations[0].outputs == graph.outputs[::-1]


def test_a_state_that_does_not_keep_its_value_must_come_from_somewhere() -> None:
    with pytest.raises(ModelFileError, match="operand 4 “h” is a temporary that no operation writes"):
        load_tflite(rnn_file(float_tensor("h", 1, 4)))


def lstm_file() -> bytes:
    """Coupled gates, no peepholes, no projection: 1 batch, 3 inputs, 2 units."""
    given = {0: (1, 3), **dict.fromkeys(range(2, 5), (2, 3)), **dict.fromkeys(range(6, 9), (2, 2))}
    given |= dict.fromkeys(range(13, 16), (2,)) | dict.fromkeys((18, 19), (1, 2))
    tensors = [
        float_tensor(f"t{position}", *shape, is_state=position in (18, 19))
        for position, shape in given.items()
    ]
    places = {position: index for index, position in enumerate(given)}
    step = Operator(
        code=tflite.BuiltinOperator.LSTM,
        inputs=[places.get(position, -1) for position in range(20)],
        outputs=[len(tensors)],
        options=options("LSTMOptions", FusedActivationFunction=tflite.ActivationFunctionType.TANH),
    )
    variable = [index for index, tensor in enumerate(tensors) if not tensor.is_state]
    return tflite_file([*tensors, float_tensor("y", 1, 2)], [step], variable, [len(tensors)])


def test_an_lstm_gets_its_omitted_inputs_and_the_outputs_that_nnapi_adds() -> None:
    graph = legalise(load_tflite(lstm_file()).graph, Numerics.NNAPI)
    omitted = [i for i, number in enumerate(graph.operations[0].inputs) if graph.operands[number].omitted]
    assert omitted == [1, 5, 9, 10, 11, 12, 16, 17]
    results = [graph.operands[number] for number in graph.outputs]
    assert [(result.name, result.type.dimensions) for result in results] == [
        ("y", (1, 2)),
        ("y (scratch)", (1, 6)),
        ("t18 (next)", (1, 2)),
        ("t19 (next)", (1, 2)),
    ]


def test_a_hashtable_has_hits_of_scale_1() -> None:
    tensors = [
        *(
            Tensor(name=n, shape=(s,), type=tflite.TensorType.INT32, scales=())
            for n, s in (("l", 2), ("k", 3))
        ),
        float_tensor("v", 3, 5),
        float_tensor("y", 2, 5),
        Tensor(name="hits", shape=(2,), scales=(), zero_points=()),
    ]
    step = Operator(code=tflite.BuiltinOperator.HASHTABLE_LOOKUP, inputs=[0, 1, 2], outputs=[3, 4])
    graph = load_tflite(tflite_file(tensors, [step], [0, 1, 2], [3, 4])).graph
    legalise(graph, Numerics.NNAPI)


def test_options_that_are_numbers_in_a_file_are_read_by_name() -> None:
    tensors = [
        float_tensor("hashes", 4, 2),
        float_tensor("items", 3, 2),
        Tensor(name="y", shape=(4,), type=tflite.TensorType.INT32, scales=()),
    ]
    given = options("LSHProjectionOptions", Type=tflite.LSHProjectionType.SPARSE)
    step = Operator(code=tflite.BuiltinOperator.LSH_PROJECTION, inputs=[0, 1], outputs=[2], options=given)
    graph = load_tflite(tflite_file(tensors, [step], [0, 1], [2])).graph
    legalise(graph, Numerics.NNAPI)
    assert graph.operands[graph.operations[0].inputs[2]].omitted


def test_every_operator_maps_to_the_operation_of_its_name() -> None:
    graph = load_tflite(relu_file(code=tflite.BuiltinOperator.RELU_N1_TO_1)).graph
    assert graph.operations[0].code is OperationCode.RELU1
