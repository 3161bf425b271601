"""Many calls in a row: the first against the later ones, what memory does, and how often the function is traced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import cards, escape, figures, recipes, render, words
from stethoscope.jobs.state import JobState
from stethoscope.memory.call_styles import TITLES
from stethoscope.types import Status

_LEAK = {
    "leak": ("bad", "It leaks"),
    "framework": ("careful", "TensorFlow grows"),
    "steady": ("good", "It holds steady"),
    "unsure": ("careful", "Not certain"),
}
_SERIES = (("heap_bytes", "Heap"), ("device_bytes", "Device"), ("resident_bytes", "Resident"))


def answer(state: JobState, name: str) -> None:
    """Everything about one finished test of the file `name`."""
    assert state.result is not None
    value = state.result.value
    if state.result.status is not Status.OK:
        render.ending(state)
    if value.get("leak"):
        _leak(value["leak"])
    if value.get("retracing"):
        _retracing(value["retracing"])
    if value.get("latency"):
        _latency(value["latency"])
    if value:
        given = state.params.get("settings") or {}
        options = {
            "call": given.get("call"),
            "calls": state.params.get("calls"),
            "batch-size": given.get("batch_size"),
        }
        with st.expander("How this was done"):
            st.markdown(
                f"Called as {escape.code(TITLES.get(str(given.get('call')), 'the file'))} with random input, in a process of its own. "
                "What a model that does nothing leaks when called the same way is TensorFlow's own and not held against this one."
            )
            st.markdown("The same from the command line:")
            st.code(recipes.command_line("endurance", name, options), language="bash", wrap_lines=True)


def _leak(found: Mapping[str, Any]) -> None:
    st.markdown("**Memory over many calls**")
    tone, label = _LEAK.get(str(found["verdict"]), ("plain", str(found["verdict"]).capitalize()))
    render.verdict(tone, label, escape.markdown(str(found["message"]), 500))  # type: ignore[arg-type]
    series = found.get("series") or {}
    if series:
        st.plotly_chart(held(series), config=figures.CONFIG, key="leak", alt="Memory held after each call")
    if found.get("calls"):
        st.caption(
            f"{words.plural(int(found['calls']), 'equal call')}, after {words.plural(int(found['warm_up']), 'call')} to warm up."
        )


def held(series: Mapping[str, Any]) -> go.Figure:
    """What the process held after each call, beyond what it held after the first counted one."""
    figure = figures.base(260)
    low, high = 0.0, 1.0  # below a MiB everything is noise, and is drawn small
    for (name, title), colour in zip(_SERIES, (figures.BLUE, figures.GREEN, figures.GREY), strict=True):
        values = series.get(name)
        if not values:
            continue
        grown = [(value - values[0]) / 2**20 for value in values]
        low, high = min(low, *grown), max(high, *grown)
        figure.add_scatter(
            x=list(range(1, len(grown) + 1)), y=grown, mode="lines", name=title, line={"color": colour, "width": 1.8},
            hovertemplate=f"{title}, call %{{x}}: %{{y:+.2f}} MiB<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title_text="Call")
    figure.update_yaxes(title_text="Growth since the first (MiB)", range=[low - 0.05 * (high - low), 1.05 * high])
    return figure.update_layout(
        showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin_t=34
    )


def _retracing(found: Mapping[str, Any]) -> None:
    st.markdown("**Retracing**")
    st.markdown(escape.sentences(str(found["message"])))
    ways = [way for way in found.get("ways") or () if not way.get("reason")]
    if ways:
        st.dataframe(
            {
                "Called as": [escape.clip(str(way["title"]), 80) for way in ways],
                "Traces": [words.count(int(way["traces"] or 0)) for way in ways],
                "Calls": [words.count(int(way["calls"])) for way in ways],
                "Shapes": [words.count(int(way["shapes"])) for way in ways],
            },
            hide_index=True,
        )
    if found.get("signature"):
        st.markdown("This stops it; it was tried:" if found.get("stops") else "This may stop it:")
        st.code(str(found["signature"]), language="python", wrap_lines=True)


def _latency(found: Mapping[str, Any]) -> None:
    st.markdown("**The first calls against the later ones**")
    warm = found.get("warm") or {}
    cold, ratio = found.get("cold_s"), found.get("cold_over_warm")
    cards.facts(
        [
            (
                "First call",
                words.duration(cold) if cold is not None else "—",
                f"{ratio:.0f} × a later one" if ratio else "",
            ),
            ("First full batch", words.duration(float(found["first_batch_s"])), ""),
            ("Later ones", words.duration(float(warm.get("median_s") or 0.0)), "a batch, median"),
            ("Loading", words.duration(float(found["load_s"])), "before the first call"),
        ]
    )
    if found.get("note"):
        st.caption(escape.sentences(str(found["note"])))
