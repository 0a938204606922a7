import numpy as np
import pytest
import tflite

from runtime.cutting import TensorKey, cut_model, find_tensors, needed_operations
from runtime.errors import BadDataError, ModelFileError
from runtime.model import Model
from runtime.runner import load_model, run
from runtime.tflite import load_tflite
from tests.support.classifier_file import IMAGE_SHAPE, classifier_file
from tests.support.mixed_models import dense_model, rnn_model
from tests.support.tflite_files import Operator, Tensor, tflite_file

NAMES = {0: "a", 1: "b", 2: "b", 3: "7", 4: "c;d"}


def custom_file() -> bytes:
    """x → RELU → y → a custom operator → z, which also reads w, a second input."""
    tensors = [Tensor(name=name, shape=(2,)) for name in ("x", "y", "w")]
    tensors.append(Tensor(name="z", shape=(2,), type=tflite.TensorType.INT64))
    operators = [
        Operator(code=tflite.BuiltinOperator.RELU, inputs=[0], outputs=[1]),
        Operator(code=tflite.BuiltinOperator.CUSTOM, inputs=[1, 2], outputs=[3], custom="Magic"),
    ]
    return tflite_file(tensors, operators, [0, 2], [3])


def test_only_what_the_wanted_tensors_depend_on_is_needed() -> None:
    inputs, outputs = [[0], [0], [1, 2], [3]], [[1], [2], [3], [4]]
    assert needed_operations(inputs, outputs, [3]) == [0, 1, 2]
    assert needed_operations(inputs, outputs, [2]) == [1]


@pytest.mark.parametrize(("key", "number"), [("a", 0), (2, 2), ("2", 2), ("7", 3), ("c", 4), ("c;d", 4)])
def test_a_tensor_is_found_by_name_or_number(key: TensorKey, number: int) -> None:
    assert find_tensors([key], NAMES, set(NAMES)) == [number]


@pytest.mark.parametrize(
    ("keys", "fragment"),
    [
        (["b"], r"until 'b': tensors \[1, 2\] have this name; give a number"),
        (["aa"], "until 'aa': no tensor has this name; near are a"),
        (["nothing"], "until 'nothing': no tensor has this name$"),
        ([9], "until 9: there is no tensor of this number"),
        ([-1], "until -1: there is no tensor of this number"),
        ([2], "until 2: tensor 2 “b” is made by no operation"),
        (["a", 0], "until 0: tensor 0 “a” is named twice"),
    ],
)
def test_a_tensor_that_cannot_be_an_output_is_bad_data(keys: list[TensorKey], fragment: str) -> None:
    with pytest.raises(BadDataError, match=fragment):
        find_tensors(keys, NAMES, {0, 1, 3})


def test_what_stands_behind_the_cut_may_be_anything() -> None:
    with pytest.raises(ModelFileError, match="Magic"):
        load_tflite(custom_file())
    model = load_tflite(custom_file(), until=["y"])
    assert [model.graph.operands[n].name for n in (*model.graph.inputs, *model.graph.outputs)] == ["x", "y"]


def test_a_custom_operator_before_the_cut_is_refused() -> None:
    with pytest.raises(ModelFileError, match="Magic"):
        load_tflite(custom_file(), until=["z"])


def test_a_tensor_that_is_not_in_the_file_is_a_model_file_error() -> None:
    with pytest.raises(ModelFileError, match="until 'q': no tensor has this name"):
        load_tflite(custom_file(), until=["q"])


def test_a_run_may_end_at_tensors_in_any_order() -> None:
    image = np.arange(np.prod(IMAGE_SHAPE)).astype(np.uint8).reshape(IMAGE_SHAPE)
    whole = run(classifier_file(), [image], machine="tiny", keep_tensors=True)
    part = run(classifier_file(), [image], machine="tiny", until=["logits", 3])
    assert [name.partition(";")[0] for name in part.outputs] == ["logits", "features"]
    np.testing.assert_array_equal(part.outputs["features"], whole.tensors[3])
    assert part.cycles < whole.cycles


def test_a_model_built_by_calls_is_cut_by_operand() -> None:
    model = cut_model(dense_model(), ["real"])
    assert [operation.code.name for operation in model.graph.operations] == ["DEQUANTIZE"]
    assert len(model.graph.operands) == 2


def test_a_cut_keeps_the_numbers_of_the_file() -> None:
    loaded = load_tflite(classifier_file())
    again = cut_model(loaded, [3])
    assert again.tensor_indices[again.graph.outputs[0]] == 3
    assert again.graph.operands[again.graph.outputs[0]].name == "features"


def test_an_output_that_nobody_reads_becomes_one_more_output() -> None:
    graph = cut_model(rnn_model(), ["y"]).graph
    assert [graph.operands[number].name for number in graph.outputs] == ["y", "state (next)"]


def test_without_a_cut_a_model_is_itself() -> None:
    model: Model = dense_model()
    assert load_model(model) is model
