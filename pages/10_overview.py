"""What is in this model, and where do I start?"""

from __future__ import annotations

import streamlit as st

from dashboard import (
    analysis,
    cards,
    described,
    escape,
    navigation,
    overview_tiles,
    own_code,
    pasted,
    render,
    rerun,
    session,
    upload_view,
)
from stethoscope.jobs.store import store
from stethoscope.models.formats import format_of
from stethoscope.types import UploadKind

PAGE = {"title": "Overview", "section": "Model", "url_path": "overview", "icon": ""}


def upload() -> None:
    """The drop zone; the first model that arrives becomes the current one, data and logs lead to their own pages."""
    uploaded = upload_view.show(key="upload")
    arrived = [store().get(one) for one in uploaded]
    if not arrived or st.session_state.get("_arrived") == uploaded:
        return
    st.session_state["_arrived"] = uploaded
    first = {entry.kind: entry.id for entry in reversed(arrived)}
    if model := first.get(UploadKind.MODEL):
        session.choose(model)
        rerun.whole_page()
    if data := first.get(UploadKind.DATA):
        session.choose_data(data)
        st.switch_page(next(page.path for page in navigation.page_files() if page.url_path == "data"))
    if script := first.get(UploadKind.SCRIPT):
        session.choose_script(script)
        st.switch_page(next(page.path for page in navigation.page_files() if page.url_path == "script"))
    session.choose_log(first[UploadKind.LOGS])
    st.switch_page(next(page.path for page in navigation.page_files() if page.url_path == "training"))


def welcome(view: session.View) -> None:
    """No model yet: upload, samples, recent ones."""
    render.question("What is wrong with your model?", "Drop it here. It is read without running any of its code.")
    if view.problem:
        st.warning(escape.sentences(view.problem))
    upload()
    st.subheader("Or paste an error message", anchor=False)
    pasted.box()
    recent = session.recent_models(view.owner)
    if recent:
        st.subheader("Your recent models", anchor=False)
        overview_tiles.models(recent[:8], key="recent")
    samples = session.sample_models()
    if samples:
        st.subheader("Or try a sample", anchor=False)
        overview_tiles.samples(samples, key="sample")


def opened(view: session.View) -> None:
    """A model is chosen: its card, what is inside, what to do next."""
    assert view.entry is not None
    entry = view.entry
    overview_tiles.heading(view)
    if entry.sample and (entry.behaviour or entry.description):
        st.markdown(escape.sentences(entry.description or entry.behaviour))
    architecture = described.architecture(view, say_if_partial=True, weights_too=True)
    if architecture is not None and format_of(architecture).only_weights:
        cards.weights(entry, architecture)
        render.go_to("architecture", "See every array, and compare them with a model or other weights →")
        cards.parameters_by_layer(architecture)
    elif architecture is not None:
        overview_tiles.health(view, architecture)
        cards.model(entry, architecture)
        own_code.allowed(view, architecture, at_length=True)
        st.subheader("What to do next", anchor=False)
        overview_tiles.next_steps(entry, architecture)
        cards.parameters_by_layer(architecture)
    with st.expander("Explain an error message", expanded=pasted.PARAM in st.query_params):
        pasted.box()
    with st.expander("Open another model", expanded=architecture is None and not analysis.reading(entry)):
        upload()
        others = [other for other in session.recent_models(view.owner) if other.id != entry.id]
        overview_tiles.models(others[:8], key="other")
        overview_tiles.samples(
            [sample for sample in session.sample_models() if sample.id != entry.id], key="other-sample"
        )


here = session.current()
if here.entry is None:
    welcome(here)
else:
    opened(here)
