"""Where two models part, and why: a card with the cause, how sure it is, the fix, and the other guesses."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import escape, render, words
from dashboard.deployment.parity_layers import LayerPair
from stethoscope.compare.parity.comparison import Parting, WeighedCause
from stethoscope.types import Architecture


def percent(text: str) -> str:
    """A sentence of a worker with its shares as elsewhere: 100.0% becomes 100 %."""
    return text.replace(".0%", "%").replace("%", " %").replace("  %", " %")


def card(parting: Parting, found: Sequence[LayerPair], architecture: Architecture) -> None:
    """Draws where they part, the cause, what to do about it, and what else it could be."""
    with st.container(border=True):
        st.markdown(f"**They part at** {escape.code(parting.a)} · in the other {escape.code(parting.b)}")
        st.markdown(
            f"**{escape.markdown(parting.cause, 200)}**, {_sure(parting.confidence)} sure. {_sentence(parting.sentence)}"
        )
        if parting.fix:
            st.markdown(f"**Fix** {_sentence(parting.fix)}")
        parted = next((pair for pair in found if pair.parted and pair.nrmse is not None), None)
        if parted is not None:
            st.caption(
                f"There the answers are off by {words.significant(parted.nrmse or 0)} of the layer's values; all that goes into it is the "
                "same in both models."
            )
        if len(parting.group) > 1:
            st.caption(
                f"The other model computes {listed(parting.group)} in one step: which of them it is follows from their numbers."
            )
        others = guesses(parting)
        if others:
            with st.expander(f"What else it could be ({len(others)})"):
                for one in others:
                    st.markdown(
                        f"- **{escape.markdown(one.cause, 200)}**, {_sure(one.confidence)} sure, at "
                        f"{escape.code(one.layer)}. {_sentence(one.sentence)} {_sentence(one.fix)}"
                    )
        if any(layer.path == parting.a for layer in architecture.layers):
            render.go_to(
                "architecture", "Show it in the graph, coloured by parity error →", colour="parity", layer=parting.a
            )


def guesses(parting: Parting) -> list[WeighedCause]:
    """Other causes that were weighed: each once for a layer, the likeliest first, without the one that was chosen."""
    seen = {(parting.cause, parting.layer)}
    found = []
    for one in parting.guesses:
        what = (one.cause, one.layer)
        if what not in seen:
            seen.add(what)
            found.append(one)
    return found


def _sure(confidence: float) -> str:
    return f"{round(100 * confidence)} %"


def _sentence(text: str) -> str:
    return escape.sentences(percent(words.readable(text)))


def listed(names: Sequence[str]) -> str:
    """Names of layers as a list in words. Hostile in, Markdown out."""
    said = [escape.code(name) for name in names[:6]]
    if len(names) > len(said):
        return f"{', '.join(said)} and {len(names) - len(said):,} more"
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
