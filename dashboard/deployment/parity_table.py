"""Several other models beside each other: a row for each as its comparison ends."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard import escape, linked, words
from dashboard.deployment import parity_ways
from stethoscope.jobs.state import JobState
from stethoscope.types import Status

ADDRESS = "versus"
"""The other model whose answer is shown, in the address."""
_SAID = {"equal": "equal", "within_tolerance": "within tolerance", "different": "different"}
_LONG = 24


def choose(states: Mapping[str, JobState], names: Mapping[str, str]) -> str:
    """Draws the table and the choice of the one to look at; returns the other model's id.

    Args:
        states: by the other model's id; more than one.
        names: of the other models' files, by id. Hostile.
    """
    alike = sum(_verdict(state) in ("equal", "within_tolerance") for state in states.values())
    still = sum(not state.done for state in states.values())
    st.markdown(
        f"**{alike:,} of {words.plural(len(states), 'model')} {'answers' if alike == 1 else 'answer'} the same**" + (f", {still:,} to come" if still else "")
    )  # fmt: skip
    st.dataframe(table(states, names), hide_index=True, height="content")
    titles = {
        key: escape.clip(names.get(key, key) if parity_ways.settings_of(key) is None else parity_ways.title(key), _LONG)
        for key in states
    }
    return linked.segments("The comparison to look at", titles, next(iter(states)), ADDRESS)


def table(states: Mapping[str, JobState], names: Mapping[str, str]) -> dict[str, list[str]]:
    """One row for each other model."""
    columns: dict[str, list[str]] = {
        "Other model": [], "Answer": [], "Largest difference": [], "Same class": [], "They part at": [], "Cause": [], "First call": [],
    }  # fmt: skip
    for key, state in states.items():
        value = state.result.value if state.result is not None and state.result.status is Status.OK else {}
        offs = [one.get("max_abs_diff") for one in value.get("outputs") or ()]
        same, parting = value.get("top1_agreement"), value.get("first_divergence") or {}
        time_s = (value.get("time_s") or {}).get("b")
        columns["Other model"].append(escape.clip(names.get(key, key)))
        columns["Answer"].append(result(state))
        columns["Largest difference"].append(
            "—" if not offs else "no number" if None in offs else words.difference(max(offs))
        )
        columns["Same class"].append("—" if same is None else words.share(float(same), 1))
        columns["They part at"].append(escape.clip(parting.get("a") or "—", 60))
        columns["Cause"].append(escape.clip(parting.get("cause") or "—", 80))
        columns["First call"].append("—" if time_s is None else words.duration(float(time_s)))
    return columns


def result(state: JobState) -> str:
    """How a comparison stands or ended, in a few words."""
    if state.result is None:
        return "running" if state.status == "running" else "waiting"
    if state.result.status is Status.OK:
        return _SAID.get(_verdict(state), "no answer")
    return state.result.status.value.replace("_", " ")


def _verdict(state: JobState) -> str:
    return str(state.result.value.get("verdict")) if state.result is not None else ""
