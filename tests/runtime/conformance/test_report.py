from runtime.conformance.case import Subject
from runtime.conformance.harness import Outcome, Verdict
from runtime.conformance.report import by_subject, document, tally

ADD, RELU = Subject("ADD", "TENSOR_FLOAT32"), Subject("RELU", "TENSOR_FLOAT32")
ADD_BYTES = Subject("ADD", "TENSOR_QUANT8_ASYMM")


def outcome(name: str, verdict: Verdict, *ran_on: str, subjects: tuple[Subject, ...] = (ADD,)) -> Outcome:
    return Outcome(name=name, variant="", subjects=subjects, verdict=verdict, detail="…", ran_on=ran_on)


OUTCOMES = [
    outcome("a", Verdict.EXACT, "npu"),
    outcome("b", Verdict.WITHIN_TOLERANCE, "host"),
    outcome("c", Verdict.REFUSED),
    outcome("d", Verdict.FAILED, "npu", "host", subjects=(ADD_BYTES, RELU)),
]


def test_the_total_counts_each_case_once() -> None:
    counts = tally(OUTCOMES).to_json_dict()
    assert counts == {
        "cases": 4,
        "exact": 1,
        "within_tolerance": 1,
        "failed": 1,
        "refused": 1,
        "ran_on": {"host": 2, "npu": 2},
    }


def test_a_case_with_two_operations_counts_for_both() -> None:
    counted = by_subject(OUTCOMES)
    assert {subject: counts.cases for subject, counts in counted.items()} == {ADD: 3, ADD_BYTES: 1, RELU: 1}
    assert counted[ADD_BYTES].ran_on == {"npu": 1}
    assert counted[RELU].ran_on == {"host": 1}


def test_an_operation_is_the_sum_of_its_types() -> None:
    operations = document(OUTCOMES)["operations"]
    assert operations["ADD"]["cases"] == 4
    assert {name: counts["cases"] for name, counts in operations["ADD"]["types"].items()} == {
        "TENSOR_FLOAT32": 3,
        "TENSOR_QUANT8_ASYMM": 1,
    }


def test_only_failures_and_refusals_spoil_a_result() -> None:
    assert [tally([each]).passed for each in OUTCOMES] == [True, True, False, False]


def test_every_case_is_in_the_document() -> None:
    results = document(OUTCOMES)["results"]
    assert [result["name"] for result in results] == ["a", "b", "c", "d"]
    assert results[2]["operations"] == [{"op": "ADD", "type": "TENSOR_FLOAT32", "ran_on": None}]
    assert (results[3]["result"], results[3]["detail"]) == ("failed", "…")
