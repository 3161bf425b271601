"""The model card and its parts: facts, inputs and outputs, compile settings, warnings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import escape, figures, tables, words
from stethoscope.jobs.store import Entry
from stethoscope.models.weights_only import Part
from stethoscope.types import Architecture


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
    if architecture.runnable and not architecture.missing:
        st.info(f"It can be looked at, but not run here: {escape.sentences(architecture.runnable)}")
    warnings(architecture.warnings)


def weights(entry: Entry, architecture: Architecture) -> None:
    """The card of weights without a graph."""
    *known, _ = _facts(entry, architecture)
    own = sum(layer.type == Part.WEIGHT.value for layer in architecture.layers)
    facts([*known, ("Arrays", words.count(len(architecture.layers)), f"{words.count(own)} of them the model's own")])
    st.info(escape.sentences(architecture.runnable))
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


def parameters_by_layer(architecture: Architecture) -> None:
    """The picture: which layers hold the parameters."""
    if any(layer.parameters for layer in architecture.layers):
        st.markdown("**Where the parameters are**")
        figure = figures.parameter_share(architecture.layers, architecture.parameters)
        st.plotly_chart(figure, config=figures.CONFIG, key="parameter-share", alt="Parameters by layer, largest first")
