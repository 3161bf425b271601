"""The drawn graph of the Architecture page: coloured as asked, with the weights left out unless they are wanted."""

from __future__ import annotations

import streamlit as st

from dashboard import analysis, render, session, words
from dashboard.architecture import architecture_parts, graph_view, layer_colours
from dashboard.architecture.architecture_settings import Shown
from dashboard.routes.netron_assets import needs_skeleton, readable_whole
from stethoscope.jobs.store import Entry
from stethoscope.types import Architecture

HEIGHT = 690
_MOST_BYTES = 2_000_000_000
"""More than a browser holds in one piece. Source: an ArrayBuffer of Chromium holds 2^31 - 1 bytes; Netron reads files into one."""


def show(entry: Entry, architecture: Architecture, shown: Shown, selected: str | None) -> None:
    """Netron on the model, large ones without their weights; a click in it selects the layer."""
    small = needs_skeleton(entry)
    whole = small and session.recalled("whole") is not None and may_be_whole(entry)
    if small and not whole and analysis.skeleton_path(entry) is None:
        render.empty("The graph cannot be drawn for this file; the table lists what is known.")
        return
    graph_view.show(
        entry.id,
        entry.name,
        theme=st.context.theme.type,
        select=architecture_parts.node_of(architecture, selected),
        start=architecture_parts.start_of(architecture),
        unnamed=architecture_parts.unnamed(architecture),
        colors=layer_colours.of_nodes(shown.colours, architecture_parts.node_names(architecture)),
        legend=shown.legend,
        whole=whole,
        height=HEIGHT,
        key=f"graph-{entry.id}",
    )
    if small:
        _with_weights(entry, whole=whole)


def may_be_whole(entry: Entry) -> bool:
    """Whether the viewer can take the file with its weights."""
    return readable_whole(entry) and entry.size_bytes <= _MOST_BYTES


def _with_weights(entry: Entry, *, whole: bool) -> None:
    said = "Drawn with its weights." if whole else "Drawn without the weights: shapes are shown, values are not."
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(said, width="content")
        if not may_be_whole(entry):
            if readable_whole(entry):
                st.caption(f"A browser cannot hold {words.size(entry.size_bytes)} in one piece.", width="content")
            return
        st.button(
            "Draw without weights" if whole else f"Draw with weights ({words.size(entry.size_bytes)})",
            key="graph-whole",
            type="tertiary",
            on_click=session.remember,
            args=("whole", None if whole else "yes"),
            help=f"Sends {words.size(entry.size_bytes)} to your browser, which needs two to three times that in memory.",
        )
