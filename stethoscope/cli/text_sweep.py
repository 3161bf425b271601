"""What `stethoscope sweep` prints for people."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.codec import partial_of
from stethoscope.memory.lowering_report import Lowered
from stethoscope.memory.points import Point
from stethoscope.sizes import human_bytes
from stethoscope.tasks.sweep import Swept
from stethoscope.types import JobResult, Status


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
        table = Table("call", "batch", "size", "predicted", "measured", "off by", "ms a sample", "")
        for point in points:
            table.add_row(*_row(point))
        console.print(table)
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
            console.print(f"{name}: largest batch within {budget}{at}: {largest.low:,} to {largest.high:,}")
        for point in swept.checks:
            console.print(f"{name}: checked batch {point.batch_size:,}: {point.status.value.replace('_', ' ')}")
    if advice:
        from stethoscope.cli.text_endurance import lowering

        lowering(advice)


def _row(point: Point) -> tuple[str, ...]:
    off, time_s = point.error_fraction, point.time_per_sample_s
    return (
        escape(point.call),
        f"{point.batch_size:,}",
        "" if point.size is None else f"{point.size:,}",
        _size(point.predicted_peak_bytes),
        _size(point.measured_peak_bytes),
        "" if off is None or point.calibration else f"{off:+.1%}",
        "" if time_s is None else f"{1000 * time_s:.3g}",
        "" if point.status is Status.OK else escape(point.reason),
    )


def _size(size_bytes: int | None) -> str:
    return "" if size_bytes is None else human_bytes(size_bytes)
