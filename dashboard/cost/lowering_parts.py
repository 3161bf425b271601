"""What lowers the peak: every setting that was tried, ranked by what it measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures, recipes, render, words

_KINDS = {
    "call": "other call styles",
    "xla": "XLA",
    "batch": "smaller batches",
    "precision": "other precisions",
    "length": "shorter inputs",
}


def progress(value: Mapping[str, Any]) -> tuple[float, str]:
    """How far it is, and what it is trying."""
    return float(value.get("fraction") or 0.0), str(value.get("progress") or "")


def answer(value: Mapping[str, Any], name: str) -> None:
    """The verdict, the picture, and each trial, for the file `name`."""
    present, trials = value["present"], list(value.get("trials") or ())
    if value.get("status") == "ok":
        best = value.get("best")
        render.verdict(
            "good" if best else "plain", "Found" if best else "Nothing better", escape.markdown(value["message"], 500)
        )
    elif value.get("reason"):
        st.markdown(escape.sentences(str(value["reason"])))
    tried = [present, *trials]
    if any(one.get("peak_bytes") is not None for one in tried):
        st.plotly_chart(picture(tried), config=figures.CONFIG, key="lowering", alt="Peak memory of each setting tried")
    if trials:
        render.outcomes(_table(trials))
    untried: dict[str, list[str]] = {}
    for item in value.get("untried") or ():
        untried.setdefault(str(item["reason"]), []).append(_KINDS.get(str(item["kind"]), str(item["kind"])))
    for reason, kinds in untried.items():
        st.caption(f"Not tried: {escape.markdown(', '.join(kinds))}. {escape.sentences(reason)}")
    if value.get("status"):
        with st.expander("How this was done"):
            st.markdown(
                "Each setting ran in a process of its own, on the same random input. Peak is what it measured; time is for the whole "
                "input, against the present setting. Outputs are compared with the present ones; where only part of the input was "
                "used they cannot be."
            )
            st.markdown("The same from the command line:")
            options = {"advise": True, "batch-size": (present.get("settings") or {}).get("batch_size")}
            st.code(recipes.command_line("endurance", name, options), language="bash", wrap_lines=True)


def picture(trials: Sequence[Mapping[str, Any]]) -> go.Figure:
    """One bar for each setting: its measured peak, the present one grey; a place is kept for those still to run."""
    ran = sorted((one for one in trials if one.get("peak_bytes") is not None), key=lambda one: one["peak_bytes"])
    rows = [*ran, *(one for one in trials if one.get("peak_bytes") is None)]
    figure = figures.base(90 + 26 * len(rows))
    names = [escape.figure(_short(one), 44) for one in rows]
    figure.add_bar(
        x=[one["peak_bytes"] / 2**20 for one in ran],
        y=list(range(len(ran))),
        orientation="h",
        marker_color=[
            figures.GREY if one["id"] == "present" else figures.GREEN if one.get("lowers") else figures.BLUE
            for one in ran
        ],
        text=[words.size(one["peak_bytes"]) for one in ran],
        textposition="outside",
        cliponaxis=False,
        hovertext=[escape.figure(str(one["title"]), 90) for one in ran],
        hovertemplate="%{hovertext}: %{text}<extra></extra>",
    )
    most = max(one["peak_bytes"] for one in ran) / 2**20
    figure.update_yaxes(tickvals=list(range(len(rows))), ticktext=names, range=[len(rows) - 0.4, -0.6])
    figure.update_xaxes(title_text="Measured peak memory (MiB)", range=[0, 1.18 * most])
    return figure


def _short(one: Mapping[str, Any]) -> str:
    if one["id"] == "present":
        return "as it is now"
    title = str(one["title"])
    return title.partition(": ")[0] if one.get("kind") == "precision" else title


def _table(trials: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {"Change": [], "Peak": [], "Difference": [], "Time": [], "Outputs": [], "Ended": []}
    for one in trials:
        peak, saved, ratio = one.get("peak_bytes"), one.get("saved_fraction"), one.get("time_ratio")
        moved = one.get("relative_diff")
        table["Change"].append(escape.clip(str(one["title"]), 70))
        table["Peak"].append(words.size(peak) if peak is not None else "—")
        table["Difference"].append(_change(-saved) if saved is not None else "—")
        table["Time"].append(f"{words.significant(ratio)} ×" if ratio is not None else "—")
        table["Outputs"].append(
            "—" if moved is None else "the same" if moved <= 1e-4 else f"differ by {100 * moved:.2g} %"
        )
        table["Ended"].append(_ended(one))
    return table


def _change(fraction: float) -> str:
    rounded = round(100 * fraction)
    return f"{'−' if rounded < 0 else '+' if rounded > 0 else '±'}{abs(rounded)} %"


def _ended(one: Mapping[str, Any]) -> str:
    status = one.get("status")
    if status is None:
        return "waiting"
    return "done" if status == "ok" else escape.clip(str(one.get("reason") or status), 120)
