"""What `curves` prints for people: runs and tags, how whole the files are, then what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.checks.findings import Severity
from stethoscope.cli.check import print_finding
from stethoscope.logs.better import RunSummary
from stethoscope.training.gathering.log_report import LogReport
from stethoscope.types import Status

_SHOWN_ROWS = 60


def tables(report: LogReport, csv: Path | None = None) -> None:
    """Prints the answer of `curves`."""
    console = Console(highlight=False)
    _runs(console, report.runs)
    for run in report.runs:
        _health(console, run)
    console.print()
    for finding in report.findings:
        print_finding(console, finding, finding.run or ", ".join(dict.fromkeys(mark.run for mark in finding.marks)))
    counts = Counter(finding.severity for finding in report.findings)
    said = ", ".join(f"{counts[level]} {level.label}" for level in sorted(Severity, reverse=True) if counts[level])
    outcomes = Counter(outcome.status for outcome in report.outcomes)
    console.print(
        f"[bold]{said or 'No finding'}[/]  {report.examined:,} of {len(report.runs):,} runs judged by {outcomes[Status.OK]} checks"
        + (f", {outcomes[Status.FAILED]} broke" if outcomes[Status.FAILED] else "")
    )
    if report.left_out:
        console.print(f"  [dim]{escape(report.left_out)}[/]")
    for outcome in report.outcomes:
        if outcome.status is Status.FAILED:
            console.print(f"  [red]{escape(outcome.check_id)}: {escape(outcome.reason)}[/]")
    if csv is not None:
        console.print(f"Every point is in {escape(str(csv))}")


def _runs(console: Console, runs: Sequence[RunSummary]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("run and tags", overflow="fold")
    for name in ("points", "steps", "last", "best", "at"):
        table.add_column(name, justify="right")
    shown = total = 0
    for run in runs:
        if shown < _SHOWN_ROWS and run.tags:
            table.add_row(f"[bold]{escape(run.run)}[/]")
        for tag in run.tags:
            total += 1
            if shown >= _SHOWN_ROWS:
                continue
            shown += 1
            table.add_row(
                f"  {escape(tag.tag)}",
                f"{tag.points:,}",
                f"{tag.first_step:,} … {tag.last_step:,}",
                f"{tag.last_value:.5g}",
                "" if tag.best_value is None else f"{tag.best_value:.5g}",
                "" if tag.best_step is None else f"{tag.best_step:,}",
            )
    console.print(table)
    if total > shown:
        console.print(f"… and {total - shown:,} more tags (--run and --tag choose, --json has all)")


def _health(console: Console, run: RunSummary) -> None:
    restarts = f"began anew {run.health.restarts} times" if run.health.restarts else ""
    said = "; ".join(part for part in (run.health.problem, restarts) if part)
    if said:
        console.print(f"[yellow]files[/]  {escape(run.run)}: {escape(said)}")
