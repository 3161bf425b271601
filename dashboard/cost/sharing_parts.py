"""Several models on one card: the split, and what running them at once came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures, render, words

_VERDICTS: Mapping[str, tuple[Literal["good", "bad", "careful", "plain"], str]] = {
    "fit": ("good", "They fit"),
    "contained": ("good", "Contained"),
    "disturbed": ("bad", "Disturbed"),
    "not run": ("careful", "Not run"),
    "cancelled": ("plain", "Cancelled"),
}
_DOING = {"waiting": "waiting", "alone": "measured alone", "together": "running", "done": "done"}
_STATES = {"waiting": 0.0, "alone": 0.3, "together": 0.7, "done": 1.0}


def progress(value: Mapping[str, Any]) -> tuple[float, str]:
    """How far it is, and what runs."""
    runs: Sequence[Mapping[str, Any]] = value.get("runs") or ()
    if not runs:
        return 0.0, ""
    share = sum(_STATES.get(str(run["state"]), 0.0) for run in runs) / len(runs)
    together = [str(run["name"]) for run in runs if run["state"] == "together"]
    alone = [str(run["name"]) for run in runs if run["state"] == "alone"]
    if together:
        return share, f"running at once: {', '.join(together)}"
    return share, f"measuring {', '.join(alone)} alone" if alone else "dividing the card"


def answer(value: Mapping[str, Any]) -> None:
    """The verdict, the split, each model's run, and the code."""
    split, runs = value.get("split"), list(value.get("runs") or ())
    if value.get("verdict"):
        tone, label = _VERDICTS.get(str(value["verdict"]), ("plain", str(value["verdict"])))
        render.verdict(tone, label, escape.markdown(str(value["sentence"]), 500))
    if split:
        st.markdown(escape.sentences(str(split["sentence"])))
        st.plotly_chart(
            picture(split, runs), config=figures.CONFIG, key="split", alt="The card divided between the models"
        )
    if runs:
        render.outcomes(_table(runs))
    for run in runs:
        if run.get("reason"):
            st.markdown(f"**{escape.markdown(run['name'])}** {escape.sentences(run['reason'])}")
    if int(value.get("at_once") or 0) > 1:
        st.caption(f"{words.count(int(value['at_once']))} processes were running at the same moment.")
    for place, code in enumerate(value.get("codes") or ()):
        with st.expander(escape.markdown(str(code["title"])), expanded=place == 0):
            if code.get("note"):
                st.caption(escape.sentences(str(code["note"])))
            if code.get("needs_gpu"):
                st.caption("It needs a card, and was not run here.")
            st.code(str(code["code"]), language="python", wrap_lines=True)


def picture(split: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> go.Figure:
    """Each model's share, its predicted peak, and the peak it had beside the others."""
    shares: Sequence[Mapping[str, Any]] = split["shares"]
    measured = {str(run["name"]): run.get("peak_bytes") for run in runs}
    names = [escape.figure(str(share["name"]), 36) for share in shares]
    figure = figures.base(110 + 54 * len(shares), barmode="group")
    for title, values, colour in (
        ("share", [share["share_bytes"] for share in shares], figures.GREY),
        ("predicted peak", [share["predicted_bytes"] for share in shares], figures.PREDICTED),
        ("measured together", [measured.get(str(share["name"])) or 0 for share in shares], figures.MEASURED),
    ):
        figure.add_bar(
            x=[value / 2**20 for value in values],
            y=names,
            orientation="h",
            name=title,
            marker_color=colour,
            customdata=[words.size(value) for value in values],
            hovertemplate=f"%{{y}}, {title}: %{{customdata}}<extra></extra>",
        )
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title_text="Memory (MiB)")
    return figure.update_layout(
        showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin_t=34
    )


def _table(runs: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {"Model": [], "Alone": [], "Share": [], "Together": [], "Calls": [], "Ended": []}
    for run in runs:
        table["Model"].append(escape.clip(str(run["name"]), 60))
        table["Alone"].append(_size(run.get("alone_bytes")))
        table["Share"].append(_size(run.get("share_bytes")))
        table["Together"].append(_size(run.get("peak_bytes")))
        table["Calls"].append(words.count(int(run.get("calls") or 0)))
        table["Ended"].append(_ended(run))
    return table


def _ended(run: Mapping[str, Any]) -> str:
    if not run.get("status"):
        return _DOING.get(str(run["state"]), str(run["state"]))
    if run["status"] == "ok":
        same = run.get("same_as_alone")
        return "done" + (", outputs as alone" if same else ", outputs differ" if same is False else "")
    return str(run["status"]).replace("_", " ")


def _size(value: Any) -> str:
    return words.size(value) if value else "—"
