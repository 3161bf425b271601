"""Netron in the page: the graph of a model, with the selected node known to both sides."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from dashboard.components import SCRIPT, as_it_is, component, nothing
from dashboard.routes.netron_assets import drawable
from dashboard.routes.replies import base_path
from stethoscope.jobs.store import store

FOLDER = Path(__file__).parent
TOLD = "clicked"
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")


def source(entry_id: str, name: str, *, whole: bool = False) -> str:
    """The address of Netron's page for a stored model; Netron tells the format by the suffix of `name`."""
    query = {
        "url": f"data/{quote(entry_id, safe='')}/{'whole' if whole else 'model'}",
        "identifier": name.rsplit("/", 1)[-1],
    }
    return f"{base_path()}/netron/?{urlencode(query, quote_via=quote)}"


@dataclass(frozen=True)
class Legend:
    """What the colours of nodes mean. Our own words only."""

    title: str
    stops: Sequence[str] = ()
    """Colours of a continuous scale, from low to high."""
    ticks: Sequence[tuple[float, str]] = ()
    """(place on the scale from 0 to 1, what stands there)."""
    levels: Sequence[tuple[str, str]] = ()
    """(colour, what it means), beside the scale."""


def show(
    entry_id: str,
    name: str,
    *,
    theme: str | None,
    select: str | None = None,
    start: str | None = None,
    unnamed: Sequence[str] = (),
    colors: Mapping[str, str] | None = None,
    legend: Legend | None = None,
    whole: bool = False,
    panel: bool = True,
    height: int = 640,
    key: str = "graph",
) -> None:
    """Draws the graph. It tells the node that is clicked in it, in the terms of `select`, as `TOLD`: see `dashboard.choices`.

    Args:
        entry_id: the stored model.
        name: what the user calls the model, for the frame's title.
        theme: "dark" or "light", as `st.context.theme.type` has it; changing it does not reload the graph.
        select: the node to select and scroll to. A Keras layer's path, an ONNX or TensorFlow node's name, a TFLite
            operator's index as text, or for a nameless node its first output. A path inside a nested model selects
            that model.
        start: a node whose graph is shown first, in files that hold several (SavedModels begin with their variables).
        unnamed: names that stand for nameless nodes by type and position ("Relu_5"), in the file's order. Names that
            nodes do have may be among them.
        colors: "#rrggbb" by node, to mark nodes; with any, the others turn grey.
        legend: what the colours mean, shown below the graph.
        whole: the file as it is, weights included, however large.
        panel: whether selecting opens the node's properties over the graph.
        height: in pixels.
        key: the widget's key.
    """
    entry = store().get(entry_id)
    marks = {node: color for node, color in (colors or {}).items() if _COLOR.fullmatch(color)}
    component(FOLDER, ("../../choices.js", SCRIPT))(
        key=key,
        data=as_it_is(
            {
                "key": key,
                "source": source(entry.id, entry.name if whole else drawable(entry)[0], whole=whole),
                "title": f"Graph of {name}",
                "theme": theme,
                "select": select,
                "start": start,
                "unnamed": list(unnamed),
                "colors": marks,
                "painted": hash(tuple(marks.items())),
                "legend": None if legend is None else vars(legend),
                "panel": panel,
                "height": height,
            }
        ),
        default={TOLD: None},
        on_clicked_change=nothing,
    )
