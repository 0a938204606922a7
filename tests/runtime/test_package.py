import subprocess
import sys

import pytest

import runtime


@pytest.mark.parametrize("name", runtime.__all__)
def test_every_public_name_can_be_loaded(name: str) -> None:
    assert getattr(runtime, name) is not None


def test_run_stays_a_function_after_its_module_is_loaded() -> None:
    import runtime.runner

    assert callable(runtime.run)
    assert runtime.run is runtime.runner.run


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'walk'"):
        _ = runtime.walk


def test_importing_the_package_loads_no_third_party_module() -> None:
    code = "import sys, runtime; print({'numpy', 'simpy', 'tflite', 'msgspec', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
