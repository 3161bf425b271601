"""What lowers the peak: every setting that was tried, ranked by what it measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures, render, words


def progress(value: Mapping[str, Any]) -> tuple[float, str]:
    """How far it is, and what it is trying."""
    return float(value.get("fraction") or 0.0), str(value.get("progress") or "")


def answer(value: Mapping[str, Any]) -> None:
    """The verdict, the picture, and each trial."""
    present, trials = value["present"], list(value.get("trials") or ())
    if value.get("status") == "ok":
        best = value.get("best")
        render.verdict(
            "good" if best else "plain", "Found" if best else "Nothing better", escape.markdown(value["message"], 500)
        )
    elif value.get("reason"):
        st.markdown(escape.sentences(str(value["reason"])))
    ran = [one for one in (present, *trials) if one.get("peak_bytes") is not None]
    if ran:
        st.plotly_chart(picture(ran), config=figures.CONFIG, key="lowering", alt="Peak memory of each setting tried")
    if trials:
        st.dataframe(_table(trials), hide_index=True)
    for item in value.get("untried") or ():
        st.caption(f"Not tried ({escape.markdown(str(item['kind']))}): {escape.sentences(str(item['reason']))}")


def picture(trials: Sequence[Mapping[str, Any]]) -> go.Figure:
    """One bar for each setting: its measured peak; the present one is grey."""
    rows = sorted(trials, key=lambda one: one["peak_bytes"])
    figure = figures.base(90 + 26 * len(rows))
    names = [escape.figure(str(one["title"]), 44) for one in rows]
    figure.add_bar(
        x=[one["peak_bytes"] / 2**20 for one in rows],
        y=list(range(len(rows))),
        orientation="h",
        marker_color=[
            figures.GREY if one["id"] == "present" else figures.GREEN if one.get("lowers") else figures.BLUE
            for one in rows
        ],
        text=[words.size(one["peak_bytes"]) for one in rows],
        textposition="outside",
        cliponaxis=False,
        hovertext=names,
        hovertemplate="%{hovertext}: %{text}<extra></extra>",
    )
    most = max(one["peak_bytes"] for one in rows) / 2**20
    figure.update_yaxes(tickvals=list(range(len(rows))), ticktext=names, autorange="reversed")
    figure.update_xaxes(title_text="Measured peak memory (MiB)", range=[0, 1.18 * most])
    return figure


def _table(trials: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {"Change": [], "Peak": [], "Saved": [], "Time": [], "Outputs": [], "Ended": []}
    for one in trials:
        peak, saved, ratio = one.get("peak_bytes"), one.get("saved_fraction"), one.get("time_ratio")
        moved = one.get("relative_diff")
        table["Change"].append(escape.clip(str(one["title"]), 70))
        table["Peak"].append(words.size(peak) if peak is not None else "—")
        table["Saved"].append(f"{100 * saved:.0f} %" if saved is not None else "—")
        table["Time"].append(f"{ratio:.2f} ×" if ratio is not None else "—")
        table["Outputs"].append(
            "—" if moved is None else "the same" if moved <= 1e-4 else f"differ by {100 * moved:.2g} %"
        )
        table["Ended"].append(_ended(one))
    return table


def _ended(one: Mapping[str, Any]) -> str:
    status = one.get("status")
    if status is None:
        return "waiting"
    return "done" if status == "ok" else escape.clip(str(one.get("reason") or status), 120)
