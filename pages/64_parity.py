"""Does the other one answer the same?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import described, escape, linked, own_code, panel, render, run_limits, session
from dashboard.data import data_choice
from dashboard.deployment import (
    parity_jobs,
    parity_others,
    parity_parts,
    parity_table,
    parity_ways,
    speed_inputs,
    speed_jobs,
    speed_parts,
)
from dashboard.deployment.parity_jobs import Other
from dashboard.deployment.parity_parts import Compared
from stethoscope.jobs.store import Entry
from stethoscope.types import Architecture

PAGE = {"title": "Parity", "section": "Deployment", "url_path": "parity", "icon": ""}
LOOKS = {"answers": "Answers", "speed": "Speed and size"}
QUESTIONS = {"answers": "Does the other one answer the same?", "speed": "Which one is faster, and which is smaller?"}


def settings() -> tuple[dict[str, Any], DeltaGenerator]:
    """The few settings that matter in one row, the rest under More; and where the button goes."""
    row = st.grid(3, min_column_width=150, vertical_alignment="bottom")
    count, more, go = (row.cell() for _ in range(3))
    params: dict[str, Any] = {
        "rows": int(
            count.number_input(
                "Rows", 1, 10_000, 32, key="rows", bind="query-params", help="Both models answer the same rows"
            )
        )
    }
    with more.popover("More", width="stretch"):
        params["layers"] = st.toggle(
            "Look for the layer at which they part",
            True,
            key="layers",
            bind="query-params",
            help="Compares every layer's output on the first rows; without it only the outputs are compared",
        )
        params["edges"] = st.toggle(
            "Edge cases",
            True,
            key="edges",
            bind="query-params",
            help="Also gives both zeros, very large values, NaN and infinities",
        )
        each = st.number_input(
            "Rows in a call",
            1,
            10_000,
            None,
            key="per-call",
            bind="query-params",
            placeholder="all at once",
            help="Fewer need less memory",
        )
        if each:
            params["batch_size"] = int(each)
        params["seed"] = int(
            st.number_input(
                "Seed", 0, 2**31 - 1, 0, key="seed", bind="query-params", help="Makes random input repeatable"
            )
        )
    return params, go


def ready(view: session.View, architecture: Architecture) -> None:
    """The other models, the input, the button; and the answers of what was compared."""
    assert view.entry is not None
    allowed = own_code.allowed(view, architecture)
    if not run_limits.runnable(architecture):
        return
    with st.container(border=True):
        before = list(parity_jobs.shown(view, quiet=True))
        others = parity_others.choose(view, [one for one in before if parity_ways.settings_of(one) is None])
        ways = parity_ways.choose(architecture, before)
        data, complete = data_choice.choose(
            view, architecture, none="Random input", key="input", label="Input", prefer_sample=True, in_address=True
        )
        params, go = settings()
        read = parity_others.architectures(view, others)
        may = allowed and complete and bool(others or ways) and runnable(view, others, read)
        if go.button("Compare", type="primary", key="run-Compare", disabled=not may, width="stretch"):
            asked = [(Other(one.id, one), read[one.id]) for one in others]
            asked += [(Other(one, view.entry, parity_ways.settings_of(one)), architecture) for one in ways]
            parity_jobs.begin(parity_jobs.jobs(view, architecture, asked, params, data), view)
    answers(view, architecture, others)


def runnable(view: session.View, others: Sequence[Entry], read: Mapping[str, Architecture]) -> bool:
    """Whether each of the other models is read and may be run; says of each that cannot why."""
    found = len(read) == len(others)
    for one in others:
        there = read.get(one.id)
        if there is None:
            continue
        if there.runnable:
            st.markdown(f"**{escape.code(one.name)} cannot be run here.** {escape.sentences(there.runnable)}")
            found = False
        else:
            found = parity_others.sentence_of_untrusted(view, one, there) and found
    return found


def answers(view: session.View, architecture: Architecture, others: Sequence[Entry]) -> None:
    """What is under way, the table of several, and the answer of the chosen one."""
    assert view.entry is not None
    states = parity_jobs.shown(view)
    if not states:
        if not others:
            parity_others.invitation(view)
        else:
            st.caption(
                "Both models get the same rows. Their outputs are compared, then every layer, across formats, to the first one that "
                "parts; its cause is tried on the layer's own input."
            )
        return
    known = parity_others.names([view.entry.id, *states])
    panel.watch(states, known, view, parity_jobs.MOST)
    chosen = next(iter(states)) if len(states) == 1 else parity_table.choose(states, known)
    state = states[chosen]
    if state.result is None:
        return
    if len(states) > 1:
        st.subheader(escape.markdown(known[chosen], 80), anchor=False)
    parity_parts.answer(state, view, Compared(known[view.entry.id], known[chosen], architecture))


def speed(view: session.View, architecture: Architecture) -> None:
    """The other models, the settings, the button; and the times."""
    allowed = own_code.allowed(view, architecture)
    if not run_limits.runnable(architecture):
        return
    with st.container(border=True):
        others = parity_others.choose(view, speed_jobs.other_ids(speed_jobs.shown(view, quiet=True)))
        data, complete = data_choice.choose(
            view, architecture, none="Random input", key="input", label="Input", prefer_sample=True, in_address=True
        )
        read = parity_others.architectures(view, others)
        params, go = speed_inputs.settings((architecture, *read.values()))
        may = runnable(view, others, read) and allowed and complete and params is not None
        if go.button("Take times", type="primary", key="run-Times", disabled=not may, width="stretch"):
            assert params is not None
            speed_jobs.begin(speed_jobs.job(view, architecture, others, read, params, data), view)
    speed_parts.show(view)


def page() -> None:
    """The question, then whatever can be said about it."""
    view = session.current()
    head = st.container()
    architecture = described.architecture(view)
    look = "answers"
    if architecture is not None:
        look = linked.segments("View", LOOKS, look, "look")
    with head:
        render.question(QUESTIONS[look])
    if architecture is not None:
        {"answers": ready, "speed": speed}[look](view, architecture)


page()
