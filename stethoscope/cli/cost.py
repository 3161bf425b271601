"""What `stethoscope endurance`, `latency` and `sweep` print for people, and `sweep --estimate-only`: peak memory from the graph alone, one contained job per call style.

What `stethoscope sweep` prints for people.

What `stethoscope latency` prints for people.

`stethoscope sweep --estimate-only`: peak memory from the graph alone, one contained job per call style; nothing is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.cli import run as cli_run
from stethoscope.cli.answers import known, worst
from stethoscope.cli.printed import summary
from stethoscope.codec import partial_of, plain
from stethoscope.compare.latency_row import Row
from stethoscope.framework_errors import BatchInterval
from stethoscope.memory.estimate import Estimate
from stethoscope.memory.growth import Law
from stethoscope.memory.lowering_report import Lowered
from stethoscope.memory.points import Point, Swept
from stethoscope.memory.run_settings import VARIABLES, RunSettings
from stethoscope.sizes import human_bytes
from stethoscope.tasks.endurance import EnduranceReport
from stethoscope.tasks.estimate import EstimatedPeaks
from stethoscope.tasks.latency import Latencies
from stethoscope.types import Budget, JobResult, Status

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


def sweep(results: Mapping[str, JobResult], advice: Lowered | None = None) -> None:
    """Prints a row for each point, then for each call style the knee and the largest batch.

    Args:
        results: of the jobs, by call style.
        advice: what would lower the peak.
    """
    console = Console(highlight=False)
    sweeps = {call: partial_of(result, Swept) for call, result in results.items()}
    points = [point for swept in sweeps.values() if swept for point in swept.points]
    if points:
        table = Table("call", "batch", "size", "predicted", "measured", "off by", "lean", "ms a sample", "")
        for point in points:
            table.add_row(*_row(point))
        console.print(table)
    if any(point.lean_peak_bytes for point in points):
        settings = " ".join(f"{variable}={value}" for variable, value in VARIABLES.items())
        console.print(f"Each batch in a process of its own. Lean: with {settings} in its environment.", soft_wrap=True)
    for call, result in results.items():
        name, swept = escape(call), sweeps[call]
        if result.status is not Status.OK:
            status = result.status.words
            console.print(f"{name}: [red]{status}[/]  {escape(result.reason)}", soft_wrap=True)
        if swept is None:
            continue
        if swept.knee.batch_size:
            console.print(f"{name}: larger batches than {swept.knee.batch_size:,} save little time")
        for largest in swept.largest_batches:
            at = "" if largest.size is None else f" at size {largest.size:,}"
            budget = human_bytes(largest.budget_bytes)
            console.print(f"{name}: largest batch within {budget}{at}: {_between(largest)}")
        if swept.lean_largest_batch:
            lean = _between(swept.lean_largest_batch)
            console.print(f"{name}: largest batch with lean settings: {lean}, reckoned and not run", soft_wrap=True)
        for point in swept.points:
            if point.equal_peaks_bytes:
                least, most = (human_bytes(point.equal_peaks_bytes[place]) for place in (0, -1))
                count = len(point.equal_peaks_bytes)
                console.print(f"{name}: batch {point.batch_size:,} took {least} to {most} in {count} equal processes")
        for point in swept.checks:
            tried = "tried as the largest" if point.purpose == "largest" else "checked"
            console.print(f"{name}: {tried}: batch {point.batch_size:,}: {point.status.words}")
    if advice:
        lowering(advice)


def _between(interval: BatchInterval) -> str:
    return f"{interval.low:,}" if interval.low == interval.high else f"{interval.low:,} to {interval.high:,}"


def _row(point: Point) -> tuple[str, ...]:
    off, time_s = point.error_fraction, point.time_per_sample_s
    return (
        escape(point.call),
        f"{point.batch_size:,}",
        "" if point.size is None else f"{point.size:,}",
        _size(point.predicted_peak_bytes),
        _size(point.measured_peak_bytes),
        "" if off is None or point.calibration else f"{off:+.1%}",
        _size(point.lean_peak_bytes),
        "" if time_s is None else f"{1000 * time_s:.3g}",
        "" if point.status is Status.OK else escape(point.reason),
    )


def _size(size_bytes: int | None) -> str:
    return "" if size_bytes is None else human_bytes(size_bytes)


def latencies(result: JobResult) -> None:
    """A table of the models, then one of the times for each batch size."""
    console = Console(highlight=False)
    if result.status is not Status.OK:
        console.print(f"[red]{result.status.value.replace('_', ' ')}[/]  {escape(result.reason)}")
    known = partial_of(result, Latencies) or Latencies()
    table = Table("model", "runtime", "size", "parameters", "loading", "memory added", box=None, pad_edge=False)
    for model in known.models:
        table.add_row(
            escape(model.name),
            escape(model.runtime),
            _size(model.size_bytes),
            "" if model.parameters is None else f"{model.parameters:,}",
            _ms(model.load_s),
            _size(model.peak_bytes),
        )
    if known.models:
        console.print(table)
        console.print()
    for size in sorted({row.batch_size for row in known.rows}):
        console.print(_times(size, [row for row in known.rows if row.batch_size == size]))
        console.print()
    if known.rows:
        console.print(_how(known))
    for model in known.models:
        if model.reason:
            console.print(f"[red]no time[/]  {escape(model.reason)}", soft_wrap=True)
    whole = {model.reason for model in known.models}
    for row in known.rows:
        if row.p50_s is None and row.reason not in whole:
            console.print(f"[red]no time[/]  {row.batch_size:,} a call: {escape(row.reason)}", soft_wrap=True)
    if any(row.p50_s and row.p99_s is None for row in known.rows):
        console.print(
            "[yellow]note[/]  p99 needs at least 100 calls, p90 10: give more --seconds where they are missing."
        )
    for note in known.notes:
        console.print(f"[yellow]note[/]  {escape(note)}", soft_wrap=True)


def _times(size: int, rows: Sequence[Row]) -> Table:
    titles = (f"{size:,} {'row' if size == 1 else 'rows'} a call", "p50", "p90", "p99", "first call", "rows/s", "speed")
    table = Table(*titles, box=None, pad_edge=False)
    base = next((row.p50_s for row in rows if row.role == "model" and row.p50_s), None)
    for row in rows:
        styled = row.call not in ("run", "function", "")
        name = escape(row.model + (f", {row.call}" if styled else ""))
        if row.p50_s is None:
            table.add_row(name, "—")
            continue
        table.add_row(
            name,
            _ms(row.p50_s),
            _ms(row.p90_s),
            _ms(row.p99_s),
            _ms(row.first_call_s),
            f"{row.rows_per_s or 0.0:,.0f}",
            f"{base / row.p50_s:,.3g}×" if base else "",
        )
    return table


def _how(known: Latencies) -> str:
    source = "random input" if known.source == "dummy" else known.source
    turns = "in turns" if known.together else "one model after the other"
    used = sorted({row.threads for row in known.rows})
    threads = f"{' or '.join(map(str, used))} {'thread' if used == [1] else 'threads'} on {known.cores} cores ({known.device})"
    return escape(
        f"On {source}, {known.seconds:g} s of calls for each number, {turns}; {threads}. Speed: against the first model."
    )


def _ms(seconds: float | None) -> str:
    if seconds is None:
        return ""
    value, unit = (seconds * 1e6, "µs") if seconds < 1e-3 else (seconds * 1e3, "ms") if seconds < 1 else (seconds, "s")
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


_SHOWN = 0.01
"""Of the peak, for a part to be named."""
_WHENCE = {"given": "as given", "data": "of the data", "file": "of the file", "assumed": "assumed"}
_LAWS: Mapping[Law, str] = {
    "square": "grows with the square of the length",
    "proportional": "grows in proportion to the length",
    "hardly": "hardly grows with the length",
}
_OUTSIDE = {"load": "loading", "collect": "copying the outputs"}


def estimated(
    model: Path,
    data: Path | None,
    data_params: Mapping[str, Any],
    chosen: Sequence[RunSettings],
    rows: Sequence[int],
    sizes: Sequence[int],
    limits: Budget,
    *,
    trust: bool,
) -> dict[str, JobResult]:
    """How the job of each call style ended.

    Raises:
        StethoscopeError: the model could not be described.
    """
    results: dict[str, JobResult] = {}
    for settings in chosen:
        params = {
            "settings": settings.to_json(),
            "batch_sizes": list(rows),
            "sizes": list(sizes),
            "trusted": trust,
            **data_params,
        }
        results[settings.call], _ = cli_run.model_job("estimate", model, data, params, limits)
    return results


def answer(results: Mapping[str, JobResult]) -> dict[str, Any]:
    """One answer in the shape of a sweep, whose points have estimates only."""
    peaks = [partial_of(result, EstimatedPeaks) for result in results.values()]
    points = [_point(estimate) for made in peaks if made for estimate in made.estimates]
    calls = [{"call": call, **summary(result), **known(result, EstimatedPeaks)} for call, result in results.items()]
    return {**summary(worst(results)), "points": plain(points), "largest_batch": None, "calls": calls}


def _point(estimate: Estimate) -> Point:
    return Point(
        estimate.batch_size,
        estimate.call,
        None,
        status=Status.SKIPPED,
        reason="Estimated only.",
        size=estimate.size,
        size_from=size_from(estimate),
        estimated_peak_bytes=estimate.peak_bytes,
        lean_peak_bytes=estimate.lean_peak_bytes,
    )


def size_from(estimate: Estimate) -> str:
    """Who says the largest size of an open dimension: "given", "data", "file" or "assumed"; "" where nothing is open."""
    return max(estimate.open_sizes, key=lambda item: item.size).source if estimate.open_sizes else ""


def show(results: Mapping[str, JobResult]) -> None:
    """Prints a row for each estimate: the peak, what it is made of, and the layer at it."""
    console = Console(highlight=False)
    table = Table("call", "batch", "size", "estimated", "lean", "made of", "at")
    peaks = {call: partial_of(result, EstimatedPeaks) for call, result in results.items()}
    for made in peaks.values():
        for estimate in made.estimates if made else ():
            table.add_row(
                escape(estimate.call),
                f"{estimate.batch_size:,}",
                "" if estimate.size is None else f"{estimate.size:,} ({_WHENCE[size_from(estimate)]})",
                human_bytes(estimate.peak_bytes),
                human_bytes(estimate.lean_peak_bytes) if estimate.lean_peak_bytes is not None else "",
                _made_of(estimate),
                escape(_OUTSIDE.get(estimate.phase) or estimate.layer or estimate.at),
            )
    if table.row_count:
        console.print(table)
    for call, made in peaks.items():
        if made and made.growth:
            console.print(f"{escape(call)}: batch {made.growth.batch_size:,} {_LAWS[made.growth.law]}", soft_wrap=True)
        for note in dict.fromkeys(note for estimate in (made.estimates if made else ()) for note in estimate.notes):
            console.print(f"{escape(call)}: {escape(note)}", soft_wrap=True)
        problem = results[call].reason or (made.cannot if made else "")
        if problem:
            console.print(f"{escape(call)}: [red]{escape(problem)}[/]", soft_wrap=True)


def _made_of(estimate: Estimate) -> str:
    """The parts that matter, largest first."""
    parts = sorted(((size, part) for part, size in estimate.parts().items()), reverse=True)
    return ", ".join(f"{part} {human_bytes(size)}" for size, part in parts if size > _SHOWN * estimate.peak_bytes)
