"""A log of predictions over time: accuracy with its control limits, confidence, and the feature that has moved furthest."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from dashboard import escape, figures, words
from dashboard.deployment import drift_figures
from stethoscope.drift.report import OverTime


def draw(over_time: OverTime) -> None:
    """Everything that is known of the stretches."""
    stretches, measure = over_time.stretches, over_time.measure
    if not stretches:
        return
    st.markdown("**Over time**")
    st.caption(sentence(over_time))
    if measure and over_time.centre is not None:
        st.plotly_chart(
            drift_figures.control_chart(stretches, measure, over_time.centre),
            config=figures.CONFIG,
            key="drift-control",
            alt=f"{measure} of each stretch of time with its 95 % interval and the control limits",
        )
        st.caption(
            "Bars: 95 % interval. Dashed: limits that chance passes in 0.27 % of stretches at most; a diamond lies outside."
        )
    pictures: list[tuple[Literal["mean_confidence", "largest_psi"], str]] = []
    if any(one.mean_confidence is not None for one in stretches):
        pictures.append(("mean_confidence", "Mean confidence"))
    if any(one.largest_psi is not None for one in stretches):
        pictures.append(("largest_psi", "Largest PSI"))
    if not pictures:
        return
    grid = st.grid(len(pictures), min_column_width=340, gap=("small", "medium"))
    for key, title in pictures:
        with grid.cell():
            st.plotly_chart(
                drift_figures.lines(stretches, key, title),
                config=figures.CONFIG,
                key=f"drift-{key}",
                alt=f"{title} of each stretch of time",
            )


def sentence(over_time: OverTime) -> str:
    """What the stretches say, in words; Markdown-safe."""
    stretches, measure = over_time.stretches, over_time.measure
    current = [one for one in stretches if one.side == "current"]
    said = [f"{words.plural(len(stretches), 'stretch', 'stretches')} by {escape.code(over_time.time, 40)}"]
    if measure:
        out = [one for one in current if one.out_of_control]
        first = f", first from {escape.markdown(drift_figures.moment(out[0].start), 40)}" if out else ""
        said.append(f"{measure} outside of its limits in {len(out):,} of {len(current):,} current ones{first}")
    else:
        said.append("no labels, so nothing is known of accuracy")
    tested = [one for one in current if one.prediction_p_value is not None]
    if tested:
        moved = sum(one.prediction_drifted for one in tested)
        said.append(
            f"the mix of predictions differs from the reference in {moved:,} of {len(tested):,}"
            if moved
            else "the mix of predictions as in the reference throughout"
        )
    return "; ".join(said) + "."
