"""How memory and time grow with the batch: predicted and measured, the knee, and the largest batch that fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from dashboard import cards, escape, figures, recipes, render, words
from dashboard.cost import sweep_figures
from stethoscope.codec import partial_of
from stethoscope.jobs.protocol import JobState
from stethoscope.memory.call_styles import TITLES
from stethoscope.memory.points import Point, Swept
from stethoscope.memory.run_settings import VARIABLES
from stethoscope.studies.checked_sweep import as_checked
from stethoscope.types import Status

_MOST_LARGEST = 4
_NO_BOUND = (1 << 30) - 1
"""A batch nobody runs: memory hardly grows, and no upper end was found."""


Sweep = TypeVar("Sweep", bound=Swept)


def found(state: JobState, kind: type[Sweep]) -> Sweep | None:
    """What a finished sweep found, after saying how it ended where that was early; None where it found nothing."""
    assert state.result is not None
    result = as_checked(state.result)
    if result.status is not Status.OK:
        render.ending(state)
    swept = partial_of(result, kind)
    return swept if swept is not None and swept.points else None


def limit_of(swept: Swept) -> int | None:
    """The memory limit that the largest batch was looked for under, in bytes; None where none was looked for."""
    return swept.largest_batch.budget_bytes if swept.largest_batch else None


def answer(state: JobState, name: str) -> None:
    """Everything about a finished sweep of the file `name`."""
    swept = found(state, Swept)
    if swept is None:
        return
    limit = limit_of(swept)
    _facts(swept)
    st.plotly_chart(
        sweep_figures.memory(swept.points, limit),
        config=figures.CONFIG,
        key="sweep-memory",
        alt="Peak memory by batch size",
    )
    timed = [point for point in swept.points if point.time_per_sample_s]
    if len(timed) > 1:
        figure = sweep_figures.times(timed, swept.knee.batch_size)
        st.plotly_chart(figure, config=figures.CONFIG, key="sweep-time", alt="Time per sample by batch size")
    render.outcomes(table(swept.points, swept.checks))
    with st.expander("How this was done"):
        rows = ", ".join(words.count(size) for size in swept.calibrated_at)
        call = escape.code(TITLES.get(swept.call, swept.call))
        st.markdown(
            f"Called as {call}, once for each batch, in a process started for it with TensorFlow's own allocator: memory that "
            f"the process adds, loading included. Batches of {rows or 'one size'} ran first, in one process with lean settings, "
            "which tells from which batch on each row needs the same. The prediction for a batch is made from smaller ones. "
            "A batch that is certain not to fit the limit is not started. Random input."
        )
        st.markdown("The same from the command line:")
        st.code(_command(name, state.params, limit), language="bash", wrap_lines=True)
        st.markdown("Lean settings, for the environment in which Python starts:")
        st.code("\n".join(f"export {name}={value}" for name, value in VARIABLES.items()), language="bash")


def _command(name: str, params: Mapping[str, Any], limit: int | None) -> str:
    options: dict[str, Any] = {
        "batch-sizes": ",".join(map(str, params.get("batch_sizes") or ())) or None,
        "sizes": ",".join(map(str, params.get("sizes") or ())) or None,
        "call": (params.get("settings") or {}).get("call"),
        "check": True if params.get("check") else None,
        "memory-limit": f"{limit // 2**20}MiB" if limit else None,
    }
    return recipes.command_line("sweep", name, options)


def _facts(swept: Swept) -> None:
    knee = swept.knee.batch_size
    tried = max((point.batch_size for point in swept.points if point.status is Status.OK), default=0)
    errors = [
        abs(point.error_fraction)
        for point in swept.points
        if point.error_fraction is not None and not point.calibration
    ]
    save = "the largest that ran" if knee == tried else "larger ones save under 10 % of the time"
    cards.facts(
        [
            *largest(swept),
            (
                "Worth its memory",
                f"batch {words.count(knee)}" if knee else "—",
                save if knee else "it takes two batches that ran",
            ),
            (
                "Prediction",
                f"{100 * max(errors):.1f} % off" if errors else "—",
                "at worst, of what was measured" if errors else "no larger batch ran to compare with",
            ),
        ]
    )


def largest(swept: Swept) -> list[tuple[str, str, str]]:
    """What a card says of the largest batch, at each size of the open dimensions."""
    several, ran = swept.largest_batches, any(point.status is Status.OK for point in swept.points)
    checked = [check for check in swept.checks if check.status is not Status.REFUSED]
    if not several:
        fixed = swept.fixed_batch
        note = "the file fixes it" if fixed else "memory hardly grows with it" if ran else "not even one row fits"
        return [("Largest batch", words.count(fixed) if fixed else "—", note)]
    facts = []
    for found in several[:_MOST_LARGEST]:
        low, high = found.low, found.high
        between = words.count(low) if low == high else f"{words.count(low)} to {words.count(high)}"
        if high >= _NO_BOUND:
            between = f"{words.count(low)} or more"
        at = f", size {words.count(found.size or 0)}" if len(several) > 1 else ""
        note = f"within {words.size(found.budget_bytes)}" + (f"; {words.count(low)} ran" if checked and low else "")
        facts.append((f"Largest batch{at}", between, note))
    lean = swept.lean_largest_batch
    if lean is not None and lean.high < _NO_BOUND:
        between = f"{words.count(lean.low)} to {words.count(lean.high)}"
        facts.append(("With lean settings", between, "reckoned, not run"))
    return facts


_PURPOSES = {"largest": " (largest?)", "check": " (check)"}


def table(points: Sequence[Point], checks: Sequence[Point] = (), *, lean: bool = True) -> dict[str, list[str]]:
    """The points as columns of text, what was run to find the largest batch and to check it below.

    `lean` is whether any of them was measured with lean settings too.
    """
    columns: dict[str, list[str]] = {
        "Batch": [],
        "Predicted": [],
        "Measured": [],
        "Error": [],
        "Lean settings": [],
        "Time a sample": [],
        "Ended": [],
    }
    several = len({point.size for point in points}) > 1
    for point in (*points, *checks):
        size = f" of size {words.count(point.size)}" if several and point.size else ""
        time_s = point.time_per_sample_s
        columns["Batch"].append(f"{words.count(point.batch_size)}{size}{_PURPOSES.get(point.purpose, '')}")
        columns["Predicted"].append(_size(None if point.calibration else point.predicted_peak_bytes))
        columns["Measured"].append(_measured(point))
        columns["Error"].append(_error(point))
        columns["Lean settings"].append(_size(point.lean_peak_bytes))
        columns["Time a sample"].append(words.duration(time_s) if time_s else "—")
        columns["Ended"].append(
            "done" if point.status is Status.OK else escape.clip(point.reason or point.status.value, 120)
        )
    if not lean:
        del columns["Lean settings"]
    return columns


def _measured(point: Point) -> str:
    told, equal = _size(point.measured_peak_bytes), point.equal_peaks_bytes
    return f"{told} ({words.size(equal[0])} to {words.size(equal[-1])} in {len(equal)} runs)" if equal else told


def _error(point: Point) -> str:
    if point.calibration:
        return "calibration"
    if point.error_fraction is None:
        return "—"
    rounded = round(100 * point.error_fraction, 1)
    return f"{'−' if rounded < 0 else '+' if rounded > 0 else '±'}{abs(rounded):.1f} %"


def _size(size_bytes: int | None) -> str:
    return words.size(size_bytes) if size_bytes else "—"
