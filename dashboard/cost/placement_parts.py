"""Train here, predict there: the clash and its remedies; and one device against several."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeVar

import streamlit as st

from dashboard import escape, figures, render, words
from dashboard.behaviour import evidence_figures
from stethoscope.architecture.xla_use import on_another_device, remedy_for_whom, xla_use
from stethoscope.checks.findings import Curves, Line
from stethoscope.codec import partial_of
from stethoscope.jobs.protocol import JobState
from stethoscope.training.placement.config_changes import ReplicaReport
from stethoscope.training.placement.placement_report import Attempt, PlacementReport
from stethoscope.types import Architecture, Status

A = TypeVar("A")
_DEFINED: Final = re.compile(r" \(defined @ [^()]*(?:\([^()]*\))?[^()]*\)")
"""Where TensorFlow says a variable was made: always a line of Keras' own."""


def tied(architecture: Architecture) -> None:
    """What the file says of XLA, what follows on another device, and which remedy is for whom."""
    told = on_another_device(architecture) or xla_use(architecture).sentence
    st.markdown(escape.sentences(told))
    with st.expander("Which remedy when"):
        for situation, what in remedy_for_whom():
            st.markdown(f"- **{escape.markdown(situation)}**: {escape.sentences(what)}")


def clash(state: JobState) -> None:
    """What happened when the trained model predicted on another device, and what helps."""
    report = _report(state, PlacementReport)
    if report is None or not report.sentence:
        return
    happened = report.clash is not None and report.clash.happened
    _verdict("careful" if happened else "good", "It clashes" if happened else "No clash", report.sentence)
    if report.clash and report.clash.message:
        st.caption("What TensorFlow says:")
        st.code(_DEFINED.sub("", report.clash.message), language=None, wrap_lines=True)
    first = next((place for place, attempt in enumerate(report.attempts) if _works(attempt)), 0)
    for place, attempt in enumerate(report.attempts):
        _attempt(attempt, expanded=place == first)
    _assumed(report.assumed)


def _works(attempt: Attempt) -> bool:
    return bool(attempt.works and attempt.equal)


def _attempt(attempt: Attempt, *, expanded: bool) -> None:
    works = _works(attempt)
    with st.container(border=True):
        tone: render.Tone = "plain" if not attempt.tried else "good" if works else "bad"
        label = "Not tried" if not attempt.tried else "Works" if works else "Does not work"
        render.verdict(tone, label, escape.markdown(attempt.title, 120))
        if attempt.reason:
            st.markdown(escape.sentences(attempt.reason))
        notes = [_outputs(attempt.max_abs_diff)] if works else []
        if attempt.note:
            notes.append(escape.sentences(attempt.note))
        if notes:
            st.caption(" ".join(notes))
        if attempt.when:
            st.markdown(escape.sentences(attempt.when))
        if attempt.code:
            with st.expander("Code", expanded=expanded):
                st.code(attempt.code, language="python", wrap_lines=True)


def _outputs(difference: float | None) -> str:
    if difference is None:
        return "The outputs are the same."
    if difference == 0:
        return "The outputs are identical."
    return f"The outputs differ by at most {words.difference(difference)}."


def replicas(state: JobState) -> None:
    """The loss curves on one device and on several, whether they agree, and what accounts for a difference."""
    report = _report(state, ReplicaReport)
    if report is None or not report.sentence:
        return
    if report.agree is None:
        _verdict("plain", "No answer", report.sentence)
    else:
        tone: render.Tone = "good" if report.agree else "careful"
        _verdict(tone, "They agree" if report.agree else "They differ", report.sentence)
    lines = [
        Line(curve.title, tuple(range(1, len(curve.losses) + 1)), curve.losses)
        for curve in report.curves
        if curve.losses
    ]
    if lines:
        st.plotly_chart(
            evidence_figures.curves(Curves("Training loss", "Epoch", "Loss", tuple(lines))),
            config=figures.CONFIG,
            key="replica-losses",
            alt="Training loss on one device and on several",
        )
    for suspect in report.suspects:
        with st.container(border=True):
            st.markdown(
                f"**{escape.markdown(suspect.title)}** explains {escape.markdown(suspect.explains)} of the difference"
            )
            st.markdown(escape.sentences(suspect.message))
            if suspect.code:
                st.code(suspect.code, language="python", wrap_lines=True)
    if report.code:
        with st.expander("The program for several devices"):
            st.code(report.code, language="python", wrap_lines=True)
    _assumed(report.assumed)


def _verdict(tone: render.Tone, label: str, sentences: str) -> None:
    """The first sentence beside the badge, the others below."""
    first, _, rest = words.readable(sentences).partition(". ")
    render.verdict(tone, label, escape.markdown(first if not rest else f"{first}.", 400))
    if rest:
        st.markdown(escape.sentences(rest))


def _report(state: JobState, kind: type[A]) -> A | None:
    """What is known; how the job ended is drawn where that was not well."""
    assert state.result is not None
    if state.result.status is not Status.OK:
        render.ending(state)
    return partial_of(state.result, kind)


def _assumed(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        st.caption(escape.sentences(sentence))
