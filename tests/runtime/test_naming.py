import pytest

from runtime.naming import input_names, output_names, unique_names
from tests.support.nnapi_models import add_model


def test_names_come_from_the_operands() -> None:
    graph = add_model(names=("left", "right", "total")).graph
    assert (input_names(graph), output_names(graph)) == (["left", "right"], ["total"])


def test_an_operand_without_a_name_is_numbered() -> None:
    graph = add_model(names=("", "b", "")).graph
    assert (input_names(graph), output_names(graph)) == (["input_0", "b"], ["output_0"])


@pytest.mark.parametrize(
    ("names", "unique"),
    [
        (["x", "x"], ["output_0", "output_1"]),
        (["", "output_0"], ["output_0_", "output_0"]),
    ],
)
def test_names_are_unique(names: list[str], unique: list[str]) -> None:
    assert unique_names(names, "output") == unique
