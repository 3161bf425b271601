"""Curves of a log in the browser: runs, charts, zoom and hover, fed by the routes of `routes/runs.py`.

The page runs again only when the link changes or the log's findings arrive; filter, zoom, smoothing and hover are the
browser's own. Charts are drawn by uPlot (vendor/, MIT), whose axes, scales and selection it uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from dashboard import escape
from dashboard.components import STYLE, component, nothing
from dashboard.routes.replies import base_path

FOLDER = Path(__file__).parent
MAX_MARKS = 2_000
"""Marks sent to the browser."""
_SCRIPTS = (
    "vendor/uPlot.iife.min.js",
    "words.js",
    "wire.js",
    "view_state.js",
    "colours.js",
    "runs_tree.js",
    "ticks.js",
    "paint.js",
    "hover.js",
    "chart_data.js",
    "chart_pointer.js",
    "chart.js",
    "export.js",
    "sections.js",
    "controls.js",
    "app.js",
    "component.js",
)


@dataclass(frozen=True)
class Mark:
    """Where a finding shows: drawn as a line, or a band, in the charts of the tag."""

    run: str
    tag: str
    """Empty: in every chart of the run."""
    at: float
    """The first step."""
    until: float
    """The last step."""
    label: str
    severity: str
    """"critical", "high", "medium", "low" or "info"."""


def show(log_id: str, *, view: str, marks: Sequence[Mark] = (), key: str) -> str:
    """Draws the curves.

    Args:
        log_id: of a `read_runs` job or of a followed folder.
        view: what the link says of the view; "" for the plain one.
        marks: where findings show.
        key: the widget's key; it must change with the log.

    Returns:
        The view as it is now, for the link.
    """
    result = component(FOLDER, _SCRIPTS, ("vendor/uPlot.min.css", STYLE, "charts.css"))(
        key=key,
        data={
            "api": f"{base_path()}/api/runs/{quote(log_id, safe='')}",
            "view": view,
            "marks": [{**asdict(mark), "label": escape.clip(mark.label, 80)} for mark in marks[:MAX_MARKS]],
        },
        default={"view": view},
        on_view_change=nothing,
    )
    now = result.view
    return now if isinstance(now, str) else view
