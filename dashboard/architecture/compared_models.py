"""Two models beside each other: both graphs in the same colours, one table of their layers, one pair in detail."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import analysis, asking, choices, described, escape, panel, progress, render, session
from dashboard.architecture import (
    architecture_parts,
    comparison_parts,
    comparison_rows,
    graph_view,
    layer_table,
    weights_alone,
)
from dashboard.architecture.comparison_rows import COLOURS, Row
from dashboard.kept_answers import kept
from dashboard.routes.netron_assets import needs_skeleton
from dashboard.session import View
from stethoscope.codec import partial_of
from stethoscope.errors import NotFound
from stethoscope.jobs.store import Entry, store
from stethoscope.models.formats import format_of
from stethoscope.tasks.compare_architectures import ArchitectureDifference
from stethoscope.types import Architecture, Budget, Job, JobResult

_OTHER = "other"
_HEIGHT = 460
_TABLE_HEIGHT = 384
_MEMORY_BYTES = 2 << 30
_TIME_S = 600.0


def choose(view: View) -> Entry | None:
    """Draws the choice of another model to compare with; returns it, None for none."""
    if view.entry is None:
        return None
    here = view.entry.id
    found = {one.id: one for one in (*session.recent_models(view.owner), *session.sample_models()) if one.id != here}
    asked = session.recalled(_OTHER)
    if asked and asked not in found and asked != here:
        try:
            found[asked] = store().get(asked)
        except NotFound:
            session.remember(_OTHER, None)
            st.info("The model to compare with is not here any more.")
    titles = {one: escape.clip(entry.title or entry.name, 60) for one, entry in found.items()}
    key = f"compare-with-{here}"
    if key not in st.session_state and asked in titles:
        st.session_state[key] = asked
    chosen = st.selectbox(
        "Compare with",
        list(titles),
        index=None,
        format_func=lambda one: titles.get(one, one),
        key=key,
        placeholder="Compare with…",
        label_visibility="collapsed",
    )
    session.remember(_OTHER, chosen)
    return found.get(chosen) if chosen else None


def show(view: View, other: Entry, here: Architecture) -> None:
    """The comparison, or how far it is."""
    assert view.entry is not None
    there = described.architecture(View(view.owner, other), weights_too=True)
    if there is None:
        return
    if format_of(here).only_weights or format_of(there).only_weights:
        weights_alone.beside(view, other)
        return
    files = {"model": view.entry.file, _OTHER: other.file}
    state = asking.state_of(Job("compare_architectures", files, {}, Budget(_MEMORY_BYTES, _TIME_S), "light"), view)
    if not state.done:
        progress.watch(state, subject=f"{view.entry.name} and {other.name}", may_cancel=panel.may_cancel(state, view))
        return
    compared = None if state.result is None else _difference(state.result)
    if compared is None:
        render.ending(state)
        return
    found = _rows(compared, here, there)
    comparison_parts.verdict(found, compared.summary.notes)
    halves = st.grid(12, min_column_width=66, gap=("small", 16))
    left, right = halves.cell(column_span=6), halves.cell(column_span=6)
    graphs = (_key(view.entry, "here"), _key(other, "there"))
    table_key = f"pairs-{view.entry.id}-{other.id}"
    selected = _selection(found, here, there, graphs, table_key)
    with left:
        _graph(view.entry, here, found, selected, graphs[0], "here")
    with right:
        _graph(other, there, found, selected, graphs[1], "there")
    text, sort = layer_table.show(
        comparison_parts.columns(found, here, there),
        selected,
        summary=f"{len(found):,} layers in one or both",
        height=_TABLE_HEIGHT,
        key=table_key,
        text=session.recalled("filter") or "",
        sort=session.recalled("sort") or "",
        colours=[COLOURS.get(row.kind) for row in found],
        graphs=[_linked(found, here, graphs[0], "here"), _linked(found, there, graphs[1], "there")],
        searched=4,
    )
    session.remember("filter", text or None)
    session.remember("sort", sort or None)
    if selected is None:
        st.caption("Click a layer, in a graph or in the table, to see what differs.")
    else:
        comparison_parts.details(found[selected])


def _key(entry: Entry, side: str) -> str:
    return f"graph-{side}-{entry.id}"


@kept
def _difference(result: JobResult) -> ArchitectureDifference | None:
    return partial_of(result, ArchitectureDifference)


@kept
def _rows(compared: ArchitectureDifference, here: Architecture, there: Architecture) -> list[Row]:
    return comparison_rows.rows(compared, [layer.path for layer in here.layers], [layer.path for layer in there.layers])


def _selection(
    found: Sequence[Row], here: Architecture, there: Architecture, graphs: tuple[str, str], table_key: str
) -> int | None:
    """The row of the layer that was clicked last, in either graph or in the table, else the one in the address."""
    components = {graphs[0]: graph_view.TOLD, graphs[1]: graph_view.TOLD, table_key: layer_table.TOLD}
    choice = choices.newest(components)
    if choice is not None:
        row = None
        if choice.key == table_key:
            row = choice.value if isinstance(choice.value, int) and 0 <= choice.value < len(found) else None
        elif isinstance(choice.value, str):
            side, model = ("here", here) if choice.key == graphs[0] else ("there", there)
            row = _row_of(found, side, architecture_parts.layer_of(model, choice.value))
        session.remember("layer", None if row is None else found[row].here)
        session.remember("twin", None if row is None else found[row].there)
        choices.take(components)
    path, twin = session.recalled("layer"), session.recalled("twin")
    if path is not None:
        return _row_of(found, "here", path)
    return None if twin is None else _row_of(found, "there", twin)


def _row_of(found: Sequence[Row], side: str, path: str) -> int | None:
    return next((place for place, row in enumerate(found) if getattr(row, side) == path), None)


def _graph(
    entry: Entry, architecture: Architecture, found: Sequence[Row], selected: int | None, key: str, side: str
) -> None:
    st.caption(
        f"**{escape.markdown(entry.title or entry.name, 60)}** · {'this model' if side == 'here' else 'the other'}"
    )
    if needs_skeleton(entry) and analysis.skeleton_path(entry) is None:
        render.empty("The graph cannot be drawn for this file; the table lists what is known.")
        return
    names = architecture_parts.node_names(architecture)
    paths = [(getattr(row, side), row.kind) for row in found]
    colours = {names.get(path, path): COLOURS[kind] for path, kind in paths if path is not None and kind in COLOURS}
    path = None if selected is None else getattr(found[selected], side)
    graph_view.show(
        entry.id,
        entry.name,
        theme=st.context.theme.type,
        select=architecture_parts.node_of(architecture, path),
        start=architecture_parts.start_of(architecture),
        unnamed=architecture_parts.unnamed(architecture),
        colors=colours,
        legend=comparison_parts.legend(found, st.context.theme.type) if colours else None,
        panel=False,
        height=_HEIGHT,
        key=key,
    )


def _linked(found: Sequence[Row], architecture: Architecture, key: str, side: str) -> layer_table.Graph:
    names = architecture_parts.node_names(architecture)
    paths = [getattr(row, side) for row in found]
    return layer_table.Graph(
        key, nodes={place: None if path is None else names.get(path, path) for place, path in enumerate(paths)}
    )
