"""An upload that a page works with beside the model: it stands in the address, so that a link brings it along."""

from __future__ import annotations

import streamlit as st

from dashboard import escape, rerun, session, upload_view, words
from stethoscope.errors import NotFound
from stethoscope.jobs.store import Entry, store
from stethoscope.types import UploadKind


def chosen(
    role: str,
    owner: str,
    *,
    key: str,
    title: str,
    hint: str,
    lead: str = "",
    other: str = "Other file",
    folders: bool = True,
    expected: UploadKind = UploadKind.LOGS,
) -> Entry | None:
    """The upload that stands in the address, with a button to let it go; else a place to drop one.

    Args:
        role: its name in the address.
        owner: who uploads.
        key: of the place to drop it.
        title: what the place says.
        hint: what it takes.
        lead: what is said above it.
        other: what the button says.
        folders: whether whole folders are taken.
        expected: what it takes.
    """
    known = session.recalled(role)
    if known:
        try:
            entry = store().get(known)
        except NotFound as error:
            st.warning(escape.sentences(error))
            session.remember(role, None)
        else:
            name, letting_go = st.columns([4, 1], vertical_alignment="center")
            name.markdown(f"{escape.code(entry.name)} · {words.size(entry.size_bytes)}")
            letting_go.button(other, key=f"other-{role}", on_click=session.remember, args=(role, None), width="stretch")
            return entry
    if lead:
        st.caption(lead)
    uploaded = upload_view.show(key=key, title=title, hint=hint, folders=folders, expected=expected)
    arrived = f"_{key}-arrived"
    if uploaded and st.session_state.get(arrived) != uploaded:
        st.session_state[arrived] = uploaded
        session.remember(role, uploaded[0])
        rerun.whole_page()
    return None
