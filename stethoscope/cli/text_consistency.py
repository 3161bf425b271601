"""What `consistency` prints for people."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from stethoscope.codec import partial_of
from stethoscope.compare.consistency.report import ConsistencyReport, ConsistencyTest
from stethoscope.types import JobResult, Status

_GROUPS = {
    "determinism": "Determinism",
    "batch": "Batch",
    "mode": "Mode",
    "save-reload": "Save and reload",
    "robustness": "Edge-case inputs",
}


def consistency(result: JobResult) -> None:
    """The verdict, the tests by group, and where the first difference begins; of a run that ended early, what is known."""
    console = Console(highlight=False)
    report = partial_of(result, ConsistencyReport)
    if result.status is not Status.OK:
        console.print(f"[red]{result.status.value.replace('_', ' ')}[/] in phase {escape(result.phase)}")
    elif report is not None:
        console.print("[green]consistent[/]" if report.consistent else "[red]not consistent[/]")
    if report is None:
        return
    group = ""
    for test in report.tests:
        if test.group != group:
            group = test.group
            console.print(f"[bold]{_GROUPS[group]}[/]")
        console.print(f"  {_mark(test)}  {escape(test.name)}. {escape(test.detail)}", soft_wrap=True)
    first = report.first_difference
    if first is not None:
        gap = "None" if first.max_abs_diff is None else str(first.max_abs_diff)
        console.print(f"first difference: [bold]{escape(first.layer)}[/] ({gap}). {escape(first.reason)}")


def _mark(test: ConsistencyTest) -> str:
    if test.passed is None:
        return "[yellow]worth knowing[/]" if test.noted else "[dim]not applicable[/]"
    return "[green]passed[/]" if test.passed else "[red]failed[/]"
