"""The sidebar: brand, the current model with switch, upload and share, and what is running."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from dashboard import escape, navigation, progress, session, words
from stethoscope.errors import StethoscopeError
from stethoscope.jobs import engine
from stethoscope.store import Entry, store

_KINDS = {"describe": "Reading", "consistency": "Consistency", "predict": "Prediction"}
BRAND = Path(__file__).parent / "brand.svg"
REFRESH_S = 1.5
FRAME_CSS = """
.stMainBlockContainer { padding-left: 2.5rem; padding-right: 2.5rem; max-width: 1500px; }
[data-testid="stSidebarUserContent"] { padding-top: 0.5rem; }
"""
"""Our only style sheet: Streamlit's wide layout leaves margins that a graph beside a table needs."""


def show(view: session.View) -> None:
    """Draws the sidebar; call once a run, before the page."""
    st.logo(str(BRAND), size="large")
    st.html(f"<style>{FRAME_CSS}</style>")
    with st.sidebar:
        _model(view)
        _running(view)


def _model(view: session.View) -> None:
    entry = view.entry
    with st.container(border=True, gap="xsmall"):
        if entry is None:
            st.markdown("**No model chosen**")
            st.caption("Upload one on the Overview page, or try a sample.")
        else:
            st.markdown(f"**{escape.markdown(entry.title or entry.name, 60)}**")
            about = [escape.markdown(entry.name, 40)] if entry.title else []
            st.caption(" · ".join([*about, words.size(entry.size_bytes), _whose(view, entry)]))
        _switch(view)
        if entry is not None:
            if st.button("Upload another", key="upload-another", width="stretch"):
                session.forget()
                st.switch_page(navigation.page_files()[0].path)
            with st.popover("Share", width="stretch"):
                st.caption(
                    "Anyone who can open this server sees this model with this link. Only its owner can remove it."
                )
                st.code(_link(), language=None, wrap_lines=True)


def _whose(view: session.View, entry: Entry) -> str:
    if entry.sample:
        return "sample"
    return "yours" if view.mine else "shared with you"


def _switch(view: session.View) -> None:
    choices = {entry.id: entry for entry in [*session.recent_models(view.owner), *session.sample_models()]}
    if view.entry is not None:
        choices = {view.entry.id: view.entry, **choices}
    if not choices:
        return
    here = view.entry.id if view.entry is not None else None
    # The widget is keyed by the model: after a switch elsewhere it starts afresh on the new one.
    st.selectbox(
        "Switch model",
        list(choices),
        index=0 if here else None,
        format_func=lambda entry_id: escape.clip(choices[entry_id].title or choices[entry_id].name, 60),
        placeholder="Choose a model",
        label_visibility="collapsed",
        key=f"switch-{here}",
        on_change=_switched,
        args=(f"switch-{here}",),
    )


def _switched(key: str) -> None:
    chosen = st.session_state.get(key)
    if chosen:
        session.choose(str(chosen))


def _link() -> str:
    address = (st.context.url or "").split("?")[0].split("#")[0]
    query = urlencode(st.query_params.to_dict())
    return f"{address}?{query}" if query else address


def _running(view: session.View) -> None:
    if not engine().jobs(owner=view.owner, active=True):
        return

    @st.fragment(run_every=REFRESH_S)
    def jobs() -> None:
        active = engine().jobs(owner=view.owner, active=True)
        if not active:
            st.rerun()
        st.caption("Running")
        for state in active:
            progress.bar(state, subject=_subject(state.kind, state.entry_id), may_cancel=True, narrow=True)

    jobs()


def _subject(kind: str, entry_id: str) -> str:
    doing = _KINDS.get(kind, kind.capitalize())
    try:
        return f"{doing} · {escape.clip(store().get(entry_id).name, 30)}"
    except StethoscopeError:
        return doing
