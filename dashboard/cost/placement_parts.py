"""Train here, predict there: the clash and its remedies; and one device against several."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from dashboard import escape, figures, render, words
from dashboard.behaviour import evidence_figures
from stethoscope.findings import Curves, Line
from stethoscope.jobs.state import JobState
from stethoscope.types import Status

_DEFINED: Final = re.compile(r" \(defined @ [^()]*(?:\([^()]*\))?[^()]*\)")
"""Where TensorFlow says a variable was made: always a line of Keras' own."""


def clash(state: JobState) -> None:
    """What happened when the trained model predicted on another device, and what helps."""
    value = _value(state)
    if value is None:
        return
    found, attempts = value.get("clash"), list(value.get("attempts") or ())
    happened = bool(found and found["happened"])
    _verdict("careful" if happened else "good", "It clashes" if happened else "No clash", value["sentence"])
    if found and found.get("message"):
        st.caption("What TensorFlow says:")
        st.code(_DEFINED.sub("", str(found["message"])), language=None, wrap_lines=True)
    first = next((place for place, attempt in enumerate(attempts) if _works(attempt)), 0)
    for place, attempt in enumerate(attempts):
        _attempt(attempt, expanded=place == first)
    _assumed(value.get("assumed") or ())


def _works(attempt: Mapping[str, Any]) -> bool:
    return bool(attempt["works"] and attempt.get("equal"))


def _attempt(attempt: Mapping[str, Any], *, expanded: bool) -> None:
    works = _works(attempt)
    with st.container(border=True):
        tone: render.Tone = "plain" if not attempt["tried"] else "good" if works else "bad"
        label = "Not tried" if not attempt["tried"] else "Works" if works else "Does not work"
        render.verdict(tone, label, escape.markdown(attempt["title"], 120))
        if attempt.get("reason"):
            st.markdown(escape.sentences(attempt["reason"]))
        said = [_outputs(attempt.get("max_abs_diff"))] if works else []
        if attempt.get("note"):
            said.append(escape.sentences(attempt["note"]))
        if said:
            st.caption(" ".join(said))
        if attempt.get("code"):
            with st.expander("Code", expanded=expanded):
                st.code(attempt["code"], language="python", wrap_lines=True)


def _outputs(difference: Any) -> str:
    if difference is None:
        return "The outputs are the same."
    if float(difference) == 0:
        return "The outputs are identical."
    return f"The outputs differ by at most {words.difference(difference)}."


def replicas(state: JobState) -> None:
    """The loss curves on one device and on several, whether they agree, and what accounts for a difference."""
    value = _value(state)
    if value is None:
        return
    agree = value.get("agree")
    if agree is None:
        _verdict("plain", "No answer", value["sentence"])
    else:
        _verdict("good" if agree else "careful", "They agree" if agree else "They differ", value["sentence"])
    lines = [
        Line(str(curve["title"]), tuple(range(1, len(curve["losses"]) + 1)), tuple(curve["losses"]))
        for curve in value.get("curves") or ()
        if curve.get("losses")
    ]
    if lines:
        st.plotly_chart(
            evidence_figures.curves(Curves("Training loss", "Epoch", "Loss", tuple(lines))),
            config=figures.CONFIG,
            key="replica-losses",
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


def _verdict(tone: render.Tone, label: str, sentences: str) -> None:
    """The first sentence beside the badge, the others below."""
    first, _, rest = words.readable(sentences).partition(". ")
    render.verdict(tone, label, escape.markdown(first if not rest else f"{first}.", 400))
    if rest:
        st.markdown(escape.sentences(rest))


def _value(state: JobState) -> Mapping[str, Any] | None:
    assert state.result is not None
    if state.result.status is not Status.OK:
        render.ending(state)
    value = state.result.value
    return value if value.get("sentence") else None


def _assumed(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        st.caption(escape.sentences(str(sentence)))
