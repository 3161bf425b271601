"""One layer in detail: what it is, what it reads and feeds, what it costs, its settings and its weights."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import streamlit as st

from dashboard import escape, session, words
from dashboard.architecture import layer_columns, weights_parts
from dashboard.architecture.layer_measures import Measure, layer_costs
from dashboard.session import View
from stethoscope.architecture.open_sizes import Sizes
from stethoscope.types import Architecture, Layer

_SHOWN_NEIGHBOURS = 6


def details(
    view: View, architecture: Architecture, layer: Layer, measures: Mapping[str, Measure], batch: int, sizes: Sizes
) -> None:
    """The selected layer."""
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"{escape.code(layer.path, 200)} · {escape.markdown(layer.type)}")
        st.caption(" · ".join(_facts(architecture, layer)))
        st.caption(" · ".join(_costs(architecture, layer, measures, batch, sizes)))
        feeds = [target for source, target in architecture.edges if source == layer.path]
        known = {other.path for other in architecture.layers}
        _neighbours("Reads", [name for name in layer.inputs if name in known])
        _neighbours("Feeds", feeds)
        if layer.config:
            with st.expander("Settings"):
                _settings(layer)
        if layer.parameters:
            weights_parts.show(view, layer)


def _facts(architecture: Architecture, layer: Layer) -> Iterator[str]:
    yield f"output {words.shape(layer.output_shape)}"
    if layer.dtype:
        yield escape.markdown(layer.dtype)
    if layer.calls > 1:
        yield f"called {words.count(layer.calls)} times, with the same weights"
    if not layer.parameters:
        yield "no parameters"
        return
    share = words.share(layer.parameters, architecture.parameters)
    yield f"{words.plural(layer.parameters, 'parameter')} ({share} of the model)"
    trainable = layer.trainable_parameters
    if architecture.trainable_parameters is not None and trainable != layer.parameters:
        yield f"{words.count(trainable)} trainable" if trainable else "frozen"
    initialiser = layer_columns.initialiser(layer)
    if initialiser:
        yield f"started as {escape.markdown(initialiser)}"


def _costs(
    architecture: Architecture, layer: Layer, measures: Mapping[str, Measure], batch: int, sizes: Sizes
) -> Iterator[str]:
    cost = next((one for one in layer_costs(architecture, batch, sizes) if one.path == layer.path), None)
    if cost is not None:
        if cost.flops is not None:
            yield words.operations(cost.flops)
        elif cost.why_not:
            yield f"FLOPs: {escape.markdown(cost.why_not.rstrip('.'))}"
        if cost.output_bytes is not None:
            yield f"{words.size(cost.output_bytes)} of output"
        yield f"at batch {words.count(batch)}"
    field = layer_columns.fields(architecture).get(layer.path)
    if field is not None:
        seen = "the whole input" if field.is_global else f"{layer_columns.field_text(field)} of the input"
        yield f"each value sees {seen}"
    for one in ("time", "dead", "findings", "parity"):
        if one in measures and layer.path in measures[one].values:
            measure = measures[one]
            yield f"{measure.title.lower()}: {measure.text(measure.values[layer.path])}"


def _settings(layer: Layer) -> None:
    """Every setting the file has for a layer: plain ones as a table, nested ones as JSON."""
    rows = {key: value for key, value in layer.config.items() if not isinstance(value, dict | list)}
    nested = {key: value for key, value in layer.config.items() if key not in rows}
    if rows:
        columns = {
            "Setting": [escape.clip(key) for key in rows],
            "Value": [escape.clip("none" if value is None else value, 300) for value in rows.values()],
        }
        st.dataframe(columns, hide_index=True, height="content" if len(rows) <= 12 else 400)
    if nested:
        st.code(json.dumps(nested, indent=2, ensure_ascii=False)[:20_000], language="json", height=280)


def _neighbours(label: str, names: Sequence[str]) -> None:
    if not names:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption(label, width="content")
        for place, name in enumerate(names[:_SHOWN_NEIGHBOURS]):
            st.button(
                escape.markdown(name, 40),
                key=f"{label}-{place}-{name}",
                type="tertiary",
                help=escape.markdown(name, 300) if len(name) > 40 else None,
                on_click=session.remember,
                args=("layer", name),
            )
        if len(names) > _SHOWN_NEIGHBOURS:
            st.caption(f"and {words.count(len(names) - _SHOWN_NEIGHBOURS)} more", width="content")
