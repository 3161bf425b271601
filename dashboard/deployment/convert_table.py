"""Several targets beside each other: a row for each as its conversion ends, and their sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import escape, figures, words
from dashboard.deployment import convert_failure, convert_figures, convert_targets
from stethoscope.codec import answer_of
from stethoscope.jobs.protocol import JobState
from stethoscope.tasks.convert import Conversion
from stethoscope.types import Status

_KEY = "conversions"
_MEASURES = ("Size", "Largest difference", "Same class", "Time for a row", "Memory, estimated")
_ENDED = {
    Status.OUT_OF_MEMORY: "out of memory",
    Status.TIMED_OUT: "timed out",
    Status.CRASHED: "crashed",
    Status.CANCELLED: "cancelled",
    Status.REFUSED: "refused",
}


def show(states: Mapping[str, JobState]) -> None:
    """The picture and the table; a click on a row shows that target's answer."""
    good = {key: made for key, state in states.items() if (made := _conversion(state)) is not None}
    done = sum(state.done for state in states.values())
    still = "" if done == len(states) else f", {words.count(len(states) - done)} to come"
    st.markdown(f"**{len(good):,} of {words.plural(len(states), 'target')} converted**{still}")
    sizes = {convert_targets.title(key): made.size_bytes for key, made in good.items()}
    if len(sizes) > 1:
        source = next(iter(good.values())).source_size_bytes
        st.plotly_chart(
            convert_figures.sizes(sizes, source),
            config=figures.CONFIG,
            key="conversion-sizes",
            alt="Size of each target",
        )
    targets = list(states)
    st.caption("Choose a row to see what became of that target.")

    def clicked() -> None:
        rows = st.session_state[_KEY]["selection"]["rows"]
        if rows and rows[0] < len(targets):
            convert_targets.show(targets[rows[0]])

    st.dataframe(
        table(states), hide_index=True, height="content", key=_KEY, on_select=clicked, selection_mode="single-row"
    )


def table(states: Mapping[str, JobState]) -> dict[str, list[str]]:
    """One row for each target."""
    columns: dict[str, list[str]] = {name: [] for name in ("Target", "Result", *_MEASURES)}
    for key, state in states.items():
        columns["Target"].append(convert_targets.title(key))
        columns["Result"].append(result(state))
        for name, text in zip(_MEASURES, _measures(_conversion(state)), strict=True):
            columns[name].append(text)
    return columns


def _measures(made: Conversion | None) -> Sequence[str]:
    if made is None:
        return ["—"] * len(_MEASURES)
    same, peak = made.top1_agreement, made.estimated_peak_bytes.after
    return (
        words.size(made.size_bytes),
        words.difference(made.max_abs_diff),
        "—" if same is None else words.share(same, 1),
        words.duration(made.time_s.after / max(1, made.rows)),
        "—" if peak is None else words.size(peak),
    )


def result(state: JobState) -> str:
    """How a conversion stands or ended, in a few words."""
    if state.result is None:
        return "running" if state.status == "running" else "waiting"
    if state.result.status is Status.OK:
        return "converted"
    operators = list(dict.fromkeys(one.operator for one in convert_failure.unsupported_by(state.result)))
    if operators:
        return escape.clip(f"not converted: no {', '.join(operators)}", 60)
    said = state.result.reason.partition(": ")[2] if state.result.error == "CannotConvert" else state.result.reason
    return _ENDED.get(state.result.status) or escape.clip(f"not converted: {said}", 60)


def _conversion(state: JobState) -> Conversion | None:
    """What came of it; None where it is not done or did not succeed."""
    if state.result is None or state.result.status is not Status.OK:
        return None
    return answer_of(state.result, Conversion)
