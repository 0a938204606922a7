"""Counts over outcomes, per operation and type, and as plain data for JSON."""

import collections
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from runtime.conformance.case import Subject
from runtime.conformance.harness import Outcome, Verdict


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many cases came out how, and on how many each device ran what is counted."""

    verdicts: collections.Counter[Verdict]
    ran_on: collections.Counter[str]

    @property
    def cases(self) -> int:
        """All of them."""
        return self.verdicts.total()

    @property
    def passed(self) -> bool:
        """True if none failed and none was refused."""
        return not (self.verdicts[Verdict.FAILED] or self.verdicts[Verdict.REFUSED])

    def to_json_dict(self) -> dict[str, Any]:
        """The counts as plain data."""
        counts = {verdict.value: self.verdicts[verdict] for verdict in Verdict}
        return {"cases": self.cases, **counts, "ran_on": dict(sorted(self.ran_on.items()))}


def tally(outcomes: Sequence[Outcome], counts: Callable[[Subject], bool] | None = None) -> Tally:
    """Count the cases about a subject that `counts` (None: all cases), each once, and where those ran."""
    verdicts: collections.Counter[Verdict] = collections.Counter()
    ran_on: collections.Counter[str] = collections.Counter()
    for outcome in outcomes:
        chosen = [i for i, subject in enumerate(outcome.subjects) if counts is None or counts(subject)]
        if chosen or counts is None:
            verdicts[outcome.verdict] += 1
            ran_on.update({outcome.ran_on[index] for index in chosen if outcome.ran_on})
    return Tally(verdicts=verdicts, ran_on=ran_on)


def by_subject(outcomes: Sequence[Outcome]) -> dict[Subject, Tally]:
    """A tally per operation and type, by name; a case with several operations counts for each of them."""
    subjects = sorted({subject for outcome in outcomes for subject in outcome.subjects})
    return {subject: tally(outcomes, subject.__eq__) for subject in subjects}


def document(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Totals, totals per operation and per type of its data, and every case."""
    operations: dict[str, dict[str, Any]] = {}
    for subject, counted in by_subject(outcomes).items():
        name = subject.operation
        if name not in operations:
            operations[name] = {**_of_operation(outcomes, name).to_json_dict(), "types": {}}
        operations[name]["types"][subject.type] = counted.to_json_dict()
    return {
        **tally(outcomes).to_json_dict(),
        "operations": operations,
        "results": [_result_document(outcome) for outcome in outcomes],
    }


def _of_operation(outcomes: Sequence[Outcome], name: str) -> Tally:
    return tally(outcomes, lambda subject: subject.operation == name)


def _result_document(outcome: Outcome) -> dict[str, Any]:
    places = outcome.ran_on or ("",) * len(outcome.subjects)
    return {
        "name": outcome.name,
        "variant": outcome.variant,
        "result": outcome.verdict.value,
        "detail": outcome.detail,
        "operations": [
            {"op": subject.operation, "type": subject.type, "ran_on": place or None}
            for subject, place in zip(outcome.subjects, places, strict=True)
        ],
        "fallbacks": list(outcome.fallbacks),
    }
