import numpy as np
import pytest

from compiler.nnapi import Numerics, OperationCode
from compiler.reference.interpreter import run_graph
from runtime.digits import STORED_FILE, digits_model, held_out


@pytest.mark.parametrize("numerics", list(Numerics))
def test_classifies_at_least_95_percent_of_the_held_out_images(numerics: Numerics) -> None:
    graph = digits_model().graph
    images, labels = held_out()
    found = [run_graph(graph, [image[np.newaxis]], numerics)[graph.outputs[0]].argmax() for image in images]
    assert np.mean(found == labels) >= 0.95


def test_holds_a_few_hundred_images_of_every_digit() -> None:
    images, labels = held_out()
    assert images.shape == (360, 8, 8, 1)
    assert images.dtype == np.uint8
    assert set(labels.tolist()) == set(range(10))


def test_uses_several_operations() -> None:
    codes = [operation.code for operation in digits_model().graph.operations]
    assert codes == [
        OperationCode.CONV_2D,
        OperationCode.DEPTHWISE_CONV_2D,
        OperationCode.CONV_2D,
        OperationCode.AVERAGE_POOL_2D,
        OperationCode.RESHAPE,
        OperationCode.FULLY_CONNECTED,
        OperationCode.SOFTMAX,
    ]


def test_held_out_images_are_none_of_the_training_images() -> None:
    pytest.importorskip(
        "sklearn", reason="scikit-learn holds the data set: install the extra test or training"
    )
    from runtime.digits.train import split_digits

    data = split_digits()
    training = {image.tobytes() for image in data.training_images}
    shared = [image for image in held_out()[0] if image.tobytes() in training]
    assert shared == []


def test_training_script_reproduces_the_stored_file() -> None:
    pytest.importorskip(
        "sklearn", reason="scikit-learn holds the data set: install the extra test or training"
    )
    from runtime.digits.train import trained_arrays

    arrays = trained_arrays()
    with np.load(STORED_FILE) as stored:
        assert sorted(stored.files) == sorted(arrays)
        differing = [
            name
            for name in stored.files
            if stored[name].dtype != arrays[name].dtype or not np.array_equal(stored[name], arrays[name])
        ]
    assert differing == []
