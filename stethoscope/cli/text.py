"""What the commands print for people: short, with units; `--json` is for programs.

What `stethoscope activations` prints for people.

What `curves` prints for people: runs and tags, how whole the files are, then what is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.activations.study import LayerActivations
from stethoscope.checks.findings import Severity
from stethoscope.cli.cards import cards
from stethoscope.cli.check import print_finding
from stethoscope.cli.described_text import shape
from stethoscope.codec import partial_of
from stethoscope.compare.consistency.report import ConsistencyReport, ConsistencyTest
from stethoscope.framework_errors import shortage_of
from stethoscope.logs.better import RunSummary
from stethoscope.sizes import human_bytes
from stethoscope.tasks.examine_runs import LogReport
from stethoscope.types import JobResult, Status

if TYPE_CHECKING:
    from stethoscope.studies.doctor import Examination


_SHOWN_LAYERS = 200


def prediction(result: JobResult, folder: Path) -> None:
    """Prints the answer of `predict`, whose outputs lie in `folder`."""
    from stethoscope.memory.prediction import Prediction

    console, known = Console(highlight=False), partial_of(result, Prediction)
    if result.status is not Status.OK or known is None:
        console.print(f"[red]{result.status.value.replace('_', ' ')}[/] in phase {escape(result.phase)}")
        _print_shortage(console, result)
        return
    settings, predicted = known.settings, known.predicted_peak_bytes
    foretold = f", predicted {human_bytes(predicted)}" if predicted is not None else ", not predicted"
    limit = human_bytes(settings.memory_limit_bytes or 0)
    said = (
        "all inputs in one call"
        if known.at_once
        else f"{settings.samples:,} rows in batches of {settings.batch_size:,}"
    )
    console.print(f"{said}: {result.wall_s:.3g} s")
    console.print(f"peak memory {human_bytes(result.peak_rss_bytes)}{foretold}, limit {limit}")
    for sentence in known.configured:
        console.print(escape(sentence))
    for name, change in known.precision_difference.items():
        moved = "to values that are not finite" if change is None else f"by at most {change:.2g}"
        console.print(f"{settings.precision} moved {escape(name)} {moved} (first row)")
    for name, output in known.outputs.items():
        path = folder / Path(output.path).name
        console.print(f"{escape(name)}  {shape(output.shape)}  {output.dtype}  {escape(str(path))}")


def examination(examined: Examination) -> None:
    """Prints the answer of `doctor`."""
    console = Console(highlight=False)
    for name, layer in examined.layers.items():
        state = "[green]active[/]" if layer.active else "[yellow]not active[/]"
        console.print(f"{name}  {state}  {escape(layer.what)}")
        for attempt in layer.tried:
            mark = "[green]✓[/]" if attempt.as_expected else "[red]✗[/]"
            console.print(f"    {mark} {escape(attempt.attempt)}: {escape(attempt.how)}")
    for name, version in examined.packages.items():
        console.print(f"{name} {version or '[red]missing[/]'}")
    for device in examined.devices:
        free = "" if device.free_bytes is None else f", {human_bytes(device.free_bytes)} free"
        total = "" if device.total_bytes is None else f", {human_bytes(device.total_bytes)}{free}"
        unusable = "" if device.usable else f" [yellow]not usable[/]: {escape(device.reason)}"
        console.print(f"device {escape(device.name)}  {escape(device.title)}{total}{unusable}")
    if examined.machine.gpus_reason:
        console.print(f"no GPU: {escape(examined.machine.gpus_reason)}")
    workspace = examined.workspace
    console.print(f"workspace {escape(workspace.path)}, {human_bytes(workspace.free_bytes)} free")
    cards(console, examined.machine)


def _print_shortage(console: Console, result: JobResult) -> None:
    report = shortage_of(result)
    if report is None or result.status not in (Status.OUT_OF_MEMORY, Status.CRASHED):
        return
    limit = f" of {human_bytes(report.limit_bytes)}" if report.limit_bytes else ""
    console.print(f"peak {human_bytes(result.peak_rss_bytes)}{limit}")
    if report.tensor_shape or report.operator:
        what = "tensor" if report.tensor_from == "error" else "largest tensor expected"
        dimensions = shape(report.tensor_shape) if report.tensor_shape else ""
        console.print(f"{what} {dimensions} {escape(report.operator)}".rstrip())
    host = report.host
    if host:
        console.print(
            f"memory of the machine: this job {human_bytes(host.this_job_bytes)}, {host.other_jobs} other jobs "
            f"{human_bytes(host.other_jobs_bytes)}, other programs {human_bytes(host.rest_bytes)}, "
            f"available {human_bytes(host.available_bytes)}"
        )
    fits = report.largest_batch_estimate
    if fits:
        console.print(f"what would fit: a batch of {fits.low:,} to {fits.high:,} (estimated)")
    if report.advice:
        console.print(f"what to do: {escape(report.advice)}", soft_wrap=True)


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


_SHOWN_UNREACHABLE = 10
_WIDE = 110
_PATH = 24
"""Characters of a path that are shown on a narrow terminal: its end, where paths differ."""


def layer_activations(answer: LayerActivations, out: Path | None) -> None:
    """Prints the answer of `activations`: one line a layer, what cannot be seen, where the files are."""
    console = Console(highlight=False)
    console.print(f"[bold]{len(answer.layers):,} outputs[/] over {escape(_rows(answer))}")
    wide = console.width >= _WIDE
    table = Table(box=None, pad_edge=False)
    for name in ("layer", "shape", "mean", "std", *(("min", "max") if wide else ()), "zero", "saturated", "dead units"):
        table.add_column(name, no_wrap=name != "dead units", min_width=_PATH if name == "layer" else None)
    for layer in answer.layers[:_SHOWN_LAYERS]:
        bad = f" [red]{layer.nonfinite:,} NaN or infinite[/]" if layer.nonfinite else ""
        numbers = (layer.mean, layer.std, layer.min, layer.max) if wide else (layer.mean, layer.std)
        table.add_row(
            escape(_end_of(layer.path, console.width)) + bad,
            "×".join("?" if size is None else f"{size:,}" for size in layer.shape) or "scalar",
            *map(_number, numbers),
            _share(layer.zero_fraction),
            _share(layer.saturated_fraction or 0.0),
            "" if layer.dead_units is None else f"{layer.dead_units:,} of {layer.units:,}",
        )
    console.print(table)
    if len(answer.layers) > _SHOWN_LAYERS:
        console.print(f"… and {len(answer.layers) - _SHOWN_LAYERS:,} more (--json has all)")
    for one in answer.unreachable[:_SHOWN_UNREACHABLE]:
        console.print(f"[yellow]not seen[/]  {escape(one.path)}: {escape(one.reason)}")
    if len(answer.unreachable) > _SHOWN_UNREACHABLE:
        console.print(f"… and {len(answer.unreachable) - _SHOWN_UNREACHABLE:,} more that cannot be seen")
    if out is not None:
        console.print(f"written to {escape(str(out.resolve()))}")


def _end_of(path: str, width: int) -> str:
    most = max(_PATH, width - 80)
    return path if len(path) <= most else f"…{path[1 - most :]}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _rows(answer: LayerActivations) -> str:
    """Over which rows the statistics are, for people."""
    source = "random input" if answer.source == "dummy" else answer.source
    seen, total = answer.rows, answer.rows_in_data
    return f"{seen:,} rows of {source}" if seen >= total else f"{seen:,} of {total:,} rows of {source}"


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
