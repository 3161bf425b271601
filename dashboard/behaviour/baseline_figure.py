"""The network's score beside those of simple models, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard import escape, words
from dashboard.figures import BLUE, GREY, base


def scores(items: Sequence[Mapping[str, Any]], metric: str) -> go.Figure:
    """One dot with its 95 % interval per model, best on top."""
    rows = sorted(items, key=lambda item: float(item["value"]))
    figure = base(96 + 30 * len(rows))
    positions = list(range(len(rows)))
    figure.add_scatter(
        x=[float(item["value"]) for item in rows],
        y=positions,
        mode="markers",
        marker={"size": 11, "color": [GREY if _simple(item) else BLUE for item in rows]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [max(0.0, float(item["high"]) - float(item["value"])) for item in rows],
            "arrayminus": [max(0.0, float(item["value"]) - float(item["low"])) for item in rows],
            "color": GREY,
        },
        customdata=[
            [
                escape.figure(item["model"]),
                words.given(float(item["value"])),
                f"{words.given(float(item['low']))} to {words.given(float(item['high']))}",
            ]
            for item in rows
        ],
        hovertemplate="%{customdata[0]}: %{customdata[1]} (95 %: %{customdata[2]})<extra></extra>",
    )
    figure.update_yaxes(tickvals=positions, ticktext=[escape.figure(item["model"], 30) for item in rows])
    figure.update_xaxes(title_text=f"{escape.figure(metric)} on held-out rows, with 95 % intervals")
    return figure


def _simple(item: Mapping[str, Any]) -> bool:
    return str(item["model"]) in (
        "majority class",
        "mean",
        "logistic regression",
        "linear regression",
        "gradient boosting",
    )
