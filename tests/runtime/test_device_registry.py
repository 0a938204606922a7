import pytest

from compiler.nnapi import Numerics
from npu_sim.config_io import load_machine
from runtime.device_registry import device_names, get_device, resolve_machine
from runtime.errors import BadDataError
from tests.support.nnapi_models import add_model


def test_there_are_two_devices() -> None:
    assert device_names() == ["npu", "reference"]


@pytest.mark.parametrize("name", ["npu", "reference"])
def test_a_device_knows_its_name(name: str) -> None:
    assert get_device(name).name == name


def test_an_unknown_device_is_bad_data() -> None:
    with pytest.raises(BadDataError, match="device is 'gpu', must be one of npu, reference"):
        get_device("gpu")


def test_a_machine_may_be_given_by_name_or_as_it_is() -> None:
    tiny = load_machine("tiny")
    assert resolve_machine("tiny") == tiny
    assert resolve_machine(tiny) is tiny


def test_an_unknown_machine_is_bad_data() -> None:
    with pytest.raises(BadDataError, match="nosuch"):
        get_device("npu", "nosuch")


@pytest.mark.parametrize("name", ["npu", "reference"])
def test_a_device_tells_which_operations_it_supports(name: str) -> None:
    assert get_device(name).supported(add_model().graph, Numerics.NNAPI) == (True,)
