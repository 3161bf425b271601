"""What a run would need, said before anything is run: the parts of the peak by batch size, and what is alive when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import cards, escape, figures, open_size, panel, render, runs, session, words
from dashboard.cost import estimate_figures
from stethoscope.codec import partial_of
from stethoscope.memory.estimate import Estimate
from stethoscope.memory.growth import Growth, Law
from stethoscope.memory.points import Point, Swept
from stethoscope.memory.run_settings import RunSettings
from stethoscope.tasks.estimate import EstimatedPeaks
from stethoscope.types import Architecture, Job, Status

_LAWS: Mapping[Law, str] = {
    "square": "grows with the square of the length: half the length needs about a quarter of what grows.",
    "proportional": "grows in proportion to the length.",
    "hardly": "hardly grows with the length.",
}
_OUTSIDE = {"load": "while loading", "collect": "while copying the outputs"}


def section(
    view: session.View,
    architecture: Architecture,
    batch_sizes: Sequence[int],
    sizes: Sequence[int],
    call: str,
    *,
    allowed: bool,
    go: DeltaGenerator,
) -> None:
    """The button that estimates, in `go`, and its answer, beside what the last sweep measured."""
    assert view.entry is not None
    entry = view.entry

    def job() -> Job:
        settings = RunSettings(batch_size=max(batch_sizes), call=call, allocator="pool")
        params = {"settings": settings.to_json(), "batch_sizes": list(batch_sizes), "sizes": list(sizes)}
        return runs.estimate(entry, architecture, params)

    with go:
        panel.button("Estimate without running", job, view, disabled=not allowed)
    state = panel.state(
        "estimate",
        view,
        "Traces the graph for each batch and makes and frees its tensors in order, as in a process of your own: the peak, the "
        "layer where it is, and what is held there. The model is loaded, and not run.",
    )
    if state is None:
        return
    assert state.result is not None
    if state.result.status is not Status.OK:
        render.ending(state)
    made = partial_of(state.result, EstimatedPeaks)
    if made is not None and made.cannot:
        st.info(escape.sentences(made.cannot))
    if made is not None and made.estimates:
        last = panel.Panel("sweep").finished(view)
        swept = partial_of(last.result, Swept) if last is not None and last.result is not None else None
        answer(made.estimates, architecture, swept.points if swept else ())
        if made.growth is not None:
            _growth(made.growth)


def _growth(growth: Growth) -> None:
    """How the peak grows with the length or image size."""
    st.markdown(f"**Over lengths**, batch {words.count(growth.batch_size)}: memory {_LAWS[growth.law]}")
    st.plotly_chart(
        estimate_figures.over_sizes(growth),
        config=figures.CONFIG,
        key="estimate-growth",
        alt="Estimated peak memory over the length or image size",
    )


def answer(estimates: Sequence[Estimate], architecture: Architecture, points: Sequence[Point]) -> None:
    """The parts of each estimate beside the measured `points`, then one batch's memory over the order it runs in."""
    st.plotly_chart(
        estimate_figures.parts(estimates, points),
        config=figures.CONFIG,
        key="estimate-parts",
        alt="Estimated peak memory by batch size, by what it is for",
    )
    chosen = estimates[-1]
    if len(estimates) > 1:
        place = st.select_slider(
            "Memory over one run",
            range(len(estimates)),
            len(estimates) - 1,
            key="estimate-batch",
            format_func=lambda number: _named(estimates[number]),
        )
        chosen = estimates[int(place)]
    _facts(chosen)
    st.plotly_chart(
        estimate_figures.timeline(chosen),
        config=figures.CONFIG,
        key="estimate-timeline",
        alt="Bytes alive over the order in which the model's operations run",
    )
    if any(known.path == chosen.layer for known in architecture.layers):
        render.go_to("architecture", f"{escape.clip(chosen.layer, 40)} →", layer=chosen.layer)
    alive = chosen.alive
    st.dataframe(
        {
            "Alive at the peak": [escape.clip(tensor.layer or tensor.name, 80) for tensor in alive],
            "Shape": [words.shape(tensor.shape) for tensor in alive],
            "Type": [tensor.dtype for tensor in alive],
            "Size": [words.size(tensor.size_bytes) for tensor in alive],
        },
        hide_index=True,
    )
    for note in chosen.notes:
        st.caption(escape.sentences(note))
    st.caption(
        "Nothing was run: the graph was traced for each batch size, and its tensors were made and freed in the order of its "
        "operations. What the framework itself needs is a measured constant."
    )


def _facts(estimate: Estimate) -> None:
    outside = _OUTSIDE.get(estimate.phase)
    where = outside or estimate.layer or estimate.at
    largest, size_bytes = max(estimate.parts().items(), key=lambda part: part[1])
    cards.facts(
        [
            ("Estimated peak", words.size(estimate.peak_bytes), _named(estimate)),
            *_lean(estimate),
            ("Where", escape.clip(where, 40), "when the peak is" if outside else "the layer that runs at the peak"),
            ("Most of it", estimate_figures.PARTS[largest][0], words.share(size_bytes, estimate.peak_bytes)),
        ]
    )


def _lean(estimate: Estimate) -> list[tuple[str, str, str]]:
    if estimate.lean_peak_bytes is None:
        return []
    return [("With lean settings", words.size(estimate.lean_peak_bytes), "three lines before the process starts")]


def _named(estimate: Estimate) -> str:
    size = open_size.said(estimate.open_sizes)
    return f"batch {words.count(estimate.batch_size)}" + (f", {size}" if size else "")
