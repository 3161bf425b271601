"""A conversion that did not succeed: which operators, of which layer, what to do, and what works instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from dashboard import escape, render, words
from dashboard.data import data_choice
from dashboard.deployment import convert_jobs, convert_targets
from dashboard.session import View
from stethoscope.codec import partial_of
from stethoscope.compare.convert.converter import NotConverted, Unsupported, what_to_do
from stethoscope.jobs.protocol import JobState
from stethoscope.types import Architecture, JobResult, Status

Begin = Callable[[Sequence[str]], None]
"""Begins the conversions to these targets."""
_MOST = 6
"""Operators that are shown each with its way round; more are in a table."""


def shown(
    state: JobState, view: View, architecture: Architecture, states: Mapping[str, JobState], try_others: Begin | None
) -> None:
    """Draws how it ended.

    Args:
        state: a conversion that is done and did not succeed.
        view: with its model.
        architecture: of that model.
        states: all conversions of the model by target.
        try_others: begins the conversions to these targets; None where that is not allowed.
    """
    result = state.result
    assert result is not None and view.entry is not None
    target = str(state.params.get("target"))
    if result.error == "CannotConvert":
        _refused(result, target, view.entry.name, architecture)
    else:
        render.ending(state)
        if advice := what_to_do(result.status):
            st.markdown(advice)
        if result.status is not Status.CANCELLED:
            data_choice.make_it_fit(result)
    if result.status is not Status.CANCELLED and result.error != "BadInput":
        _instead(target, architecture, states, try_others)


def _refused(result: JobResult, target: str, name: str, architecture: Architecture) -> None:
    unsupported = unsupported_by(result)
    title = convert_targets.title(target)
    if unsupported:
        kinds = len({one.operator for one in unsupported})
        render.verdict("bad", "Not converted", f"{title} lacks {words.plural(kinds, 'operator')} of this model.")
    else:
        with st.container(border=True):
            render.verdict("bad", "Not converted", f"This model could not be brought into the form {title}.")
            reason = words.readable(result.reason.removeprefix(f"{name}: "))
            st.markdown(escape.sentences(reason[:1].upper() + reason[1:]))
    paths = {layer.path for layer in architecture.layers}
    for operator in unsupported[:_MOST]:
        _operator(operator, paths)
    if len(unsupported) > _MOST:
        with st.expander(f"{words.plural(len(unsupported) - _MOST, 'more operator')}"):
            rest = unsupported[_MOST:]
            st.dataframe(table(rest), hide_index=True, height="content" if len(unsupported) <= 20 else 400)


def unsupported_by(result: JobResult) -> tuple[Unsupported, ...]:
    """The operators that a refused conversion named."""
    refused = partial_of(result, NotConverted)
    return () if refused is None else refused.unsupported


def _operator(operator: Unsupported, paths: set[str]) -> None:
    layer = operator.layer
    with st.container(border=True, gap="xsmall"):
        where = f" in layer {escape.code(layer)}" if layer else ""
        st.markdown(f"{escape.code(operator.operator or 'an operator')}{where}")
        if operator.way_round:
            st.markdown(escape.sentences(operator.way_round))
        if layer in paths:
            render.go_to("architecture", "Show this layer in the graph →", layer=layer)
        if operator.message:
            with st.expander("What the converter says"):
                st.code(operator.message[:2_000], language=None, wrap_lines=True)


def table(unsupported: Sequence[Unsupported]) -> dict[str, list[str]]:
    """One row for each operator."""
    return {
        "Operator": [escape.clip(one.operator) for one in unsupported],
        "Layer": [escape.clip(one.layer or "—") for one in unsupported],
        "What to do": [escape.clip(one.way_round or "—", 300) for one in unsupported],
    }


def _instead(target: str, architecture: Architecture, states: Mapping[str, JobState], try_others: Begin | None) -> None:
    """Which targets work, as far as it is known, and a button for those that were not tried."""
    works = convert_jobs.converted(states)
    untried = [key for key in convert_targets.possible(architecture) if key not in states and key != target]
    if works:
        names = ", ".join(convert_targets.title(key) for key in works)
        st.markdown(f"**What works:** {names}.")
    if not untried:
        return
    names = ", ".join(convert_targets.title(key) for key in untried)
    said, button = st.columns([4, 1], vertical_alignment="center")
    said.caption(f"Not tried yet: {names}.")
    if try_others is not None and button.button("Try the others", key="try-others", width="stretch"):
        try_others(untried)
