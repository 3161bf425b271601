"""Several other models beside each other: a row for each as its comparison ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import escape, linked, words
from dashboard.deployment import parity_ways
from stethoscope.codec import answer_of
from stethoscope.compare.parity.array_difference import largest_of
from stethoscope.compare.parity.comparison import Comparison
from stethoscope.jobs.protocol import JobState
from stethoscope.types import Status

ADDRESS = "versus"
"""The other model whose answer is shown, in the address."""
_MEASURES = ("Largest difference", "Same class", "They part at", "Cause", "First call")
_LONG = 24


def choose(states: Mapping[str, JobState], names: Mapping[str, str]) -> str:
    """Draws the table and the choice of the one to look at; returns the other model's id.

    Args:
        states: by the other model's id; more than one.
        names: of the other models' files, by id. Hostile.
    """
    compared = [_comparison(state) for state in states.values()]
    alike = sum(one is not None and one.verdict != "different" for one in compared)
    still = sum(not state.done for state in states.values())
    st.markdown(
        f"**{alike:,} of {words.plural(len(states), 'model')} {'answers' if alike == 1 else 'answer'} the same**"
        + (f", {still:,} to come" if still else "")
    )
    st.dataframe(table(states, names), hide_index=True, height="content")
    titles = {
        key: escape.clip(names.get(key, key) if parity_ways.settings_of(key) is None else parity_ways.title(key), _LONG)
        for key in states
    }
    return linked.segments("The comparison to look at", titles, next(iter(states)), ADDRESS)


def table(states: Mapping[str, JobState], names: Mapping[str, str]) -> dict[str, list[str]]:
    """One row for each other model."""
    columns: dict[str, list[str]] = {name: [] for name in ("Other model", "Answer", *_MEASURES)}
    for key, state in states.items():
        columns["Other model"].append(escape.clip(names.get(key, key)))
        columns["Answer"].append(result(state))
        for name, text in zip(_MEASURES, _measures(_comparison(state)), strict=True):
            columns[name].append(text)
    return columns


def _measures(compared: Comparison | None) -> Sequence[str]:
    if compared is None:
        return ["—"] * len(_MEASURES)
    largest = largest_of([output.max_abs_diff for output in compared.outputs])
    same, parting = compared.top1_agreement, compared.first_divergence
    return (
        "no number" if largest is None else words.difference(largest),
        "—" if same is None else words.share(same, 1),
        "—" if parting is None else escape.clip(parting.a or "—", 60),
        "—" if parting is None else escape.clip(parting.cause, 80),
        words.duration(compared.time_s.b),
    )


def result(state: JobState) -> str:
    """How a comparison stands or ended, in a few words."""
    if state.result is None:
        return "running" if state.status == "running" else "waiting"
    compared = _comparison(state)
    return state.result.status.words if compared is None else compared.verdict.replace("_", " ")


def _comparison(state: JobState) -> Comparison | None:
    """What was found; None where it is not done or did not come to its end."""
    if state.result is None or state.result.status is not Status.OK:
        return None
    return answer_of(state.result, Comparison)
