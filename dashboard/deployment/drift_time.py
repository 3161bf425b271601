"""A log of predictions over time: accuracy with its control limits, confidence, and the feature that has moved furthest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import escape, figures, words
from dashboard.deployment import drift_figures


def draw(found: Mapping[str, Any] | None) -> None:
    """Everything that is known of the stretches; nothing where there is no column of moments."""
    stretches = list((found or {}).get("stretches") or ())
    if not found or not stretches:
        return
    st.markdown("**Over time**")
    st.caption(sentence(found))
    measure = found.get("measure")
    if measure and found.get("centre") is not None:
        st.plotly_chart(
            drift_figures.control_chart(stretches, measure, float(found["centre"])), config=figures.CONFIG, key="drift-control",
            alt=f"{measure} of each stretch of time with its 95 % interval and the control limits",
        )  # fmt: skip
        st.caption(
            "Bars: 95 % interval. Dashed: limits that chance passes in 0.27 % of stretches at most; a diamond lies outside."
        )
    pictures = [
        (key, title)
        for key, title in (("mean_confidence", "Mean confidence"), ("largest_psi", "Largest PSI"))
        if any(one.get(key) is not None for one in stretches)
    ]
    if not pictures:
        return
    grid = st.grid(len(pictures), min_column_width=340, gap=("small", "medium"))
    for key, title in pictures:
        with grid.cell():
            st.plotly_chart(
                drift_figures.lines(stretches, key, title), config=figures.CONFIG, key=f"drift-{key}", alt=f"{title} of each stretch of time"
            )  # fmt: skip


def sentence(found: Mapping[str, Any]) -> str:
    """What the stretches say, in words; Markdown-safe."""
    stretches: Sequence[Mapping[str, Any]] = found["stretches"]
    current = [one for one in stretches if one["side"] == "current"]
    said = [f"{words.plural(len(stretches), 'stretch', 'stretches')} by {escape.code(found['time'], 40)}"]
    measure = found.get("measure")
    if measure:
        out = [one for one in current if one["out_of_control"]]
        first = f", first from {escape.markdown(drift_figures.moment(out[0]['start']), 40)}" if out else ""
        said.append(f"{measure} outside of its limits in {len(out):,} of {len(current):,} current ones{first}")
    else:
        said.append("no labels, so nothing is known of accuracy")
    tested = [one for one in current if one.get("prediction_p_value") is not None]
    if tested:
        moved = sum(bool(one["prediction_drifted"]) for one in tested)
        said.append(
            f"the mix of predictions differs from the reference in {moved:,} of {len(tested):,}"
            if moved
            else "the mix of predictions as in the reference throughout"
        )
    return "; ".join(said) + "."
