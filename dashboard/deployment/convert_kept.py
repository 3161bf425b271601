"""What to do with a converted model: download it, keep it as a model here, compare it with the original."""

from __future__ import annotations

import streamlit as st

from dashboard import escape, render, session, words
from dashboard.routes import conversions
from dashboard.routes.conversions import Converted
from dashboard.session import View
from stethoscope.errors import NotFound, StethoscopeError
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry, store
from stethoscope.tasks.convert import Conversion


def actions(state: JobState, conversion: Conversion, view: View) -> None:
    """The buttons under the answer of a finished conversion."""
    assert state.result is not None and view.entry is not None
    try:
        found = conversions.converted(state.id, state.result)
    except NotFound:
        st.caption("The file itself is not kept any more. Convert again to have it.")
        return
    name = conversions.file_name(view.entry.name, conversion.target, found)
    kept = _kept(state, view)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.link_button(
            f"Download {escape.markdown(name, 60)} ({words.size(found.size_bytes)})",
            conversions.address(state.id, name),
        )
        if kept is None:
            st.button(
                "Open as a model here",
                key="keep-converted",
                on_click=_keep,
                args=(state, view, found, name),
                help="Adds the file to your models, so that every page works with it, and you can compare it with the original",
            )
    if kept is not None:
        _now_a_model(kept)
    refused = st.session_state.pop("_keep-refused", "")
    if refused:
        st.warning(escape.sentences(refused))


def _now_a_model(entry: Entry) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f"{escape.code(entry.name)} is among your models now.")
        st.button("Switch to it", key="open-converted", on_click=session.choose, args=(entry.id,))
        render.go_to("parity", "Compare it with the original →", other=entry.id)


def _keep(state: JobState, view: View, found: Converted, name: str) -> None:
    """Adds the file to the visitor's models, once."""
    before = store().list(view.owner)
    try:
        with store().upload(view.owner, found.size_bytes) as upload:
            for chunk in found.chunks():
                upload.write(chunk)
            entry = upload.commit(name, view.owner)
    except StethoscopeError as error:
        st.session_state["_keep-refused"] = str(error)
        return
    same = next((one for one in before if one.sha256 == entry.sha256), None)
    if same is not None:
        store().remove(entry.id, view.owner)
    st.session_state[_key(state)] = (same or entry).id


def _kept(state: JobState, view: View) -> Entry | None:
    known = st.session_state.get(_key(state))
    if known is None:
        return None
    try:
        entry = store().get(str(known))
    except NotFound:
        return None
    return entry if entry.owner == view.owner else None


def _key(state: JobState) -> str:
    return f"_kept-{state.id}"
