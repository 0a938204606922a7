"""Programs that load the library: in C, and in Python."""

import json
import sys
from pathlib import Path

import pytest

from runtime.nnapi.native.library import library_folder
from tests.support.native_client import NEEDS_COMPILER, compiled, library, run_client

pytestmark = NEEDS_COMPILER

LOAD = f"""\
import ctypes, os, sys, threading
def load(kind=ctypes.CDLL):
    return kind({str(library())!r}, mode=os.RTLD_LOCAL)
count = ctypes.c_uint32()
"""
"""The beginning of Python clients. They run without site-packages: -I -S."""


def run_python(code: str, **variables: str) -> list[str]:
    return run_client([sys.executable, "-I", "-S", "-c", LOAD + code], variables).stdout.split()


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).with_name("example.c")
    return compiled(source, tmp_path_factory.mktemp("client"), "-pedantic")


def test_c_example_gets_the_same_values_from_both_devices(example: Path) -> None:
    npu, cpu, verdict = run_client([example]).stdout.splitlines()
    values = cpu.removeprefix("nnapi-reference: ")
    assert npu.startswith(f"npu-sim-tiny: {values} after ")
    assert verdict == "all 2 devices agree"


def test_report_has_cycles_and_energy_of_each_layer(example: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    run_client([example], {"NPU_SIM_REPORT": str(file)})
    report = json.loads(file.read_text())
    summary, (npu, cpu) = report["summary"], report["executions"]
    layers = npu["result"]["layers"]
    assert (summary["executions"], summary["npu_executions"]) == (2, 1)
    assert [layer["op"] for layer in layers] == ["CONV_2D", "FULLY_CONNECTED"]
    assert sum(layer["cycles"] for layer in layers) == summary["cycles"] > 0
    assert sum(layer["energy_aj"] for layer in layers) == summary["energy_aj"] > 0
    assert cpu == {"device": "nnapi-reference", "result": None}


def test_report_of_a_client_that_is_killed_has_its_first_execution(tmp_path: Path) -> None:
    source, file = tmp_path / "killed.c", tmp_path / "report.json"
    text = Path(__file__).with_name("example.c").read_text()
    source.write_text(text.replace("return agree ? 0 : 1;", "abort();").replace("<stdio.h>", "<stdlib.h>"))
    source.write_text(
        source.read_text().replace("#include <string.h>", "#include <stdio.h>\n#include <string.h>")
    )
    run_client([compiled(source, tmp_path)], {"NPU_SIM_REPORT": str(file)}, status=-6)
    assert json.loads(file.read_text())["summary"]["npu_executions"] == 1


def test_trace_is_the_timeline_of_the_latest_execution_on_the_npu(example: Path, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    run_client([example], {"NPU_SIM_TRACE": str(file)})
    assert json.loads(file.read_text())["traceEvents"]


def test_log_says_why_a_call_is_refused() -> None:
    code = "load().ANeuralNetworksModel_finish(None)"
    finished = run_client([sys.executable, "-c", LOAD + code], {"NPU_SIM_LOG": "info"})
    assert finished.stderr == ("npu-sim: INFO: ANeuralNetworksModel_finish: UNEXPECTED_NULL: model is NULL\n")


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("NPU_SIM_MACHINE", "abacus", "unknown machine 'abacus'"),
        ("NPU_SIM_LOG", "loud", "NPU_SIM_LOG is 'loud', must be one of debug, info, warning, error"),
        ("NPU_SIM_REPORT", "/nowhere/report.json", "cannot write /nowhere/report.json"),
    ],
)
def test_wrong_environment_is_reported_once_and_fails_every_call(
    example: Path, variable: str, value: str, reason: str
) -> None:
    complaint, answer = run_client([example], {variable: value}, status=1).stderr.splitlines()
    assert complaint.startswith("libneuralnetworks.so: npu-sim cannot be started: ")
    assert reason in complaint
    assert answer == "ANeuralNetworksModel_create(&model) answers 5"


def test_a_python_home_of_the_client_is_not_ours(example: Path) -> None:
    assert "all 2 devices agree" in run_client([example], {"PYTHONHOME": "/nowhere"}).stdout


def test_a_python_without_our_packages_can_be_the_client() -> None:
    code = "print(load().ANeuralNetworks_getDeviceCount(ctypes.byref(count)), count.value)"
    assert run_python(code) == ["0", "2"]


def test_first_calls_that_hold_pythons_lock_and_others_do_not_block_each_other() -> None:
    code = """
answers = []
def call(kind):
    answers.append(load(kind).ANeuralNetworks_getDeviceCount(ctypes.byref(count)))
threads = [threading.Thread(target=call, args=[kind]) for kind in [ctypes.PyDLL, ctypes.CDLL] * 4]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*answers)
"""
    assert run_python(code) == ["0"] * 8


def test_another_package_with_one_of_our_names_is_reported(tmp_path: Path) -> None:
    (tmp_path / "isa.py").touch()
    code = f"sys.path.insert(0, {str(tmp_path)!r}); import isa; load().ANeuralNetworks_getDeviceCount(None)"
    finished = run_client([sys.executable, "-c", LOAD + code])
    assert "the process has another package with the name isa" in finished.stderr


def test_search_path_of_the_client_keeps_its_beginning() -> None:
    code = """
before = list(sys.path)
load().ANeuralNetworks_getDeviceCount(ctypes.byref(count))
print(sys.path[:len(before)] == before, [name for name in vars() if name == 'boot'])
"""
    assert run_python(code) == ["True", "[]"]


def test_a_call_after_the_end_of_the_clients_python_fails(tmp_path: Path) -> None:
    source = tmp_path / "late.c"
    source.write_text("""
#include <android/NeuralNetworks.h>
#include <stdio.h>
static void late(void)
{
    ANeuralNetworksModel *model;
    printf("late %d\\n", ANeuralNetworksModel_create(&model));
    fflush(stdout);
}
__attribute__((destructor)) static void at_end(void) { late(); }
int early(void) { ANeuralNetworksModel *model; return ANeuralNetworksModel_create(&model); }
""")
    plugin = compiled(source, tmp_path, "-shared", "-fPIC")
    code = f"print(ctypes.CDLL({str(plugin)!r}).early(), flush=True)"
    assert run_python(code) == ["0", "late", "5"]


def test_exceptions_of_the_interpreter_are_answers(tmp_path: Path) -> None:
    code = """
lib = load()
lib.ANeuralNetworks_getDeviceCount(ctypes.byref(count))
import runtime.model
def broken(self): raise SystemExit(3)
runtime.model.Model.finish = broken
model = ctypes.c_void_p()
lib.ANeuralNetworksModel_create(ctypes.byref(model))
print(lib.ANeuralNetworksModel_finish(model))
"""
    finished = run_client([sys.executable, "-c", LOAD + code])
    assert finished.stdout == "5\n"
    assert "ANeuralNetworksModel_finish failed" in finished.stderr


def test_both_headers_can_be_included_from_one_folder(tmp_path: Path) -> None:
    source = tmp_path / "both.c"
    source.write_text("""
#include <android/sharedmem.h>
#include <android/NeuralNetworks.h>
int main(void) { return ASharedMemory_create("name", 64) < 0; }
""")
    assert (library_folder() / "include/android/sharedmem.h").exists()
    run_client([compiled(source, tmp_path)])
