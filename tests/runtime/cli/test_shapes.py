import csv
import json
from typing import Any

import pytest

from tests.support.command_line import npu_sim, stdout_of
from tests.support.shared import SHARED

ARRAY_OF_8 = [
    "--machine",
    "ideal",
    "--set",
    "matrix.rows=8",
    "--set",
    "matrix.cols=8",
    "--set",
    "matrix.units=1",
]


def report_of(*arguments: object) -> dict[str, Any]:
    return json.loads(stdout_of(*arguments, "--json", "-"))  # type: ignore[no-any-return]


@pytest.mark.parametrize("load", ["serial", "hidden"])
@pytest.mark.parametrize(
    ("dataflow", "serial_cycles"),
    [
        # 8 folds of (8 load + 16 rows + 8 + 8 - 2 skew)
        ("weight_stationary", 8 * (8 + 16 + 14)),
        # 8 folds of (16 products + 8 + 8 - 2 skew)
        ("output_stationary", 8 * (16 + 14)),
    ],
)
def test_matrix_cycles_of_a_product(dataflow: str, serial_cycles: int, load: str) -> None:
    options = ["--set", f"matrix.dataflow={dataflow}", "--set", f"matrix.stationary_load={load}"]
    cycles = report_of("gemm", 16, 16, 32, *ARRAY_OF_8, *options, "--timing-only")["matrix_cycles"]
    if load == "serial":
        assert cycles == serial_cycles
    else:
        assert cycles < serial_cycles


def test_gemm_is_fully_connected() -> None:
    report = report_of("gemm", 3, 5, 7)
    assert [layer["op"] for layer in report["layers"]] == ["FULLY_CONNECTED"]
    assert report["layers"][0]["macs"] == 3 * 5 * 7
    assert report["outputs"][0]["shape"] == [3, 7]


@pytest.mark.parametrize(
    ("arguments", "operation", "shape", "macs"),
    [
        ("9 7 3 4 3", "CONV_2D", [1, 9, 7, 4], 9 * 7 * 4 * 27),
        ("9 7 3 4 3x1", "CONV_2D", [1, 9, 7, 4], 9 * 7 * 4 * 9),
        ("9 7 3 4 3 --stride 2", "CONV_2D", [1, 5, 4, 4], 5 * 4 * 4 * 27),
        ("9 7 3 4 3 --padding valid", "CONV_2D", [1, 7, 5, 4], 7 * 5 * 4 * 27),
        ("9 7 3 4 3 --padding valid --dilation 2", "CONV_2D", [1, 5, 3, 4], 5 * 3 * 4 * 27),
        ("9 7 3 3 3 --depthwise", "DEPTHWISE_CONV_2D", [1, 9, 7, 3], 9 * 7 * 3 * 9),
        ("9 7 3 6 3 --depthwise --dilation 3", "DEPTHWISE_CONV_2D", [1, 9, 7, 6], 9 * 7 * 6 * 9),
    ],
)
def test_convolution_has_the_shape_that_was_asked_for(
    arguments: str, operation: str, shape: list[int], macs: int
) -> None:
    report = report_of("conv", *arguments.split())
    assert report["layers"][0]["op"] == operation
    assert report["outputs"][0]["shape"] == shape
    assert report["layers"][0]["macs"] == macs


def test_values_do_not_depend_on_the_machine() -> None:
    small, large = (report_of("conv", 12, 12, 8, 24, 3, "--machine", name) for name in ("tiny", "phone"))
    assert small["outputs"] == large["outputs"]


def test_level_27_accepts_shapes_without_dilation() -> None:
    assert report_of("conv", 8, 8, 3, 8, 3, "--numerics", "nnapi27")["numerics"] == "nnapi27"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("conv 8 8 3 4 3 --depthwise", "COUT = 4 must be a multiple of CIN = 3"),
        ("conv 8 8 3 4 9 --padding valid", "The image of 8x8 is smaller than the kernel, 9x9"),
        ("conv 8 8 3 4 axb", "neither a number nor ROWSxCOLUMNS"),
        ("conv 8 8 3 4 0", "rows and columns must be 1 to 1024"),
        ("gemm 100000 100000 1", "The input takes 100000x100000 = 10,000,000,000 bytes"),
        ("gemm 0 1 1", "'M': 0 is not in the range; allowed are 1 to 1048576"),
        ("gemm -1 1 1", "'M': -1 is not in the range; allowed are 1 to 1048576"),
        ("gemm 1 -12 1", "'K': -12 is not in the range"),
        ("gemm -- 1 1 -3", "'N': -3 is not in the range"),
        ("gemm x 1 1", "'M': 'x' is not an integer; allowed are 1 to 1048576"),
        ("gemm 2.5 1 1", "'M': '2.5' is not an integer"),
        ("gemm -2.5 1 1", "'M': '-2.5' is not an integer"),
        (f"gemm {'9' * 5000} 1 1", "is not in the range"),
        ("gemm -x 1 1", "No such option '-x'"),
        ("conv -8 8 3 4 3", "'H': -8 is not in the range"),
        ("conv 8 8 3 4 3 --stride -1", "'--stride': -1 is not in the range; allowed are 1 to 1024"),
        ("conv 8 8 3 4 3 --dilation two", "'--dilation': 'two' is not an integer"),
        ("conv 8 8 3 4 3x", "'3x' is neither a number nor ROWSxCOLUMNS"),
        ("conv 8 8 3 4 x3", "'x3' is neither a number nor ROWSxCOLUMNS"),
        ("conv 8 8 3 4 3x3x3", "'3x3x3' is neither a number nor ROWSxCOLUMNS"),
        ("conv 8 8 3 4 -3", "'-3': rows and columns must be 1 to 1024"),
    ],
)
def test_impossible_shape_is_a_usage_error(arguments: str, message: str) -> None:
    result = npu_sim(*arguments.split())
    assert result.exit_code == 2
    assert message in result.stderr


def _scale_sim_rows() -> list[dict[str, str]]:
    path = SHARED / "peers" / "scalesim_gemm.csv"
    rows = csv.DictReader(path.read_text().splitlines() if path.exists() else [])
    return [row for row in rows if row["dataflow"] in ("ws", "os")]


@pytest.mark.parametrize("row", _scale_sim_rows(), ids=lambda row: "-".join(row.values()))
def test_gemm_takes_the_cycles_that_scale_sim_counts(row: dict[str, str]) -> None:
    dataflow = {"ws": "weight_stationary", "os": "output_stationary"}[row["dataflow"]]
    settings = {
        "rows": row["rows"],
        "cols": row["cols"],
        "units": 1,
        "dataflow": dataflow,
        "stationary_load": "serial",
    }
    options = [word for key, value in settings.items() for word in ("--set", f"matrix.{key}={value}")]
    report = report_of("gemm", row["M"], row["K"], row["N"], "--machine", "ideal", *options, "--timing-only")
    assert report["matrix_cycles"] == int(row["compute_cycles"])
