"""Shared pieces of a page: its question, verdicts, endings that are not a result, and the edge where errors become words."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

import streamlit as st

from dashboard import escape, navigation, words
from stethoscope.errors import StethoscopeError
from stethoscope.jobs.protocol import JobState
from stethoscope.types import JobResult, Status

_LOG = logging.getLogger(__name__)
Tone = Literal["good", "bad", "careful", "plain"]
_BADGES: Mapping[Tone, Literal["green", "red", "orange", "gray"]] = {
    "good": "green",
    "bad": "red",
    "careful": "orange",
    "plain": "gray",
}
_ENDINGS: Mapping[Status, tuple[Tone, str, str]] = {
    Status.FAILED: ("bad", "Failed", "This run could not finish."),
    Status.OUT_OF_MEMORY: ("bad", "Out of memory", "The run needed more memory than its limit, and was stopped."),
    Status.TIMED_OUT: ("careful", "Timed out", "The run took longer than its time limit, and was stopped."),
    Status.CRASHED: ("bad", "Crashed", "The process that ran this model died. Nothing else was affected."),
    Status.CANCELLED: ("plain", "Cancelled", "This run was cancelled. Its memory and files are free again."),
    Status.REFUSED: ("careful", "Refused", "This file was not run."),
    Status.SKIPPED: ("plain", "Skipped", "This was not run."),
}


_ERRORS: Mapping[str, tuple[Tone, str, str]] = {
    "UnreadableFile": ("careful", "Unreadable", "This file cannot be read as a model."),
    "CannotRun": ("careful", "Cannot run", "This cannot be run here."),
    "BadInput": ("careful", "Input does not fit", "The model did not take this input."),
    "UnsafeFile": ("careful", "Refused", "This file does something that no model needs."),
    "TooLarge": ("careful", "Refused", "This file declares more than a model may."),
    "NeedsTrust": ("careful", "Holds code", "This file holds code of its own, which was not run."),
    "OutOfMemory": ("bad", "Out of memory", "The run needed more memory than its limit, and was stopped."),
}


_OF_DATA: Mapping[str, tuple[Tone, str, str]] = {
    "UnreadableFile": ("careful", "Unreadable", "This data cannot be read."),
    "UnsafeFile": ("careful", "Refused", "This data holds something that is not accepted."),
    "TooLarge": ("careful", "Refused", "This data declares more than is read."),
}
_OF_SCRIPTS: Mapping[str, tuple[Tone, str, str]] = {
    "UnreadableFile": ("careful", "Unreadable", "This cannot be read as a training script."),
    "TooLarge": ("careful", "Refused", "This is more than a training script has."),
}
_READS_DATA = ("read_data", "study_data")
_MOST_ROWS = 20
_ABOUT_THE_FILE = {"UnreadableFile", "UnsafeFile", "TooLarge", "NeedsTrust", "BadInput"}


def question(text: str, lead: str = "") -> None:
    """The first line of a page, and at most one sentence under it (our own words, not a file's)."""
    st.title(text, anchor=False)
    if lead:
        st.caption(lead)


def colour(tone: Tone) -> Literal["green", "red", "orange", "gray"]:
    """The badge colour of a tone."""
    return _BADGES[tone]


def verdict(tone: Tone, label: str, sentence: str) -> None:
    """A badge and one Markdown sentence (names in it already escaped)."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(label, color=_BADGES[tone])
        st.markdown(f"**{sentence}**")


def may_end_otherwise(result: JobResult) -> bool:
    """Whether the same job might end in another way next time: what is wrong with a file stays wrong."""
    by_chance = (Status.CANCELLED, Status.TIMED_OUT, Status.CRASHED, Status.OUT_OF_MEMORY)
    return result.status in by_chance or bool(result.incident)


def ending(state: JobState) -> None:
    """Says how a job ended when it left no answer; every ending gives a reason and, for bugs, a short id."""
    result = state.result
    if result is None:
        return
    unknown: tuple[Tone, str, str] = ("careful", "No answer", "This run left no answer.")
    of_kind = _OF_DATA if state.kind in _READS_DATA else _OF_SCRIPTS if state.kind == "read_script" else {}
    errors = {**_ERRORS, **of_kind}
    tone, label, fallback = errors.get(result.error) or _ENDINGS.get(result.status, unknown)
    with st.container(border=True):
        verdict(tone, label, fallback)
        if result.reason and result.status is not Status.CANCELLED:
            st.markdown(escape.sentences(result.reason))
        circumstances = list(_circumstances(result))
        if circumstances:
            st.caption(" · ".join(circumstances))


def _circumstances(result: JobResult) -> Iterator[str]:
    # What a file says wrongly does not depend on when or where it was noticed.
    if result.error not in _ABOUT_THE_FILE:
        if result.phase:
            yield f"phase: {escape.markdown(result.phase)}"
        if result.wall_s:
            yield f"after {words.duration(result.wall_s)}"
        if result.peak_rss_bytes:
            yield f"peak memory {words.size(result.peak_rss_bytes)}"
    if result.incident:
        yield f"report id {escape.markdown(result.incident)}"


@contextmanager
def errors_as_words() -> Iterator[None]:
    """Turns what we cannot do into a sentence, and a bug into a short id with its traceback in the log."""
    try:
        yield
    except StethoscopeError as error:
        st.error(escape.sentences(error))
    except Exception:  # noqa: BLE001 - the edge of the app: the log has the traceback, the user a short id
        incident = secrets.token_hex(3)
        _LOG.exception("incident %s", incident)
        st.error(
            f"Something went wrong on our side; your model and your results are safe. Reload the page to try again. "
            f"If it happens again, tell the operator the report id **{incident}**."
        )


def empty(sentence: str) -> None:
    """What would be here, and why it is not."""
    with st.container(border=True):
        st.markdown(sentence)


def outcomes(columns: Mapping[str, Sequence[str]]) -> None:
    """A table of runs whose last column, Ended, may say more than "done"."""
    rows = len(columns["Ended"])
    said = any(len(text) > 30 for text in columns["Ended"])
    st.dataframe(
        columns,
        hide_index=True,
        height="content" if rows <= _MOST_ROWS else 40 * _MOST_ROWS,
        column_config={"Ended": st.column_config.TextColumn(width="large")} if said else None,
    )


def go_to(url_path: str, label: str, *, width: Literal["content", "stretch"] = "content", **params: str) -> None:
    """A link to one of our pages that keeps the view: `params` go into its address."""
    for page in navigation.page_files():
        if page.url_path == url_path:
            kept = {"model": st.query_params["model"]} if "model" in st.query_params else {}
            st.page_link(page.path, label=label, width=width, query_params={**kept, **params} or None)
