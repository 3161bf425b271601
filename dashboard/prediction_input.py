"""What the Prediction page feeds the model: random input, the sample's own data, or an uploaded .npz."""

from __future__ import annotations

import streamlit as st

from dashboard import escape, runs, session, upload_view, words
from dashboard.session import View
from stethoscope.errors import NotFound
from stethoscope.store import store
from stethoscope.types import Architecture, ModelFile

RANDOM, SAMPLE, OWN = "Random input", "Sample data", "Your data"


def choose(view: View, architecture: Architecture) -> tuple[ModelFile | None, bool]:
    """Draws the choice of input; returns the data file (None for random input) and whether the choice is complete."""
    assert view.entry is not None
    sample = runs.sample_data(view.entry)
    options = [RANDOM, *([SAMPLE] if sample else []), OWN]
    picked = st.segmented_control("Input", options, default=RANDOM, key="input", bind="query-params", required=True)
    if picked == SAMPLE and sample is not None:
        st.caption(f"{escape.code(sample.name)} comes with this sample model.")
        return sample, True
    if picked == OWN:
        data = _own(view, architecture)
        return data, data is not None
    return None, True


def _own(view: View, architecture: Architecture) -> ModelFile | None:
    chosen = session.recalled("data")
    if chosen:
        try:
            entry = store().get(chosen)
        except NotFound as error:
            st.warning(escape.sentences(error))
            session.remember("data", None)
        else:
            name, other = st.columns([4, 1], vertical_alignment="center")
            name.markdown(f"{escape.code(entry.name)} · {words.size(entry.size_bytes)}")
            other.button("Other data", on_click=session.remember, args=("data", None), width="stretch")
            return entry.file
    names = ", ".join(f"{escape.code(spec.name)} {words.shape(spec.shape)}" for spec in architecture.inputs[:6])
    st.caption(
        f"A .npz with one array per input: {names}."
        + (" For a single input, one array named x will do." if len(architecture.inputs) == 1 else "")
    )
    earlier = [entry for entry in store().list(view.owner) if session.is_data(entry)][:20]
    if earlier:
        names_by_id = {entry.id: escape.clip(entry.name, 60) for entry in earlier}
        st.selectbox(
            "Uploaded before", list(names_by_id), index=None, format_func=names_by_id.__getitem__, placeholder="Choose data uploaded before",
            key="earlier-data", on_change=_use_earlier, label_visibility="collapsed",
        )  # fmt: skip
    uploaded = upload_view.show(
        key="data-upload",
        title="Drop your data here",
        hint=".npz, or .npy for a single input. It stays on this server.",
        folders=False,
    )
    if uploaded and st.session_state.get("_data_arrived") != uploaded:
        st.session_state["_data_arrived"] = uploaded
        session.remember("data", uploaded[0])
        st.rerun()
    return None


def _use_earlier() -> None:
    session.remember("data", st.session_state.get("earlier-data"))
