"""`npu-sim conformance`: AOSP's conformance cases through the runtime."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runtime.cli.options import json_option, machine_config, machine_options, numerics_option
from runtime.cli.parameters import WholeNumber

if TYPE_CHECKING:
    from rich.table import Table

    from runtime.conformance.case import Case
    from runtime.conformance.harness import Outcome
    from runtime.conformance.report import Tally
    from runtime.conformance.suite import Suite

_MOST_REASONS = 20


@click.command(short_help="Run AOSP's conformance cases; compare the answers.")
@click.argument(
    "paths", nargs=-1, required=True, metavar="DIR|FILE...", type=click.Path(exists=True, path_type=Path)
)
@click.option(
    "--device",
    type=click.Choice(["npu", "reference"]),
    default="npu",
    show_default=True,
    help="The simulated NPU with its host, or the reference device, which needs no machine.",
)
@machine_options
@numerics_option
@click.option(
    "--variants",
    is_flag=True,
    help="Run those variants too that AOSP derives: constants as inputs, inputs behind an ADD of zero.",
)
@click.option(
    "--jobs", type=WholeNumber(1, 256), default=1, show_default=True, metavar="N", help="Processes."
)
@json_option
def conformance(
    paths: tuple[Path, ...],
    device: str,
    machine: str,
    set_: tuple[str, ...],
    numerics: str | None,
    variants: bool,
    jobs: int,
    json: Path | None,
) -> None:
    """Run conformance cases, and compare the answers with the expected ones by AOSP's rules.

    DIR stands for all .json files in it and below. A case that expects an error passes if it gets one
    that NNAPI's rules give. A file that is no case counts as failed; the others are judged all the same. Exit
    status 1 if a case failed or was refused.

    \b
    Examples:
      npu-sim conformance ../shared/nnapi/vts/V1_0 --variants
      npu-sim conformance ../shared/nnapi/vts/V1_0 --machine tiny --jobs 2
      npu-sim conformance conv_float.json --device reference --json -
    """
    from compiler.nnapi import Numerics
    from runtime.cli.documents import write_json
    from runtime.conformance.case_file import case_files
    from runtime.conformance.report import document, tally
    from runtime.conformance.suite import Suite

    config = machine_config(machine, set_)
    cases, unread = _read(case_files(paths), with_variants=variants)
    suite = Suite(
        cases=cases,
        device=device,
        machine=config,
        numerics=Numerics(numerics or Numerics.NNAPI),
    )
    outcomes = [*_run(suite, jobs), *unread]
    if json is not None:
        settings = {
            "device": device,
            "machine": config.name if device == "npu" else None,
            "machine_hash": config.hash if device == "npu" else None,
            "numerics": suite.numerics.value,
            "variants": variants,
        }
        write_json({**settings, **document(outcomes)}, json)
    if json != Path("-"):
        _print(outcomes)
    if not tally(outcomes).passed:
        raise click.exceptions.Exit(1)


def _read(files: Sequence[Path], *, with_variants: bool) -> "tuple[tuple[Case, ...], list[Outcome]]":
    """All cases, and what became of the files that are none or cannot be read."""
    from runtime.cli.progress import ProgressBar
    from runtime.conformance.case_file import CaseFileError, read_case
    from runtime.conformance.harness import unreadable
    from runtime.conformance.variants import variants

    cases: list[Case] = []
    unread = []
    with ProgressBar("reading", len(files)) as progress:
        for file in files:
            try:
                case = read_case(file)
                cases += [case, *variants(case)] if with_variants else [case]
            except (CaseFileError, OSError) as error:
                unread.append(unreadable(str(file), str(error).removeprefix(f"{file}: ")))
            progress.advance()
    return tuple(cases), unread


def _run(suite: "Suite", jobs: int) -> "list[Outcome]":
    from runtime.cli.progress import ProgressBar

    outcomes = []
    with ProgressBar("running", len(suite.cases)) as progress:
        for outcome in suite.outcomes(jobs):
            outcomes.append(outcome)
            progress.advance()
    return outcomes


def _print(outcomes: "Sequence[Outcome]") -> None:
    """The table, then what deserves a word: failures, refusals, and what the host had to do."""
    from runtime.cli.tables import console
    from runtime.conformance.harness import Verdict

    output = console()
    output.print(_table(outcomes))
    failed = [f"{each.label}: {each.detail}" for each in outcomes if each.verdict is Verdict.FAILED]
    refused = Counter(each.detail for each in outcomes if each.verdict is Verdict.REFUSED)
    on_host = Counter(reason for each in outcomes for reason in each.fallbacks)
    for title, lines in (
        ("failed", failed),
        ("refused", _counted(refused)),
        ("on the NPU's host", _counted(on_host)),
    ):
        for line in lines[:_MOST_REASONS]:
            output.print(f"{title}: {line}", markup=False, soft_wrap=True)
        if len(lines) > _MOST_REASONS:
            output.print(f"{title}: {len(lines) - _MOST_REASONS} more; --json has all")


def _counted(reasons: "Counter[str]") -> list[str]:
    """Reasons, the most frequent first, with the number of cases."""
    return [f"{count} × {reason}" for reason, count in reasons.most_common()]


def _table(outcomes: "Sequence[Outcome]") -> "Table":
    """A row per operation and type, and one for all."""
    from rich import box
    from rich.table import Table

    from runtime.conformance.report import by_subject, tally

    table = Table(box=box.SIMPLE_HEAD, show_footer=True)
    total = _cells(tally(outcomes))
    table.add_column("operation", footer="all")
    table.add_column("type")
    for name, footer in zip(
        ("cases", "exact", "within tolerance", "failed", "refused"), total[:-1], strict=True
    ):
        table.add_column(name, footer=footer, justify="right")
    table.add_column("ran on", footer=total[-1])
    for subject, counts in by_subject(outcomes).items():
        table.add_row(subject.operation, subject.type, *_cells(counts))
    return table


def _cells(counts: "Tally") -> list[str]:
    from runtime.conformance.harness import Verdict

    places = ", ".join(f"{place} {count}" for place, count in sorted(counts.ran_on.items()))
    return [str(counts.cases), *(str(counts.verdicts[verdict]) for verdict in Verdict), places or "-"]
