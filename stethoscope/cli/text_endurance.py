"""What `stethoscope endurance` prints for people."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.memory.lowering_report import Lowered
from stethoscope.sizes import human_bytes
from stethoscope.tasks.endurance import EnduranceReport
from stethoscope.types import JobResult, Status

_COLOURS = {"leak": "red", "retraced": "yellow", "recompiled": "yellow", "unsure": "yellow"}


def endurance(results: Mapping[str, JobResult], reports: Mapping[str, EnduranceReport | None]) -> None:
    """Prints what each call style's tests found."""
    console = Console(highlight=False)
    for call, result in results.items():
        console.print(f"[bold]{escape(call)}[/]")
        if result.status is not Status.OK:
            status = result.status.words
            console.print(f"  [red]{status}[/]  {escape(result.reason)}", soft_wrap=True)
        report = reports[call]
        if report is None:
            continue
        for test, judged in (("leak", report.leak), ("retracing", report.retracing)):
            if judged:
                colour = _COLOURS.get(judged.verdict, "green")
                console.print(f"  {test}: [{colour}]{judged.verdict}[/]  {escape(judged.message)}", soft_wrap=True)
        if report.retracing and report.retracing.verdict == "retraced":
            for line in report.retracing.signature.strip().splitlines():
                console.print(f"    {escape(line)}", soft_wrap=True)
        latency = report.latency
        if latency and latency.cold_s is not None:
            console.print(
                f"  latency: loading {_time(latency.load_s)}, first call {_time(latency.cold_s)}, later "
                f"{_time(latency.warm_row.median_s)} for one row and {_time(latency.warm.median_s)} a batch"
            )


def lowering(report: Lowered) -> None:
    """Prints what was tried, by rank, and the advice."""
    console = Console(highlight=False)
    table = Table("change", "peak", "saved", "ms a sample", "outputs differ by", "")
    for trial in (report.present, *report.ranked):
        saved, time_s, gap = report.saved_fraction(trial), trial.time_per_sample_s, trial.max_abs_diff
        ended = trial.status.words if trial.status else "not run"
        table.add_row(
            escape(trial.alternative.title),
            "" if trial.peak_bytes is None else human_bytes(trial.peak_bytes),
            "" if saved is None or trial is report.present else f"{saved:+.0%}",
            "" if time_s is None else f"{1000 * time_s:.3g}",
            "" if gap is None or trial is report.present else f"{gap:.2g}",
            "" if trial.status is Status.OK else escape(f"{ended}: {trial.reason}"),
        )
    console.print(table)
    for item in report.untried:
        console.print(f"{item.kind}: not tried. {escape(item.reason)}", soft_wrap=True)
    console.print(escape(report.message), soft_wrap=True)


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
