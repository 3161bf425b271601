"""Compare: two samples in one layer, or one sample in two models, and what differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from dashboard import analysis, described, escape, figures, linked, session, words
from dashboard.activations import activation_figures, activation_looks, map_grid
from dashboard.activations.activation_input import Input
from dashboard.activations.activation_looks import Look
from stethoscope.errors import NotFound
from stethoscope.jobs.store import Entry, store
from stethoscope.types import Architecture, Status

WITH = {"samples": "Two samples", "models": "Two models"}
_MAPS = 24
_MOST_OFFERED = 40


def show(given: Input, layers: Sequence[str]) -> None:
    """The view Compare of the page Activations."""
    if not layers:
        st.caption("Choose a layer on the left.")
        return
    way = linked.select("Compare", WITH, "samples", "compare-by")
    if way == "models":
        _models(given, layers[0])
    elif len(given.places) < 2:
        st.caption("Shift-click a second sample above: then both are shown here, and where the layer tells them apart.")
    else:
        asked = activation_looks.ask(given, layers[:1], given.places[:2], slot="compare")
        if asked is not None:
            activation_looks.unreachable(asked[1], layers)
            first, second = (
                [look for look in asked[0] if look.place == place and look.kind != "attention"]
                for place in given.places[:2]
            )
            names = [given.called(place) for place in given.places[:2]]
            if first and second:
                pair(first[0], second[0], names)


def _models(given: Input, layer: str) -> None:
    other = _other_model(given)
    if other is None:
        return
    entry, architecture = other
    paths = [one.path for one in architecture.layers]
    asked_for = session.recalled("other-layer")
    usual = asked_for if asked_for in paths else counterpart(given.architecture, layer, architecture)
    chosen = st.selectbox(
        "Layer of the other model",
        paths,
        index=paths.index(usual) if usual else None,
        key="other-layer-box",
        format_func=lambda one: escape.clip(one, 60),
        placeholder="Choose a layer",
    )
    session.remember("other-layer", None if chosen == layer else chosen)
    if chosen is None:
        return
    mine = activation_looks.ask(given, [layer], given.places[:1], slot="compare")
    if mine is None:
        return
    view = replace(given.view, entry=entry)
    there = replace(given, view=view, architecture=architecture)
    theirs = activation_looks.ask(there, [chosen], given.places[:1], slot="compare-other")
    if theirs is None:
        return
    assert given.view.entry is not None
    first, second = ([look for look in one[0] if look.kind != "attention"] for one in (mine, theirs))
    activation_looks.unreachable(mine[1], [layer])
    activation_looks.unreachable(theirs[1], [chosen])
    if first and second:
        pair(first[0], second[0], [given.view.entry.name, entry.name])


def counterpart(architecture: Architecture, layer: str, other: Architecture) -> str | None:
    """The layer of another model that is most likely the same: of its name, else with its name inside and of its shape."""
    if any(one.path == layer for one in other.layers):
        return layer
    mine = next((one for one in architecture.layers if one.path == layer.partition("#")[0]), None)
    if mine is None or mine.output_shape is None:
        return None
    name = mine.path.rsplit("/", 1)[-1]
    sizes = sorted(str(size) for size in mine.output_shape[1:])
    alike = [
        one
        for one in other.layers
        if name in one.path and one.output_shape and sorted(str(size) for size in one.output_shape[1:]) == sizes
    ]
    # A layer's activation comes last: that is what the layer itself puts out.
    return alike[-1].path if alike else None


def _other_model(given: Input) -> tuple[Entry, Architecture] | None:
    assert given.view.entry is not None
    mine = given.view.entry.id
    offered = [one for one in [*session.recent_models(given.view.owner), *session.sample_models()] if one.id != mine]
    chosen = session.recalled("other")
    names = {one.id: one.name for one in offered[:_MOST_OFFERED]}
    if chosen and chosen not in names and chosen != mine:
        try:
            names[chosen] = store().get(chosen).name
        except NotFound:
            st.warning("The other model in this link is not here any more. Choose another one.")
            chosen = None
    picked = st.selectbox(
        "Other model",
        list(names),
        index=list(names).index(chosen) if chosen in names else None,
        key="other-box",
        format_func=lambda one: escape.clip(names[one], 60),
        placeholder="Choose a model",
    )
    session.remember("other", picked)
    if picked is None:
        return None
    entry = store().get(picked)
    state = analysis.describe(entry)
    if not state.done:
        described.architecture(replace(given.view, entry=entry))
        return None
    result = state.result
    architecture = None if result is None or result.status is not Status.OK else analysis.architecture_in(result)
    if architecture is None:
        st.caption("The other model cannot be read: choose another one.")
        return None
    return entry, architecture


def pair(first: Look, second: Look, names: Sequence[str]) -> None:
    """Two looks and their difference.

    Args:
        first: one output.
        second: another one.
        names: what they are called; hostile text.
    """
    one, other = (np.asarray(look.values, np.float64) for look in (first, second))
    if one.shape != other.shape:
        st.caption(
            f"Shapes differ, {' × '.join(map(str, one.shape))} and {' × '.join(map(str, other.shape))}: each is shown for itself."
        )
        for look, name in ((first, names[0]), (second, names[1])):
            st.markdown(f"**{escape.markdown(name)}**")
            _alone(look, f"alone-{name}")
        return
    difference = other - one
    _numbers(one, other, names)
    if first.kind == "maps":
        _maps(one, other, difference, names)
    elif one.ndim == 1:
        _vectors(one, other, names)
    else:
        _matrices(one, other, difference, names)


def _numbers(one: activation_figures.Array, other: activation_figures.Array, names: Sequence[str]) -> None:
    flat, flat_other = np.nan_to_num(one.ravel()), np.nan_to_num(other.ravel())
    norms = float(np.linalg.norm(flat)), float(np.linalg.norm(flat_other))
    cosine = float(flat @ flat_other) / (norms[0] * norms[1]) if all(norms) else None
    largest = float(np.max(np.abs(flat - flat_other), initial=0.0))
    told = [
        f"largest difference {words.difference(largest)}",
        f"mean difference {words.difference(float(np.mean(np.abs(flat - flat_other))))}",
    ]
    if cosine is not None:
        told.append(f"cosine {words.significant(cosine)}")
    st.markdown(f"{escape.markdown(names[0])} and {escape.markdown(names[1])} · {' · '.join(told)}")


def _maps(
    one: activation_figures.Array,
    other: activation_figures.Array,
    difference: activation_figures.Array,
    names: Sequence[str],
) -> None:
    strength = np.nan_to_num(np.abs(difference)).mean(axis=(1, 2))
    shown = np.argsort(-strength, kind="stable")[:_MAPS]
    limits = activation_figures.extent(np.stack([one, other]), around_zero=False)
    st.caption(f"The {len(shown)} channels that differ most, in the same order and colours.")
    columns = st.columns(3)
    sides = ((names[0], one, "shared"), (names[1], other, "shared"), ("Difference", difference, "around_zero"))
    for place, (column, (name, values, scale)) in enumerate(zip(columns, sides, strict=True)):
        with column:
            st.markdown(f"**{escape.markdown(name, 40)}**")
            map_grid.show(
                values[shown],
                [int(at) for at in shown],
                [str(at) for at in shown],
                scale=scale,
                picked=None,
                limits=limits if scale == "shared" else None,
                side=64,
                title=str(name),
                key=f"pair-{place}",
            )


def _vectors(one: activation_figures.Array, other: activation_figures.Array, names: Sequence[str]) -> None:
    series = {f"{names[0]}": one, f"{names[1]}" if names[1] != names[0] else f"{names[1]} (other)": other}
    figure = activation_figures.units(series, across="unit")
    st.plotly_chart(figure, config=figures.CONFIG, key="pair-units", alt="The units of both")
    figure = activation_figures.units({"difference": other - one}, across="unit", height=220)
    figure.update_yaxes(title_text="Difference")
    st.plotly_chart(figure, config=figures.CONFIG, key="pair-difference", alt="The difference of each unit")


def _matrices(
    one: activation_figures.Array,
    other: activation_figures.Array,
    difference: activation_figures.Array,
    names: Sequence[str],
) -> None:
    both = np.stack([one, other])
    limits = activation_figures.extent(both, around_zero=bool((both < 0).any()))
    for place, (name, values) in enumerate(((names[0], one), (names[1], other), ("Difference", difference))):
        st.markdown(f"**{escape.markdown(name)}**")
        flat = values.reshape(values.shape[0], -1)
        figure = activation_figures.matrix(
            flat,
            down="position",
            across="unit",
            value="activation",
            height=260,
            around_zero=bool((flat < 0).any()),
            limits=limits if place < 2 else None,
        )
        st.plotly_chart(figure, config=figures.CONFIG, key=f"pair-{place}", alt="Activations as colours")


def _alone(look: Look, key: str) -> None:
    values = np.asarray(look.values, np.float64)
    if look.kind == "maps":
        shown = np.argsort(-np.nan_to_num(np.abs(values)).mean(axis=(1, 2)), kind="stable")[:_MAPS]
        map_grid.show(
            values[shown],
            [int(at) for at in shown],
            [str(at) for at in shown],
            scale="shared",
            picked=None,
            side=64,
            key=key,
        )
    elif values.ndim == 1:
        st.plotly_chart(
            activation_figures.units({look.layer: values}, across="unit"), config=figures.CONFIG, key=key, alt="Units"
        )
    else:
        flat = values.reshape(values.shape[0], -1)
        figure = activation_figures.matrix(flat, down="position", across="unit", value="activation", height=260)
        st.plotly_chart(figure, config=figures.CONFIG, key=key, alt="Activations as colours")
