"""Many calls in a row: the first against the later ones, what memory does, and how often the function is traced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import streamlit as st

from dashboard import cards, escape, figures, recipes, render, words
from stethoscope.codec import partial_of
from stethoscope.jobs.protocol import JobState
from stethoscope.memory.call_styles import TITLES
from stethoscope.memory.leak import LeakReport, Verdict
from stethoscope.memory.retracing import Retracing
from stethoscope.tasks.endurance import EnduranceReport, FirstCalls
from stethoscope.types import Status

_LEAK: Mapping[Verdict, tuple[render.Tone, str]] = {
    "leak": ("bad", "It leaks"),
    "framework": ("careful", "TensorFlow grows"),
    "steady": ("good", "It holds steady"),
    "unsure": ("careful", "Not certain"),
}
_SERIES = (("heap_bytes", "Heap"), ("device_bytes", "Device"), ("resident_bytes", "Resident"))


def answer(state: JobState, name: str) -> None:
    """Everything about one finished test of the file `name`."""
    assert state.result is not None
    report = partial_of(state.result, EnduranceReport)
    if state.result.status is not Status.OK:
        render.ending(state)
    if report is None:
        return
    if report.leak:
        _leak(report.leak)
    if report.retracing:
        _retracing(report.retracing)
    if report.latency:
        _latency(report.latency)
    given = state.params.get("settings") or {}
    options = {"call": given.get("call"), "calls": state.params.get("calls"), "batch-size": given.get("batch_size")}
    with st.expander("How this was done"):
        st.markdown(
            f"Called as {escape.code(TITLES.get(str(given.get('call')), 'the file'))} with random input, in a process of its own. "
            "What a model that does nothing leaks when called the same way is TensorFlow's own and not held against this one."
        )
        st.markdown("The same from the command line:")
        st.code(recipes.command_line("endurance", name, options), language="bash", wrap_lines=True)


def _leak(leak: LeakReport) -> None:
    st.markdown("**Memory over many calls**")
    tone, label = _LEAK[leak.verdict]
    render.verdict(tone, label, escape.markdown(leak.message, 500))
    if leak.series:
        st.plotly_chart(held(leak.series), config=figures.CONFIG, key="leak", alt="Memory held after each call")
    if leak.calls:
        st.caption(f"{words.plural(leak.calls, 'equal call')}, after {words.plural(leak.warm_up, 'call')} to warm up.")


def held(series: Mapping[str, Sequence[int]]) -> go.Figure:
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
            x=list(range(1, len(grown) + 1)),
            y=grown,
            mode="lines",
            name=title,
            line={"color": colour, "width": 1.8},
            hovertemplate=f"{title}, call %{{x}}: %{{y:+.2f}} MiB<extra></extra>",
        )
    figure.update_xaxes(title_text="Call")
    figure.update_yaxes(title_text="Growth since the first (MiB)", range=[low - 0.05 * (high - low), 1.05 * high])
    return figure.update_layout(
        showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin_t=34
    )


def _retracing(retracing: Retracing) -> None:
    st.markdown("**Retracing**")
    st.markdown(escape.sentences(retracing.message))
    ways = [way for way in retracing.ways if not way.reason]
    if ways:
        st.dataframe(
            {
                "Called as": [escape.clip(way.title, 80) for way in ways],
                "Traces": [words.count(way.traces or 0) for way in ways],
                "Calls": [words.count(way.calls) for way in ways],
                "Shapes": [words.count(way.shapes) for way in ways],
            },
            hide_index=True,
        )
    if retracing.signature:
        st.markdown("This stops it; it was tried:" if retracing.stops else "This may stop it:")
        st.code(retracing.signature, language="python", wrap_lines=True)


def _latency(latency: FirstCalls) -> None:
    st.markdown("**The first calls against the later ones**")
    cold, ratio = latency.cold_s, latency.cold_over_warm
    cards.facts(
        [
            (
                "First call",
                words.duration(cold) if cold is not None else "—",
                f"{ratio:.0f} × a later one" if ratio else "",
            ),
            ("First full batch", words.duration(latency.first_batch_s), ""),
            ("Later ones", words.duration(latency.warm.median_s), "a batch, median"),
            ("Loading", words.duration(latency.load_s), "before the first call"),
        ]
    )
    if latency.note:
        st.caption(escape.sentences(latency.note))
