"""What `check` prints for people: findings most severe first, each with its fix, then what was not looked at."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from stethoscope.checks.judging.findings import Finding, Number, Severity, Symptom
from stethoscope.studies.diagnosis.report import Report
from stethoscope.types import Status

_COLOURS = {Severity.CRITICAL: "red", Severity.HIGH: "red", Severity.MEDIUM: "yellow", Severity.LOW: "cyan"}


def diagnosis(report: Report) -> None:
    """Prints the report."""
    console = Console(highlight=False)
    for finding in report.findings:
        print_finding(console, finding, finding.where)
    counts = ", ".join(f"{count} {label}" for label, count in report.counts().items())
    outcomes = Counter(outcome.status for outcome in report.outcomes)
    console.print(
        f"[bold]{counts or 'No finding'}[/]  {outcomes[Status.OK]} checks ran, {outcomes[Status.SKIPPED]} could not, "
        f"{outcomes[Status.FAILED]} broke  ({report.wall_s:.1f} s)"
    )
    reasons: dict[str, list[str]] = {}
    for stage in report.stages:
        if stage.reason:
            reasons.setdefault(stage.reason, []).append(stage.title)
    for reason, titles in reasons.items():
        console.print(f"  [dim]{escape(', '.join(titles))}: {escape(reason)}[/]")
    for outcome in report.outcomes:
        if outcome.status is Status.FAILED:
            console.print(f"  [red]{escape(outcome.check_id)}: {escape(outcome.reason)}[/]")


def print_finding(console: Console, finding: Finding, where: str) -> None:
    """Prints one finding; `where` stands beside its title."""
    colour = _COLOURS.get(finding.severity, "dim")
    where = f"  [dim]{escape(where)}[/]" if where else ""
    console.print(f"[{colour}]● {finding.severity.label.upper()}[/]  [bold]{escape(finding.title)}[/]{where}")
    console.print(Padding(escape(finding.message), (0, 0, 0, 2)))
    for item in finding.evidence:
        if isinstance(item, Number):
            limit = "" if item.threshold is None else f" (threshold {item.threshold:.4g})"
            console.print(f"  [dim]{escape(item.label)}: {item.value:.4g}{escape(item.unit)}{limit}[/]")
        elif isinstance(item, Symptom):
            console.print(f"  [dim]explains: {escape(item.message)}[/]")
    if finding.fix is not None:
        console.print(f"  [green]fix[/]  {escape(finding.fix.summary)}")
        # Never wrapped or cut at the terminal's width: it is there to be copied.
        code = finding.fix.code() if finding.fix.has_code else ""
        for line in Syntax("", "python", background_color="default").highlight(code).split("\n") if code else ():
            console.print(Text("      ") + line, soft_wrap=True)
    if finding.proof is not None:
        console.print(
            f"  [green]tried[/]  {escape(finding.proof.verdict.replace('_', ' '))}: {escape(finding.proof.message)}"
        )
    console.print()
