"""The layers as a table that filters while typing, follows the selection of the graph, and stays fast at thousands of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dashboard.components import SCRIPT, as_it_is, component, nothing

FOLDER = Path(__file__).parent
MAX_ROWS = 20_000
"""Rows sent to the browser."""
TOLD = "picked"


@dataclass(frozen=True)
class Column:
    """One column: `texts` as they stand (plain text, never markup), `values` to sort by, or both; one entry per row.

    Without `texts` the values are shown as whole numbers. None is unknown and sorts last.
    """

    id: str
    title: str
    texts: Sequence[str] | None = None
    values: Sequence[float | None] | None = None
    about: str = ""
    """What it is, behind the title."""
    bar: Sequence[float] | None = None
    """0 … 1 for each row, drawn as a line under the text."""
    width: tuple[float, float] = (6, 1)
    """At least so many rem, and its share of what is left over."""


@dataclass(frozen=True)
class Graph:
    """A graph on the same page whose selection the table shares in the browser."""

    key: str
    """Of the graph's widget."""
    positions: bool = False
    """Whether its nodes go by the row's position (TFLite), not by the text of the first column."""
    nodes: Mapping[int, str | None] = field(default_factory=dict)
    """Nodes by row where that does not hold; None for a row that this graph does not have."""


def show(
    columns: Sequence[Column],
    selected: int | None,
    *,
    summary: str,
    height: int,
    key: str,
    text: str = "",
    sort: str = "",
    colours: Sequence[str | None] | None = None,
    graphs: Sequence[Graph] = (),
    searched: int = 2,
) -> tuple[str, str]:
    """Draws the table. It tells the index of the row that is picked, or None, as `TOLD`: see `dashboard.choices`.

    Args:
        columns: the first names the rows.
        selected: the row to show as selected; it is scrolled to.
        summary: beside the filter, while nothing is filtered.
        height: at most, in pixels.
        key: the widget's key.
        text: the filter to begin with.
        sort: the id of the column to begin with, "-" before it for falling; "" for the order as given.
        colours: "#rrggbb" for each row, None where there is none.
        graphs: what shares the selection.
        searched: how many columns, from the first, the filter looks at.

    Returns:
        The filter (hostile text, escape it before showing) and the order, as `text` and `sort`.
    """
    result = component(FOLDER, ("../../choices.js", SCRIPT))(
        key=key,
        data=as_it_is(
            {
                "columns": [vars(column) for column in columns],
                "selected": selected,
                "filter": text,
                "sort": sort,
                "height": height,
                "summary": summary,
                "colours": None if colours is None else list(colours),
                "graphs": [
                    {
                        "key": graph.key,
                        "positions": graph.positions,
                        "nodes": {str(at): name for at, name in graph.nodes.items()},
                    }
                    for graph in graphs
                ],
                "searched": searched,
            }
        ),
        default={"filter": text, "sort": sort, TOLD: None},
        on_picked_change=nothing,
        on_filter_change=nothing,
        on_sort_change=nothing,
    )
    known = {"", *(prefix + column.id for column in columns for prefix in ("", "-"))}
    return (
        result.filter if isinstance(result.filter, str) else text,
        result.sort if isinstance(result.sort, str) and result.sort in known else "",
    )
