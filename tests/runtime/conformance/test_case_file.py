import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.graph import ChannelQuantization, OperandType
from compiler.nnapi import OperandCode, OperationCode
from runtime.conformance.case import Subject
from runtime.conformance.case_file import CaseFileError, case_files, read_case
from tests.support.case_files import Document, case, relu_case, sum_case, tensor, write


def refusal(tmp_path: Path, document: Document) -> str:
    """Why a document is refused; the message must begin with the file."""
    path = write(tmp_path, "bad", document)
    with pytest.raises(CaseFileError) as caught:
        read_case(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: not a conformance case of format 1: ")
    return message


def changed(document: Document, place: str, value: Any) -> Document:
    """A document with another value at a place such as "model.operands.0.dims"."""
    node: Any = document
    *way, last = (int(step) if step.isdecimal() else step for step in place.split("."))
    for step in way:
        node = node[step]
    node[last] = value
    return document


def test_a_case_is_its_graph_and_its_examples(tmp_path: Path) -> None:
    read = read_case(write(tmp_path, "sum", sum_case()))
    assert (read.name, read.variant, read.api_level, read.expect_failure) == ("sum", "", 27, False)
    assert read.derivable == ("all_tensors_as_inputs", "all_inputs_as_internal")
    assert [operation.code for operation in read.graph.operations] == [OperationCode.ADD]
    assert (read.graph.inputs, read.graph.outputs) == ((0,), (3,))
    assert read.graph.operands[0].type == OperandType(OperandCode.TENSOR_FLOAT32, (2,))
    (example,) = read.examples
    assert [array.tolist() for array in (*example.inputs, *example.outputs) if array is not None] == [
        [1.0, 2.0],
        [3.0, 5.0],
    ]


def test_quantisation_comes_with_the_type(tmp_path: Path) -> None:
    read = read_case(write(tmp_path, "relu", relu_case()))
    assert read.graph.operands[0].type == OperandType(OperandCode.TENSOR_QUANT8_ASYMM, (2,), 0.5, 128)


def test_decimal_fractions_become_the_nearest_float32(tmp_path: Path) -> None:
    document = sum_case(expected=["0.1", "-inf"])
    (example,) = read_case(write(tmp_path, "tenth", document)).examples
    np.testing.assert_array_equal(example.outputs[0], np.array([0.1, -np.inf], np.float32))


def test_an_operand_that_is_left_out_is_no_constant(tmp_path: Path) -> None:
    operands = [tensor("no_value", [0]), tensor("output", [1])]
    read = read_case(write(tmp_path, "none", case(operands, "RELU", [([], [["1"]])])))
    assert read.graph.operands[0].omitted


def test_outputs_that_are_ignored_have_nothing_expected(tmp_path: Path) -> None:
    document = changed(sum_case(), "model.operands.3.ignored", True)
    assert read_case(write(tmp_path, "ignored", document)).examples[0].outputs == (None,)


def test_scales_per_channel_are_read_unless_they_are_hidden(tmp_path: Path) -> None:
    weights = tensor(
        "input", [2], "TENSOR_QUANT8_SYMM_PER_CHANNEL", channel_dim=0, channel_scales=[0.5, 0.25]
    )
    for hidden, expected in ((False, ChannelQuantization(0, (0.5, 0.25))), (True, None)):
        operands = [{**weights, "channel_hide": hidden}, tensor("output", [2])]
        document = case(operands, "DEQUANTIZE", [([[1, 2]], [["0.5", "0.5"]])])
        read = read_case(write(tmp_path, "channels", document))
        assert read.graph.operands[0].type.channels == expected


def test_a_subgraph_is_the_body_of_its_operand(tmp_path: Path) -> None:
    condition = {"type": "SUBGRAPH", "dims": [], "lifetime": "subgraph", "value": [0]}
    branch = sum_case()["model"]
    document = case([condition, tensor("output", [2])], "IF", [([], [["3", "5"]])], referenced=[branch])
    body = read_case(write(tmp_path, "branch", document)).graph.operands[0].body
    assert body is not None
    assert [operation.code for operation in body.operations] == [OperationCode.ADD]


def test_a_subject_is_an_operation_and_the_type_of_its_data(tmp_path: Path) -> None:
    operands = [
        tensor("input", [1], "TENSOR_INT32"),
        tensor("input", [2, 1], "TENSOR_QUANT8_ASYMM", scale=1),
        tensor("output", [1, 1], "TENSOR_QUANT8_ASYMM", scale=1),
    ]
    document = case(operands, "EMBEDDING_LOOKUP", [([[1], [5, 6]], [[6]])])
    assert read_case(write(tmp_path, "lookup", document)).subjects == (
        Subject("EMBEDDING_LOOKUP", "TENSOR_QUANT8_ASYMM"),
    )


def test_constants_by_reference_are_known(tmp_path: Path) -> None:
    document = changed(sum_case(), "model.operands.1.by_reference", True)
    assert read_case(write(tmp_path, "reference", document)).by_reference == {1}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("format", 2, "Invalid enum value 2 - at `$.format`"),
        ("model.operands.0.type", "TENSOR_COMPLEX", "model.operands[0].type is 'TENSOR_COMPLEX', must be"),
        ("model.operands.0.lifetime", "forever", "Invalid enum value 'forever'"),
        ("model.operands.0.dims", [-1], "Expected `int` >= 0 - at `$.model.operands[0].dims[0]`"),
        ("model.operands.0.scale", "big", "model.operands[0].scale: could not convert"),
        ("model.operands.1.value", ["2"], "model.operands[1].value has 1 numbers, must have 2"),
        ("model.operands.1.value", ["2", "x"], "model.operands[1].value: could not convert"),
        ("model.operands.2.value", ["0"], "model.operands[2].value has '0', must be whole"),
        ("model.operands.2.value", [2**31], "must be whole and -2147483648 to 2147483647 for INT32"),
        ("model.operations.0.op", "PLUS", "model.operations[0].op is 'PLUS', must be the name"),
        ("model.operations.0.in", [0, 4, 2], "model.operations[0].in has operand 4, must be 0 to 3"),
        ("model.outputs", [9], "model.outputs has operand 9, must be 0 to 3"),
        ("examples", [], "examples: there are none"),
        ("examples.0.inputs", [], "examples[0].inputs has 0 arrays, must have 1"),
        ("examples.0.outputs.0", ["3"], "examples[0].outputs[0] has 1 numbers, must have 2"),
    ],
)
def test_a_flaw_is_named_with_its_place(tmp_path: Path, place: str, value: Any, message: str) -> None:
    assert message in refusal(tmp_path, changed(sum_case(), place, value))


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    document = sum_case()
    del document["model"]["inputs"]
    assert "missing required field `inputs` - at `$.model`" in refusal(tmp_path, document)


@pytest.mark.parametrize("value", [[], [0, 1], [3], ["0"]])
def test_a_subgraph_must_exist(tmp_path: Path, value: list[Any]) -> None:
    operand = {"type": "SUBGRAPH", "dims": [], "lifetime": "subgraph", "value": value}
    document = case([operand, tensor("output", [2])], "IF", [([], [["3", "5"]])], referenced=[])
    assert "must be the index of one of the referenced models" in refusal(tmp_path, document)


def test_subgraphs_must_not_contain_each_other(tmp_path: Path) -> None:
    def reference(index: int) -> Document:
        return {"type": "SUBGRAPH", "dims": [], "lifetime": "subgraph", "value": [index]}

    output = tensor("output", [2])
    referenced = [case([reference(1 - index), output], "IF", [])["model"] for index in (0, 1)]
    document = case([reference(0), output], "IF", [([], [["3", "5"]])], referenced=referenced)
    assert "referenced[1].operands[0].value is [0], must be the index" in refusal(tmp_path, document)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": "\xff"}'])
def test_what_is_no_case_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(CaseFileError, match="not a conformance case"):
        read_case(path)


def test_folders_stand_for_the_files_below_them_by_name(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    written = [write(folder, name, sum_case()) for folder in (tmp_path, tmp_path / "deep") for name in "ba"]
    (tmp_path / "notes.txt").write_text("no case")
    assert case_files([tmp_path]) == sorted(written)
    assert case_files([written[0]]) == [written[0]]


def test_a_folder_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaseFileError, match=r"has no \.json file"):
        case_files([tmp_path])


def test_unknown_keys_are_skipped(tmp_path: Path) -> None:
    path = write(tmp_path, "more", sum_case(spec="add.mod.py"))
    assert json.loads(path.read_text())["spec"] == "add.mod.py"
    assert read_case(path).name == "more"
