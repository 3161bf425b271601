"""Will this model run where it must?"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import described, own_code, render, run_limits, session
from dashboard.data import data_choice
from dashboard.deployment import (
    convert_failure,
    convert_inputs,
    convert_jobs,
    convert_parts,
    convert_table,
    convert_targets,
)
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture, Status

PAGE = {"title": "Convert", "section": "Deployment", "url_path": "convert", "icon": ""}


def ready(view: session.View, architecture: Architecture) -> None:
    """The target, its settings, and what became of the conversions."""
    allowed = own_code.allowed(view, architecture)
    if not run_limits.runnable(architecture):
        return
    possible = convert_targets.possible(architecture)
    if not possible:
        render.empty("**Nothing can be made from this file.** Upload the model that it was made from.")
        convert_targets.say_refused(architecture)
        return
    states = convert_jobs.shown(view)
    with st.container(border=True):
        target = convert_targets.choose(possible, next(iter(states), ""))
        data, complete = data_choice.choose(
            view,
            architecture,
            none="Random input",
            key="input",
            label="Input, to compare with and to find ranges",
            prefer_sample=True,
            in_address=True,
        )
        chosen = convert_inputs.draw(target, architecture)

        def begin(targets: Sequence[str]) -> None:
            convert_jobs.begin(
                [
                    convert_jobs.job(view, architecture, key, chosen.params, chosen.memory_bytes, chosen.time_s, data)
                    for key in targets
                ],
                view,
            )

        may = allowed and complete
        with chosen.one:
            if st.button("Convert", type="primary", key="run-Convert", disabled=not may, width="stretch"):
                begin([target])
        if len(possible) > 1:
            with chosen.every:
                if st.button("Convert to all", key="run-all", disabled=not may, width="stretch"):
                    begin(list(possible))
    if len(possible) > 1 or format_of(architecture).runtime != "tensorflow":
        convert_targets.say_refused(architecture)
    answers(view, architecture, target, begin if may else None)


def answers(view: session.View, architecture: Architecture, target: str, begin: convert_failure.Begin | None) -> None:
    """What is under way, the table of several, and the answer of the chosen target."""
    states = convert_jobs.shown(view, quiet=True)
    convert_jobs.watch(states, view)
    if len(states) > 1:
        convert_table.show(states)
    if not states:
        st.caption(
            "A target counts as converted when its own runtime has loaded the file and answered the same rows as the source. "
            "Where it cannot be converted, you get the operators, the layers they come from, and a way round."
        )
        possible = convert_targets.possible(architecture)
        if len(possible) > 1:
            convert_targets.good_for(possible)
    state = states.get(target)
    if state is None:
        if states:
            st.caption(f"Not converted to {convert_targets.title(target)} yet.")
        return
    if state.result is None:
        return
    if len(states) > 1:
        st.subheader(convert_targets.title(target), anchor=False)
    if state.result.status is Status.OK:
        convert_parts.answer(state, view)
    else:
        convert_failure.shown(state, view, architecture, states, begin)


def page() -> None:
    """The question, then whatever can be said about it."""
    view = session.current()
    render.question("Will this model run where it must?")
    architecture = described.architecture(view)
    if architecture is not None:
        ready(view, architecture)


page()
