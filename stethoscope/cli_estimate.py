"""`stethoscope sweep --estimate-only`: peak memory from the graph alone, one contained job per call style; nothing is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope import cli_run
from stethoscope.cli_answers import summary
from stethoscope.memory.run_settings import RunSettings
from stethoscope.sizes import human_bytes
from stethoscope.types import Budget, JobResult, Status

_SHOWN = 0.01
"""Of the peak, for a part to be named."""
_OUTSIDE = {"load": "loading", "collect": "copying the outputs"}
_PARTS = ("weights", "live", "workspace", "outputs", "input", "runtime")


def estimated(
    model: Path,
    chosen: Sequence[RunSettings],
    rows: Sequence[int],
    sizes: Sequence[int],
    limits: Budget,
    *,
    trust: bool,
) -> tuple[dict[str, Any], JobResult]:
    """One answer in the shape of a sweep, whose points have estimates only; and the job that says how it ended.

    Raises:
        StethoscopeError: the model could not be described.
    """
    points: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    ended: list[JobResult] = []
    for settings in chosen:
        params = {
            "settings": settings.to_json(), "batch_sizes": list(rows), "sizes": list(sizes), "trusted": trust,
        }  # fmt: skip
        result, _ = cli_run.model_job("estimate", model, None, params, limits)
        ended.append(result)
        points += [_point(one) for one in result.value.get("estimates", [])]
        calls.append({"call": settings.call, **summary(result), **result.value})
    how = next((result for result in ended if result.status is not Status.OK), ended[0])
    return {**summary(how), "points": points, "largest_batch": None, "calls": calls}, how


def _point(one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "batch_size": one["batch_size"], "call": one["call"], "size": one["size"],
        "predicted_peak_bytes": None, "measured_peak_bytes": None, "time_per_sample_s": None,
        "estimated_peak_bytes": one["peak_bytes"], "status": Status.SKIPPED.value, "reason": "Estimated only.",
    }  # fmt: skip


def show(value: Mapping[str, Any]) -> None:
    """Prints a row for each estimate: the peak, what it is made of, and the layer at it."""
    console = Console(highlight=False)
    table = Table("call", "batch", "size", "estimated", "made of", "at")
    for call in value["calls"]:
        for one in call.get("estimates", []):
            where = _OUTSIDE.get(one["phase"]) or one["layer"] or one["at"]
            table.add_row(
                escape(str(one["call"])), f"{one['batch_size']:,}", "" if one["size"] is None else f"{one['size']:,}",
                human_bytes(one["peak_bytes"]), _made_of(one), escape(where),
            )  # fmt: skip
    if table.row_count:
        console.print(table)
    for call in value["calls"]:
        for note in dict.fromkeys(note for one in call.get("estimates", []) for note in one["notes"]):
            console.print(f"{escape(str(call['call']))}: {escape(note)}", soft_wrap=True)
        problem = call["reason"] or call.get("cannot")
        if problem:
            console.print(f"{escape(str(call['call']))}: [red]{escape(problem)}[/]", soft_wrap=True)


def _made_of(one: Mapping[str, Any]) -> str:
    """The parts that matter, largest first."""
    parts = sorted(((one[f"{part}_bytes"], part) for part in _PARTS), reverse=True)
    return ", ".join(f"{part} {human_bytes(size)}" for size, part in parts if size > _SHOWN * one["peak_bytes"])
