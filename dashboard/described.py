"""The description of the current model, in whatever state it is: absent, being read, partial, there, or refused."""

from __future__ import annotations

import streamlit as st

from dashboard import analysis, escape, navigation, panel, progress, render, rerun, session
from dashboard.session import View
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import store
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture, Status, UploadKind

_SAMPLES = 4


def architecture(
    view: View, state: JobState | None = None, *, say_if_partial: bool = False, weights_too: bool = False
) -> Architecture | None:
    """The model's architecture; None after drawing why there is none (yet).

    Args:
        view: whose model.
        state: of the job that describes it, where the page has looked at it already: it may have ended since.
        say_if_partial: also say when only the drawing is missing, which pages that draw nothing need not.
        weights_too: also of weights without a graph, which a page about a model can say nothing of.
    """
    if view.entry is None:
        nothing_chosen(view)
        return None
    state = state or analysis.describe(view.entry)
    if not state.done:
        progress.watch(state, subject=view.entry.name, may_cancel=panel.may_cancel(state, view))
        st.skeleton(height=220)
        return None
    found = _read(view, state, say_if_partial)
    if found is None or weights_too or not format_of(found).only_weights:
        return found
    st.info(escape.sentences(found.runnable))
    render.go_to("architecture", "See these weights →")
    return None


def nothing_chosen(view: View) -> None:
    """The empty state of every page but Overview."""
    if view.problem:
        st.warning(escape.sentences(view.problem))
    with st.container(border=True):
        st.markdown("**Choose a model first.** Upload one, or try a sample:")
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            if st.button("Upload a model", key="empty-upload", type="primary"):
                st.switch_page(navigation.page_files()[0].path)
            for entry in session.sample_models()[:_SAMPLES]:
                st.button(
                    escape.markdown(entry.title or entry.name, 48),
                    key=f"empty-{entry.id}",
                    help=escape.markdown(entry.behaviour, 200) or None,
                    on_click=session.choose,
                    args=(entry.id,),
                )


def _read(view: View, state: JobState, say_if_partial: bool) -> Architecture | None:
    result = state.result
    if result is None:
        return None
    found = analysis.architecture_in(result)
    if found is None:
        render.ending(state)
        _again(view, state)
        _as_data(view, result.error)
    elif result.status is not Status.OK and say_if_partial:
        with st.container(border=True):
            render.verdict(
                "careful", "Partly read", "The layers are known, but the graph could not be prepared for drawing."
            )
            st.caption(
                escape.sentences(result.reason)
                + (f" · report id {escape.markdown(result.incident)}" if result.incident else "")
            )
            _again(view, state)
    return found


def _as_data(view: View, error: str) -> None:
    """What is no model may be data: images and tables travel in archives, as models do."""
    if not view.mine or view.entry is None or error != "UnreadableFile":
        return
    if st.button("Open it as data", key="open-as-data"):
        store().set_kind(view.entry.id, view.owner, UploadKind.DATA)
        session.forget()
        session.choose_data(view.entry.id)
        st.switch_page(next(page.path for page in navigation.page_files() if page.url_path == "data"))


def _again(view: View, state: JobState) -> None:
    assert view.entry is not None and state.result is not None
    if render.may_end_otherwise(state.result) and st.button("Read it again", key="describe-again"):
        analysis.describe(view.entry, again=True)
        rerun.whole_page()
