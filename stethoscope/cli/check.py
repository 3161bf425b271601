"""`stethoscope check`: from options to a request, and from the report to files and an exit code.

What `check` prints for people: findings most severe first, each with its fix, then what was not looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from stethoscope.checks.findings import Excerpt, Finding, Number, Severity, Symptom
from stethoscope.checks.fixes.script_patch import ScriptPatch
from stethoscope.cli.answers import writing
from stethoscope.cli.run import beside_files, budget, input_files, short_engine
from stethoscope.codec import plain
from stethoscope.errors import BadSetting, StethoscopeError, UnreadableFile, UnsafeFile
from stethoscope.evidence.fit import FitSettings
from stethoscope.jobs.job_engine import Engine
from stethoscope.studies.diagnosis.report import Report, Request, baseline_line, report_to_json, unseen
from stethoscope.studies.diagnosis.run import Diagnosis
from stethoscope.studies.diagnosis.shortages import leading
from stethoscope.types import ModelFile, Status

FOUND = 1
"""Exit code when there is a finding at or above `--fail-on`."""


def request(
    model: Path,
    data: Path | None,
    logs: Path | None,
    second: Path | None,
    fit: str | None,
    only: str,
    *,
    prove: bool,
    trusted: bool,
    memory_limit: str,
    train_s: float,
    data_params: Mapping[str, Any] | None = None,
) -> Request:
    """The request behind the options.

    Raises:
        StethoscopeError: a file that is not there, or a setting that makes no sense.
    """
    if train_s <= 0:
        raise BadSetting(f"--train-time {train_s:g}: expected more than 0 seconds.")
    files = input_files(model, data)
    return Request(
        model=files["model"],
        data=files.get("data"),
        preparation=tuple((data_params or {}).get("preparation", ())),
        data_options=dict((data_params or {}).get("data_options", {})),
        logs=_given(logs, "logs"),
        second=_given(second, "second model"),
        fit=None if fit is None else FitSettings.parse(fit),
        prove=prove,
        only=frozenset(part.strip() for part in only.split(",") if part.strip()),
        trusted=trusted,
        memory_bytes=budget(memory_limit, 1).memory_bytes,
        train_s=train_s,
        beside=beside_files(files),
    )


def _given(path: Path | None, what: str) -> ModelFile | None:
    if path is None:
        return None
    if not path.exists():
        raise UnreadableFile(f"{path.name}: no such file. Check the path given for the {what}.")
    return ModelFile(path.resolve(), path.name)


def run(asked: Request, script: ModelFile | None = None) -> Report:
    """Runs the diagnosis, and reads the script; progress goes to standard error when that is a terminal."""
    with short_engine(2) as engine:
        report = _diagnosed(engine, asked)
        if script is None:
            return report
        from stethoscope.cli.script import read

        return read(engine, script, report)


def _diagnosed(engine: Engine, asked: Request) -> Report:
    if not sys.stderr.isatty():
        return Diagnosis(engine, asked).run()
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        return Diagnosis(engine, asked, _showing(status.update)).run()


def _showing(update: Callable[[str], None]) -> Callable[[Report], None]:
    def show(report: Report) -> None:
        running = [f"{stage.title}: {stage.progress}" for stage in report.stages if stage.status == "running"]
        update(f"{len(report.findings)} findings so far   " + " · ".join(running))

    return show


def to_json(report: Report) -> dict[str, Any]:
    """The answer of `--json`."""
    report_of, value = leading(report.stages), report_to_json(report)
    return value if report_of is None else value | {"phase": report_of.phase, "oom": plain(report_of)}


def write_files(report: Report, html: Path | None, sarif: Path | None) -> None:
    """Writes the reports that were asked for.

    Raises:
        StethoscopeError: a file cannot be written.
    """
    from stethoscope.studies.diagnosis import report_files

    for path, render in ((html, report_files.as_html), (sarif, report_files.as_sarif)):
        if path is not None:
            with writing(path):
                path.write_text(render(report), encoding="utf-8")


def exit_for(report: Report, level: Severity) -> None:
    """Ends with 1 for a finding at or above `level`, 2 when it or a part of it could not run, 3 for a refusal."""
    if report.status is not Status.OK:
        sys.stderr.write(f"{report.reason}\n")
    if report.status in (Status.OK, Status.OUT_OF_MEMORY) and report.at_or_above(level):
        raise typer.Exit(FOUND)
    if report.status is not Status.OK:
        raise typer.Exit(UnsafeFile.exit_code if report.status is Status.REFUSED else StethoscopeError.exit_code)


_COLOURS = {Severity.CRITICAL: "red", Severity.HIGH: "red", Severity.MEDIUM: "yellow", Severity.LOW: "cyan"}


def diagnosis(report: Report) -> None:
    """Prints the report."""
    console = Console(highlight=False)
    for finding in report.findings:
        print_finding(console, finding, finding.where)
    if line := baseline_line(report):
        console.print(f"[bold]baseline[/]  {escape(line)}\n")
    counts = ", ".join(f"{count} {label}" for label, count in report.counts().items())
    missed = unseen(report)
    none = "Not judged" if report.status in (Status.FAILED, Status.REFUSED) else "No finding"
    console.print(
        f"[bold]{counts or none}[/]  {len(missed.ran)} checks ran, {missed.skipped_count} could not, "
        f"{len(missed.broken)} broke  ({report.wall_s:.1f} s)"
    )
    for note in missed.noted:
        console.print(f"  [dim]{escape(', '.join(note.names))}: {escape(note.reason)}[/]")
    for outcome in missed.broken:
        console.print(f"  [red]{escape(outcome.check_id)}: {escape(outcome.reason)}[/]")


def _print_excerpt(console: Console, item: Excerpt, *, patched: bool) -> None:
    """The lines around a place; a patch shows them too."""
    if item.language == "python" and patched:
        return
    for number, row in enumerate(item.text.split("\n"), item.first_line):
        label = "" if item.language == "diff" else f"{number:>5}  "
        console.print(Text(f"  {label}{row}", style="dim"), soft_wrap=True)


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
        elif isinstance(item, Excerpt):
            _print_excerpt(console, item, patched=finding.fix is not None and finding.fix.has_code)
    if finding.fix is not None:
        console.print(f"  [green]fix[/]  {escape(finding.fix.summary)}")
        # Never wrapped or cut at the terminal's width: it is there to be copied.
        code = finding.fix.code() if finding.fix.has_code else ""
        language = "diff" if isinstance(finding.fix, ScriptPatch) else "python"
        for line in Syntax("", language, background_color="default").highlight(code).split("\n") if code else ():
            console.print(Text("      ") + line, soft_wrap=True)
    if finding.proof is not None:
        console.print(
            f"  [green]tried[/]  {escape(finding.proof.verdict.replace('_', ' '))}: {escape(finding.proof.message)}"
        )
    console.print()
