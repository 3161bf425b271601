"""`stethoscope sweep --estimate-only`: peak memory from the graph alone, one contained job per call style; nothing is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.cli import run as cli_run
from stethoscope.cli.answers import known, summary, worst
from stethoscope.codec import partial_of, plain
from stethoscope.memory.estimate import Estimate
from stethoscope.memory.points import Point
from stethoscope.memory.run_settings import RunSettings
from stethoscope.sizes import human_bytes
from stethoscope.tasks.estimate import EstimatedPeaks
from stethoscope.types import Budget, JobResult, Status

_SHOWN = 0.01
"""Of the peak, for a part to be named."""
_WHENCE = {"given": "as given", "data": "of the data", "assumed": "assumed"}
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
    )


def size_from(estimate: Estimate) -> str:
    """Who says the largest size of an open dimension: "given", "data" or "assumed"; "" where nothing is open."""
    return max(estimate.open_sizes, key=lambda item: item.size).source if estimate.open_sizes else ""


def show(results: Mapping[str, JobResult]) -> None:
    """Prints a row for each estimate: the peak, what it is made of, and the layer at it."""
    console = Console(highlight=False)
    table = Table("call", "batch", "size", "estimated", "made of", "at")
    peaks = {call: partial_of(result, EstimatedPeaks) for call, result in results.items()}
    for made in peaks.values():
        for estimate in made.estimates if made else ():
            table.add_row(
                escape(estimate.call),
                f"{estimate.batch_size:,}",
                "" if estimate.size is None else f"{estimate.size:,} ({_WHENCE[size_from(estimate)]})",
                human_bytes(estimate.peak_bytes),
                _made_of(estimate),
                escape(_OUTSIDE.get(estimate.phase) or estimate.layer or estimate.at),
            )
    if table.row_count:
        console.print(table)
    for call, made in peaks.items():
        for note in dict.fromkeys(note for estimate in (made.estimates if made else ()) for note in estimate.notes):
            console.print(f"{escape(call)}: {escape(note)}", soft_wrap=True)
        problem = results[call].reason or (made.cannot if made else "")
        if problem:
            console.print(f"{escape(call)}: [red]{escape(problem)}[/]", soft_wrap=True)


def _made_of(estimate: Estimate) -> str:
    """The parts that matter, largest first."""
    parts = sorted(((size, part) for part, size in estimate.parts().items()), reverse=True)
    return ", ".join(f"{part} {human_bytes(size)}" for size, part in parts if size > _SHOWN * estimate.peak_bytes)
