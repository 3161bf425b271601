"""Attention: for each head, how much every position looks at every other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from dashboard import escape, figures, linked, session, words
from dashboard.activations import activation_figures, activation_looks, map_grid
from dashboard.activations.activation_input import Input
from dashboard.activations.activation_looks import Look
from dashboard.activations.map_grid import picked as picked_map
from stethoscope.activations.looks import attention_layers

SCALES = {"shared": "One scale for all heads", "own": "Each its own scale"}
_HEAD = "head"
_MOST_OFFERED = 60
_INPUTS = ("InputLayer", "Input", "Placeholder")


def show(given: Input, layers: Sequence[str]) -> None:
    """The view Attention of the page Activations."""
    known = attention_layers(given.architecture)
    if not known:
        st.caption(
            "No attention was found in this model: in Keras models layers named for attention are shown, in graphs the softmax over "
            "a product of queries and keys."
        )
        return
    chosen = [path for path in layers if path.partition("#")[0] in known]
    if not chosen:
        chosen = [_offered(known)]
    tokens = _token_input(given)
    asked = activation_looks.ask(given, [*chosen, *tokens], given.places[:1])
    if asked is None:
        return
    looks, result = asked
    activation_looks.unreachable(result, chosen)
    found = [look for look in looks if look.kind == "attention"]
    if not found:
        st.caption("These layers gave no attention scores for this sample. Choose another attention layer.")
        return
    picked_map.take(_HEAD, len(found), prefix="heads-")
    names = next((_words(look) for look in looks if look.layer in tokens and look.values.ndim == 1), None)
    scale = linked.select("Colours", SCALES, "shared", "head-scale")
    for place, look in enumerate(found):
        activation_looks.heading(look, given)
        _heads(look, place, names, scale)


def _token_input(given: Input) -> list[str]:
    """The layer that stands for an input of whole numbers, one for each position; none where there is no such input."""
    known = {layer.path for layer in given.architecture.layers if layer.type in _INPUTS}
    specs = given.architecture.inputs
    whole = [one.name for one in specs if one.dtype.startswith("int") and one.shape is not None and len(one.shape) == 2]
    return [name for name in whole if name in known][:1]


def _words(look: Look) -> list[str]:
    return [f"{place}: {int(one)}" for place, one in enumerate(np.nan_to_num(np.asarray(look.values, np.float64)))]


def _offered(known: Sequence[str]) -> str:
    offered = list(known[:_MOST_OFFERED])
    asked = session.recalled("attention")
    chosen = st.selectbox(
        "Attention layer",
        offered,
        index=offered.index(asked) if asked in offered else 0,
        key="attention-layer",
        format_func=lambda one: escape.clip(one, 60),
    )
    session.remember("attention", None if chosen == offered[0] else chosen)
    return chosen


def _heads(look: Look, place: int, names: list[str] | None, scale: str) -> None:
    scores = np.asarray(look.values, np.float32)
    picked = picked_map.picked(_HEAD, place)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = -np.nansum(np.where(scores > 0, scores * np.log2(scores), 0.0), axis=-1).mean(axis=-1)
    map_grid.show(
        scores,
        list(range(len(scores))),
        [f"head {head}" for head in range(len(scores))],
        scale=scale,
        picked=picked,
        side=132,
        title=f"Attention heads of {look.layer}",
        note="Rows: positions that look; columns: positions they look at",
        key=f"heads-{place}",
    )
    st.caption(
        "How widely each head looks (entropy, 0 for one position only): "
        + ", ".join(f"{head}: {words.significant(float(one), 2)} bit" for head, one in enumerate(spread[:16]))
    )
    head = picked if picked is not None and picked < len(scores) else 0
    st.markdown(f"**Head {head}**")
    down, across = (names[: scores.shape[1]], names[: scores.shape[2]]) if names else (None, None)
    figure = activation_figures.matrix(
        scores[head],
        down="looks from",
        across="looks at",
        value="attention",
        down_names=down,
        across_names=across,
        square=True,
        height=520,
    )
    st.plotly_chart(figure, config=figures.CONFIG, key=f"head-large-{place}", alt=f"Attention of head {head}")
