"""Projection: every row of the data as a point, near to the rows that look alike to the chosen layer."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dashboard import asking, escape, figures, linked, outputs, words
from dashboard.activations import activation_figures, activation_input, sample_strip
from dashboard.activations.activation_input import Input
from stethoscope.codec import answer_of
from stethoscope.tasks.projection import Projection
from stethoscope.tasks.read_data import RowsRead
from stethoscope.types import JobResult

_COLOURS = (
    figures.BLUE,
    figures.ORANGE,
    figures.GREEN,
    figures.PURPLE,
    figures.SKY,
    figures.VERMILION,
    figures.YELLOW,
    figures.GREY,
)
_SYMBOLS = ("circle", "diamond", "square", "cross", "x", "triangle-up", "star")
_MOST_CLASSES = len(_COLOURS) * len(_SYMBOLS)
_NEAR = 8


def show(given: Input, layers: Sequence[str]) -> None:
    """The view Projection of the page Activations."""
    if not layers:
        st.caption("Choose a layer on the left.")
        return
    assert given.view.entry is not None
    row = st.grid(3, min_column_width=150, vertical_alignment="bottom")
    methods = {"pca": "PCA"} | ({"umap": "UMAP"} if importlib.util.find_spec("umap") is not None else {})
    with row.cell():
        method = linked.select("Method", methods, "pca", "projection-by")
    with row.cell():
        rows = st.number_input(
            "Rows", 8, 5_000, 1_000, key="projected-rows", bind="query-params", help="Evenly spaced over the data"
        )
    with row.cell():
        dimensions = linked.select("Axes", {"2": "Two", "3": "Three"}, "2", "projection-axes")
    if "umap" not in methods:
        st.caption("UMAP is offered where the package umap-learn is installed.")
    params = {"layer": layers[0], "rows": int(rows), "method": method, "dimensions": int(dimensions), "seed": 0}
    result = asking.answer(given.job("projection", params), given.view, given.view.entry.name, slot="projection")
    if result is None:
        return
    projection = answer_of(result, Projection)
    path = result.files.get(projection.points)
    points = None if path is None else outputs.load(path)
    if points is None or points.ndim != 2 or len(points) < 2:
        st.caption("This run left no points. Ask again.")
        return
    _about(layers[0], projection)
    figure = _figure(np.asarray(points, np.float64), projection, given)
    event = st.plotly_chart(
        figure,
        config=figures.CONFIG,
        key=f"points-{layers[0]}-{method}-{dimensions}",
        on_select="rerun",
        selection_mode="points",
        alt="Rows of the data as points",
    )
    _neighbours(given, result, projection, _clicked(event))


def _about(layer: str, projection: Projection) -> None:
    parts = [escape.code(layer, 60), words.plural(projection.rows, "row")]
    if projection.explained:
        shares = " + ".join(words.share(one, 1.0) for one in projection.explained)
        parts.append(f"the axes hold {shares} of the variance")
    st.markdown(" · ".join(parts))
    remarks = []
    if projection.taken == "means":
        remarks.append(
            "Each row is the mean of every unit over its positions: the output is too large to take as it is."
        )
    if projection.left_out:
        remarks.append(f"{words.plural(projection.left_out, 'row')} with NaN or infinite values left out.")
    if remarks:
        st.caption(" ".join(remarks))


def _figure(points: activation_figures.Array, projection: Projection, given: Input) -> go.Figure:
    labels, places = projection.labels, projection.places
    figure = figures.base(520, showlegend=False)
    deep = points.shape[1] > 2
    chosen = [place in given.places for place in places]
    if not labels:
        _add(figure, points, range(len(points)), places, "", {"color": figures.BLUE, "size": 6}, deep)
    elif all(isinstance(one, int | float) for one in labels) and len(set(labels)) > 20:
        marker = {
            "color": [float(one) for one in labels],
            "colorscale": "Viridis",
            "size": 6,
            "colorbar": {"thickness": 10, "title": "label"},
        }
        _add(figure, points, range(len(points)), places, "", marker, deep)
    else:
        names = sorted({str(one) for one in labels}, key=lambda one: (len(one), one))
        figure.update_layout(showlegend=True, legend={"title": {"text": "label"}})
        for at, name in enumerate(names[:_MOST_CLASSES]):
            inside = [place for place, one in enumerate(labels) if str(one) == name]
            marker = {
                "color": _COLOURS[at % len(_COLOURS)],
                "symbol": _SYMBOLS[at // len(_COLOURS)],
                "size": 7,
                "opacity": 0.85,
            }
            if deep:
                marker |= {"symbol": "circle", "size": 4}
            _add(figure, points, inside, places, name, marker, deep)
    if any(chosen):
        inside = [place for place, one in enumerate(chosen) if one]
        ring = {"color": "rgba(0,0,0,0)", "size": 15, "line": {"color": figures.VERMILION, "width": 2}}
        _add(figure, points, inside, places, "chosen sample", ring, deep)
    if not deep:
        figure.update_xaxes(title_text="First axis")
        figure.update_yaxes(title_text="Second axis", scaleanchor="x")
    return figure


def _add(
    figure: go.Figure,
    points: activation_figures.Array,
    inside: Sequence[int] | range,
    places: Sequence[int],
    name: str,
    marker: Mapping[str, Any],
    deep: bool,
) -> None:
    index = np.asarray(list(inside), np.intp)
    shown = points[index]
    told = [places[place] for place in index]
    label = escape.figure(name, 40)
    arguments: dict[str, Any] = {
        "x": shown[:, 0],
        "y": shown[:, 1],
        "mode": "markers",
        "marker": dict(marker),
        "name": label,
        "customdata": told,
        "hovertemplate": f"row %{{customdata:,}}<extra>{label}</extra>",
    }
    if deep:
        figure.add_scatter3d(**arguments, z=shown[:, 2])
    else:
        figure.add_scatter(**arguments)


def _clicked(event: Any) -> int | None:
    chosen = event.get("selection", {}).get("points", []) if isinstance(event, dict) else []
    place = chosen[0].get("customdata") if chosen else None
    place = place[0] if isinstance(place, list) else place
    return int(place) if isinstance(place, int | float) else None


def _neighbours(given: Input, result: JobResult, projection: Projection, clicked: int | None) -> None:
    paths = [result.files.get(name) for name in (projection.neighbours, projection.distances)]
    near, far = (None if path is None else outputs.load(path) for path in paths)
    places = projection.places
    place = clicked if clicked is not None else given.places[0]
    if near is None or far is None or place not in places:
        st.caption("Click a point to see the rows that are nearest to it for this layer.")
        return
    at = places.index(place)
    chosen = [places[int(one)] for one in near[at][:_NEAR] if 0 <= int(one) < len(places)]
    st.markdown(f"**Nearest to {escape.markdown(given.called(place))}** for this layer")
    st.caption("Cosine distances: " + ", ".join(words.significant(float(one), 2) for one in far[at][: len(chosen)]))
    strip(given, [place, *chosen], key="neighbours")


def strip(given: Input, places: Sequence[int], *, key: str) -> None:
    """Rows of the data as small pictures; their numbers where there is no data."""
    if given.data is None:
        st.caption(", ".join(given.called(place) for place in places))
        return
    job = activation_input.shown_rows(given, places)
    result = asking.answer(job, given.view, given.data.name, slot=key)
    if result is not None:
        sample_strip.show(activation_input.cards_of(result, answer_of(result, RowsRead)), [], key=key)
