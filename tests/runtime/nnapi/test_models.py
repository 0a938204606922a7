"""Every model of Android's conformance cases up to level 30 can be built call by call."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.graph import OperandType
from compiler.nnapi import OperandCode, OperationCode
from runtime.model import Model
from tests.support.shared import shared_path

ACCEPTED = ("V1_0", "V1_1", "V1_2", "V1_3")
SAMPLE = 12
"""In the default run every twelfth case is built."""


def case_files(directory: str) -> list[Path]:
    return sorted(shared_path("nnapi", "vts", directory).glob("*.json"))


def built(document: dict[str, Any], referenced: list[dict[str, Any]]) -> Model:
    model = Model()
    for operand in document["operands"]:
        type_ = OperandType(
            OperandCode[operand["type"].replace("SUBGRAPH", "MODEL")],
            tuple(operand["dims"]),
            float(operand.get("scale", 0)),
            operand.get("zp", 0),
        )
        number = model.add_operand(type_)
        if "channel_scales" in operand and not operand.get("channel_hide"):
            scales = [float(np.float32(scale)) for scale in operand["channel_scales"]]
            model.set_operand_symm_per_channel_quant_params(number, operand["channel_dim"], scales)
        if operand["lifetime"] == "no_value":
            model.set_operand_value(number, None)
        elif operand["lifetime"] == "const":
            values = np.array([float(value) for value in operand["value"]])
            with np.errstate(over="ignore", invalid="ignore"):
                model.set_operand_value(number, values.astype(type_.dtype).tobytes())
        elif operand["lifetime"] == "subgraph":
            body = built(referenced[operand["value"][0]], referenced)
            model.set_operand_value_from_model(number, body)
    for operation in document["operations"]:
        model.add_operation(OperationCode[operation["op"]], operation["in"], operation["out"])
    model.identify_inputs_and_outputs(document["inputs"], document["outputs"])
    model.finish()
    return model


def cases(directory: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in case_files(directory):
        case = json.loads(path.read_text())
        if not case["expect_failure"]:
            yield path.stem, case


def failures(directory: str, step: int) -> list[str]:
    found = []
    for name, case in list(cases(directory))[::step]:
        try:
            built(case["model"], case.get("referenced", []))
        except Exception as error:
            found.append(f"{name}: {type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize("directory", ACCEPTED)
def test_models_of_a_sample_of_cases_can_be_built(directory: str) -> None:
    assert failures(directory, SAMPLE) == []


@pytest.mark.slow
@pytest.mark.parametrize("directory", ACCEPTED)
def test_models_of_all_cases_can_be_built(directory: str) -> None:
    assert failures(directory, 1) == []
