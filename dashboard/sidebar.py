"""The sidebar: brand, the current model with switch, upload and link, the pages, and what is running."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard import analysis, copy_link, escape, fragments, navigation, progress, render, session, words
from stethoscope.errors import StethoscopeError
from stethoscope.jobs import engine
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry, store

_KINDS = {
    "describe": "Reading",
    "consistency": "Consistency",
    "predict": "Prediction",
    "profile": "Data profile",
    "examine": "Weights and activations",
    "train": "Short training run",
    "overfit": "Overfit test",
    "baseline": "Simple models",
    "score": "Scores",
    "prove": "Trying fixes",
    "read_logs": "Logs",
    "read_script": "Script",
    "read_runs": "Reading logs",
    "examine_runs": "Judging curves",
    "read_media": "Histograms and images",
    "read_versions": "Versions of data",
    "read_data": "Reading data",
    "label_doubts": "Label doubts",
    "sweep_training": "Memory of training",
}
BRAND = Path(__file__).parent / "brand.svg"
STYLE = Path(__file__).parent / "frame.css"
"""Our only style sheet for Streamlit's own page."""
REFRESH_S = 1.5
_MOST_BARS = 3
"""Jobs that each have a line; those that run come first."""


def show(view: session.View) -> None:
    """Draws the sidebar; call once a run, before the page."""
    st.logo(str(BRAND), size="large")
    with st.sidebar:
        # Not st.html: the browser loads that element's script late, and the page would jump.
        st.markdown(f"<style>{STYLE.read_text('utf-8')}</style>", unsafe_allow_html=True)
        _model(view)
        _pages()
        _running(view)


def _model(view: session.View) -> None:
    entry = view.entry
    with st.container(border=True, gap="xsmall", key="current-model"):
        if entry is None:
            st.markdown("**No model chosen**")
            st.caption("Upload one on the Overview page, or try a sample.")
            _switch(view)
            return
        name = entry.title or entry.name
        st.markdown(f"**{escape.markdown(name, 60)}**", help=escape.markdown(name, 300) if len(name) > 60 else None)
        st.caption(" · ".join(_about(view, entry)))
        _switch(view)
        upload, link = st.columns(2, gap="xsmall")
        if upload.button("Upload", key="upload-another", width="stretch", help="Upload another model"):
            session.forget()
            st.switch_page(navigation.page_files()[0].path)
        with link:
            copy_link.show()


def _about(view: session.View, entry: Entry) -> list[str]:
    about = [escape.markdown(entry.name, 40)] if entry.title else []
    kind = analysis.known_format(entry)
    if kind:
        about.append(escape.markdown(kind, 40))
    about.append(words.size(entry.size_bytes))
    about.append("sample" if entry.sample else "yours" if view.mine else "shared with you")
    return about


def _switch(view: session.View) -> None:
    here = view.entry.id if view.entry is not None else None
    found = [*session.recent_models(view.owner), *session.sample_models()]
    choices = {entry.id: entry for entry in found if entry.id != here}
    if not choices:
        return
    # The widget is keyed by the model: after a switch it starts afresh.
    st.selectbox(
        "Switch model",
        list(choices),
        index=None,
        format_func=lambda entry_id: escape.clip(choices[entry_id].title or choices[entry_id].name, 60),
        placeholder="Switch to another model" if here else "Choose a model",
        label_visibility="collapsed",
        key=f"switch-{here}",
        on_change=_switched,
        args=(f"switch-{here}",),
    )


def _switched(key: str) -> None:
    chosen = st.session_state.get(key)
    if chosen:
        session.choose(str(chosen))


def _pages() -> None:
    with st.container(gap=None, key="pages"):
        section = ""
        for page in sorted(navigation.page_files(), key=lambda page: navigation.SECTIONS.index(page.section)):
            if page.section != section:
                section = page.section
                st.caption(section)
            render.go_to(page.url_path, page.title, width="stretch")


def _running(view: session.View) -> None:
    def under_way() -> list[JobState]:
        return engine().jobs(owner=view.owner, active=True)

    def jobs() -> None:
        active = under_way()
        st.caption("Running")
        first = sorted(active, key=lambda state: state.status == "queued")[:_MOST_BARS]
        for state in first:
            progress.bar(state, subject=_subject(state.kind, state.entry_id), may_cancel=True, narrow=True)
        if len(active) > len(first):
            st.caption(f"and {len(active) - len(first):,} more")

    if under_way():
        fragments.moving(True, lambda: bool(under_way()), jobs, REFRESH_S)


def _subject(kind: str, entry_id: str) -> str:
    doing = _KINDS.get(kind, kind.capitalize())
    try:
        return f"{doing} · {escape.clip(store().get(entry_id).name, 30)}"
    except StethoscopeError:
        return doing
