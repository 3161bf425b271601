"""The model card and its parts: facts, inputs and outputs, compile settings, warnings, and code inside the file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import escape, figures, render, rerun, tables, words
from dashboard.session import View
from stethoscope.jobs.store import Entry, store
from stethoscope.types import Architecture, Hazard

_SHOWN_PLACES = 5
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def facts(pairs: Sequence[tuple[str, str, str]]) -> None:
    """A row of small facts that wraps: (label, Markdown-safe value, note)."""
    grid = st.grid(len(pairs), min_column_width=150, gap=("small", "medium"))
    for label, value, note in pairs:
        with grid.cell(), st.container(gap=None):
            st.caption(label)
            st.markdown(f"**{value}**")
            if note:
                st.caption(note)


def model(entry: Entry, architecture: Architecture) -> None:
    """The whole card of a described model."""
    facts(list(_facts(entry, architecture)))
    sides = st.grid(2, min_column_width=320, gap=("small", "medium"))
    with sides.cell():
        st.markdown(f"**{'Input' if len(architecture.inputs) == 1 else 'Inputs'}**")
        tensors(architecture.inputs, "The file does not say what the model reads.")
    with sides.cell():
        st.markdown(f"**{'Output' if len(architecture.outputs) == 1 else 'Outputs'}**")
        tensors(architecture.outputs, "The file does not say what the model returns.")
    compiled(architecture)
    if architecture.runnable:
        st.info(f"It can be looked at, but not run here: {escape.sentences(architecture.runnable)}")
    warnings(architecture.warnings)


def _facts(entry: Entry, architecture: Architecture) -> list[tuple[str, str, str]]:
    trainable = architecture.trainable_parameters
    if trainable is None:
        note = "the format does not say which are trainable"
    elif trainable == architecture.parameters:
        note = "all trainable"
    else:
        note = f"{words.count(trainable)} trainable"
    weights = f"{words.size(architecture.weight_bytes)} of weights" if architecture.weight_bytes else ""
    kind = architecture.display_format or architecture.format_id
    return [
        ("Format", escape.markdown(kind), escape.markdown(architecture.framework_version) or "version not stated"),
        ("File size", words.size(entry.size_bytes), weights),
        ("Parameters", words.count(architecture.parameters), note if architecture.parameters else ""),
        ("Layers", words.count(len(architecture.layers)), _kinds(architecture)),
    ]


def _kinds(architecture: Architecture) -> str:
    kinds = len({layer.type for layer in architecture.layers})
    return f"of {words.plural(kinds, 'type')}" if kinds else ""


def tensors(specs: Sequence[Any], when_none: str) -> None:
    """A table of inputs or outputs; says so when there are none."""
    if specs:
        st.dataframe(tables.tensors(specs), hide_index=True, height="content" if len(specs) <= 8 else 320)
    else:
        st.caption(when_none)


def compiled(architecture: Architecture) -> None:
    """How the model was compiled for training, in one line."""
    settings = architecture.compile
    if settings is None:
        st.caption("No training settings in the file: it was saved without compile(), or the format cannot hold them.")
        return
    parts = [("loss", settings.loss), ("optimizer", settings.optimizer), ("metrics", list(settings.metrics) or None)]
    said = [f"{label} {escape.code(_short(value))}" for label, value in parts if value]
    if settings.learning_rate is not None:
        rate = settings.learning_rate
        said.append(
            f"learning rate {words.given(rate) if isinstance(rate, int | float) else escape.code(_short(rate))}"
        )
    st.markdown("**Compiled with** " + (" · ".join(said) if said else "no loss or optimizer"))


def _short(value: Any) -> str:
    """A loss or metric as its name; a serialized object as its class and name."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        config = value.get("config")
        named = (config.get("name") if isinstance(config, dict) else None) or value.get("class_name")
        return str(named) if named else json.dumps(value)
    if isinstance(value, list | tuple):
        return ", ".join(_short(item) for item in value)
    return str(value)


def warnings(items: Sequence[str], shown: int = 3) -> None:
    """What the reader noticed about the file; more than a few are folded."""
    for text in items[:shown]:
        st.warning(escape.sentences(text))
    if len(items) > shown:
        with st.expander(f"{words.plural(len(items) - shown, 'more warning')}"):
            for text in items[shown : shown + 100]:
                st.markdown(f"- {escape.markdown(text, 600)}")


def hazards(view: View, items: Sequence[Hazard]) -> bool:
    """Says what code is inside the file and lets its owner allow it; returns whether the model may be run."""
    entry = view.entry
    if entry is None or not items:
        return True
    with st.container(border=True):
        places: dict[str, list[str]] = {}
        for hazard in items:
            places.setdefault(hazard.where or "model", []).append(hazard.message)
        many = words.plural(len(places), "place")
        if entry.trusted:
            render.verdict("plain", "Code allowed", f"This file holds code of its own in {many}; its owner allowed it.")
        else:
            render.verdict(
                "careful",
                "Holds code",
                f"This file holds code of its own in {many}. It is not run unless its owner says so.",
            )
        for where, messages in list(places.items())[:_SHOWN_PLACES]:
            st.markdown(f"- {escape.code(where)} · {escape.markdown(' '.join(_sentences(messages)), 600)}")
        if len(places) > _SHOWN_PLACES:
            st.caption(f"and {words.plural(len(places) - _SHOWN_PLACES, 'more place')}")
        if view.mine and not entry.trusted:
            st.button("Run its code…", key="trust", on_click=_ask_to_trust, args=(entry.id,))
            if st.session_state.get("_ask_to_trust") == entry.id:
                _confirm_trust(entry, view.owner)
        elif view.mine:
            if st.button("Do not run its code any more", key="distrust"):
                store().set_trusted(entry.id, view.owner, False)
                rerun.whole_page()
        elif not entry.trusted:
            st.caption("Only the owner of this model can allow it. Upload your own copy to decide for yourself.")
    return entry.trusted


def _sentences(messages: Sequence[str]) -> list[str]:
    """Every sentence of several messages once, in order."""
    return list(dict.fromkeys(sentence for message in messages for sentence in _SENTENCE.split(message)))


def _ask_to_trust(entry_id: str | None = None) -> None:
    st.session_state["_ask_to_trust"] = entry_id


@st.dialog("Run the code inside this file?", on_dismiss=_ask_to_trust)
def _confirm_trust(entry: Entry, owner: str) -> None:
    st.markdown(
        f"{escape.code(entry.name)} contains code that runs when the model is loaded. It will run in a contained process "
        "without network and without access to other files. Say yes only if you know where the file comes from."
    )
    yes, no = st.columns(2)
    if yes.button("Yes, run its code", key="trust-yes", type="primary", width="stretch"):
        store().set_trusted(entry.id, owner)
        _ask_to_trust()
        rerun.whole_page()
    if no.button("No", key="trust-no", width="stretch"):
        _ask_to_trust()
        rerun.whole_page()


def parameters_by_layer(architecture: Architecture) -> None:
    """The picture: which layers hold the parameters."""
    if any(layer.parameters for layer in architecture.layers):
        st.markdown("**Where the parameters are**")
        figure = figures.parameter_share(architecture.layers, architecture.parameters)
        st.plotly_chart(figure, config=figures.CONFIG, key="parameter-share", alt="Parameters by layer, largest first")
