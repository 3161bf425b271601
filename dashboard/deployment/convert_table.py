"""Several targets beside each other: a row for each as its conversion ends, and their sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard import escape, figures, words
from dashboard.deployment import convert_figures, convert_targets
from stethoscope.jobs.state import JobState
from stethoscope.types import Status

_KEY = "conversions"
_ENDED = {
    Status.OUT_OF_MEMORY: "out of memory",
    Status.TIMED_OUT: "timed out",
    Status.CRASHED: "crashed",
    Status.CANCELLED: "cancelled",
    Status.REFUSED: "refused",
}


def show(states: Mapping[str, JobState]) -> None:
    """The picture and the table; a click on a row shows that target's answer."""
    good = {key: state.result.value for key, state in states.items() if _is_good(state) and state.result is not None}
    done = sum(state.done for state in states.values())
    still = "" if done == len(states) else f", {words.count(len(states) - done)} to come"
    st.markdown(f"**{len(good):,} of {words.plural(len(states), 'target')} converted**{still}")
    sizes = {convert_targets.title(key): int(value["size_bytes"]) for key, value in good.items()}
    if len(sizes) > 1:
        source = int(next(iter(good.values()))["source_size_bytes"])
        st.plotly_chart(
            convert_figures.sizes(sizes, source), config=figures.CONFIG, key="conversion-sizes", alt="Size of each target"
        )  # fmt: skip
    targets = list(states)
    st.caption("Choose a row to see what became of that target.")

    def clicked() -> None:
        rows = st.session_state[_KEY]["selection"]["rows"]
        if rows and rows[0] < len(targets):
            convert_targets.show(targets[rows[0]])

    st.dataframe(
        table(states), hide_index=True, height="content", key=_KEY, on_select=clicked, selection_mode="single-row",
    )  # fmt: skip


def table(states: Mapping[str, JobState]) -> dict[str, list[str]]:
    """One row for each target."""
    columns: dict[str, list[str]] = {
        "Target": [], "Result": [], "Size": [], "Largest difference": [], "Same class": [], "Time for a row": [], "Memory, estimated": [],
    }  # fmt: skip
    for key, state in states.items():
        value: Mapping[str, Any] = state.result.value if _is_good(state) and state.result is not None else {}
        same, rows = value.get("top1_agreement"), max(1, int(value.get("rows") or 1))
        time_s, peak = (value.get("time_s") or {}).get("after"), (value.get("estimated_peak_bytes") or {}).get("after")
        columns["Target"].append(convert_targets.title(key))
        columns["Size"].append(words.size(value["size_bytes"]) if value else "—")
        columns["Largest difference"].append(words.difference(value.get("max_abs_diff")))
        columns["Same class"].append("—" if same is None else words.share(float(same), 1))
        columns["Time for a row"].append("—" if time_s is None else words.duration(float(time_s) / rows))
        columns["Memory, estimated"].append("—" if peak is None else words.size(peak))
        columns["Result"].append(result(state))
    return columns


def result(state: JobState) -> str:
    """How a conversion stands or ended, in a few words."""
    if state.result is None:
        return "running" if state.status == "running" else "waiting"
    if _is_good(state):
        return "converted"
    operators = list(dict.fromkeys(str(one.get("operator")) for one in state.result.value.get("unsupported") or ()))
    if operators:
        return escape.clip(f"not converted: no {', '.join(operators)}", 60)
    said = state.result.reason.partition(": ")[2] if state.result.error == "CannotConvert" else state.result.reason
    return _ENDED.get(state.result.status) or escape.clip(f"not converted: {said}", 60)


def _is_good(state: JobState) -> bool:
    return state.result is not None and state.result.status is Status.OK
