"""No data yet: where to drop some, sets to try, what was uploaded before."""

from __future__ import annotations

import streamlit as st

from dashboard import escape, render, rerun, session, upload_view, words
from dashboard.data import chosen_data
from dashboard.session import View
from stethoscope.jobs.store import Entry
from stethoscope.types import UploadKind

HINT = (
    "A table (.csv, .parquet), arrays (.npz, .npy), TFRecord, text or JSON lines, WAV, images in folders, or images with COCO, "
    "YOLO, Pascal VOC and other annotations, as a folder, zip or tar. It stays on this server."
)
_RECENT = 8


def show(view: View) -> None:
    """Draws the choice of data; what is chosen stands in the address."""
    if view.problem:
        st.warning(escape.sentences(view.problem))
    st.caption("Drop it here: it is read where it lies, and nothing of it is executed.")
    uploaded = upload_view.show(
        key="data-set", title="Drop data here", hint=HINT, together=True, expected=UploadKind.DATA
    )
    if uploaded and st.session_state.get("_data_set_arrived") != uploaded:
        st.session_state["_data_set_arrived"] = uploaded
        session.choose_data(uploaded[0])
        rerun.whole_page()
    _with_model(view)
    _earlier(view)
    _to_try()


def _with_model(view: View) -> None:
    own = None if view.entry is None else chosen_data.with_model(view.entry)
    if own is not None:
        assert view.entry is not None
        with st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(
                f"**{escape.code(own.name)}** comes with {escape.markdown(view.entry.title or view.entry.name, 60)} · "
                f"{words.size(own.size_bytes)}",
                width="content",
            )
            st.button(
                "Open it",
                key="open-with-model",
                type="primary",
                on_click=session.choose_data,
                args=(session.WITH_MODEL,),
            )


def _earlier(view: View) -> None:
    found = session.recent_data(view.owner)[:_RECENT]
    if found:
        st.subheader("Your recent data", anchor=False)
        _cards(found, "recent")


def _to_try() -> None:
    found = session.sample_data_sets()
    if found:
        st.subheader("Or try one of these", anchor=False)
        _cards(found, "try")


def _cards(found: list[Entry] | tuple[Entry, ...], key: str) -> None:
    grid = st.grid(4, min_column_width=230, gap="small")
    for entry in found:
        with grid.cell(), st.container(border=True, gap="xsmall", key=f"tile-{key}-{entry.id}"):
            with st.container(gap="xsmall"):
                st.markdown(f"**{escape.markdown(entry.title or entry.name, 60)}**")
                about = escape.markdown(entry.description or entry.behaviour, 320)
                st.caption(f"{about} · {words.size(entry.size_bytes)}" if about else words.size(entry.size_bytes))
            st.button(
                "Open", key=f"open-{key}-{entry.id}", on_click=session.choose_data, args=(entry.id,), width="stretch"
            )


def gone(sentence: str) -> None:
    """Says that the data of a link is not there, and lets it go."""
    render.empty(escape.sentences(sentence))
    st.button("Choose other data", key="other-data-gone", on_click=session.choose_data, args=(None,))
