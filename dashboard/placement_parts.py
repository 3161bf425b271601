"""Train here, predict there: the clash and its remedies; and one device against several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import escape, evidence_figures, figures, render, words
from stethoscope.findings import Curves, Line
from stethoscope.jobs.state import JobState
from stethoscope.types import Status


def clash(state: JobState) -> None:
    """What happened when the trained model predicted on another device, and what helps."""
    value = _value(state)
    if value is None:
        return
    found, attempts = value.get("clash"), list(value.get("attempts") or ())
    happened = bool(found and found["happened"])
    render.verdict(
        "careful" if happened else "good",
        "It clashes" if happened else "No clash",
        escape.markdown(value["sentence"], 600),
    )
    if found and found.get("message"):
        st.caption("What TensorFlow says:")
        st.code(str(found["message"]), language=None, wrap_lines=True)
    for attempt in attempts:
        works = attempt["works"] and attempt.get("equal")
        with st.container(border=True):
            tone = "plain" if not attempt["tried"] else "good" if works else "bad"
            label = "Not tried" if not attempt["tried"] else "Works" if works else "Does not work"
            render.verdict(tone, label, escape.markdown(attempt["title"], 120))  # type: ignore[arg-type]
            if attempt.get("reason"):
                st.markdown(escape.sentences(attempt["reason"]))
            if works:
                st.caption(f"Outputs differ by at most {words.difference(attempt.get('max_abs_diff'))}.")
            if attempt.get("note"):
                st.caption(escape.sentences(attempt["note"]))
            if attempt.get("code"):
                st.code(attempt["code"], language="python", wrap_lines=True)
    _assumed(value.get("assumed") or ())


def replicas(state: JobState) -> None:
    """The loss curves on one device and on several, whether they agree, and what accounts for a difference."""
    value = _value(state)
    if value is None:
        return
    agree = value.get("agree")
    tone, label = (
        ("good", "They agree") if agree else ("plain", "No answer") if agree is None else ("careful", "They differ")
    )
    render.verdict(tone, label, escape.markdown(value["sentence"], 700))  # type: ignore[arg-type]
    lines = [
        Line(str(curve["title"]), tuple(range(1, len(curve["losses"]) + 1)), tuple(curve["losses"]))
        for curve in value.get("curves") or ()
        if curve.get("losses")
    ]
    if lines:
        st.plotly_chart(
            evidence_figures.curves(Curves("Training loss", "Epoch", "Loss", tuple(lines))),
            config=figures.CONFIG,
            key="replicas",
            alt="Training loss on one device and on several",
        )
    for suspect in value.get("suspects") or ():
        with st.container(border=True):
            st.markdown(
                f"**{escape.markdown(suspect['title'])}** explains {escape.markdown(suspect['explains'])} of the difference"
            )
            st.markdown(escape.sentences(suspect["message"]))
            if suspect.get("code"):
                st.code(suspect["code"], language="python", wrap_lines=True)
    if value.get("code"):
        with st.expander("The program for several devices"):
            st.code(value["code"], language="python", wrap_lines=True)
    _assumed(value.get("assumed") or ())


def _value(state: JobState) -> Mapping[str, Any] | None:
    assert state.result is not None
    if state.result.status is not Status.OK:
        render.ending(state)
    value = state.result.value
    return value if value.get("sentence") else None


def _assumed(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        st.caption(escape.sentences(str(sentence)))
