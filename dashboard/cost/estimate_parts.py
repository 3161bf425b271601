"""What a run would need, said before anything is run: the parts of the peak by batch size, and what is alive when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import cards, escape, figures, render, run_panel, runs, session, words
from dashboard.cost import estimate_figures
from stethoscope.memory.run_settings import RunSettings
from stethoscope.types import Architecture, Job, Status

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
        settings = RunSettings(batch_size=max(batch_sizes), call=call)
        params = {"settings": settings.to_json(), "batch_sizes": list(batch_sizes), "sizes": list(sizes)}
        return runs.estimate(entry, architecture, params)

    with go:
        run_panel.button("Estimate without running", job, view, disabled=not allowed)
    state = run_panel.state(
        "estimate",
        view,
        "Traces the graph for each batch and adds up what is alive at the same time: the peak, the layer where it is, and "
        "what is held there. The model is loaded, and not run.",
    )
    if state is None:
        return
    assert state.result is not None
    if state.result.status is not Status.OK:
        render.ending(state)
    value = state.result.value
    if value.get("cannot"):
        st.info(escape.sentences(str(value["cannot"])))
    if value.get("estimates"):
        swept = run_panel.finished("sweep", view)
        points = () if swept is None or swept.result is None else swept.result.value.get("points") or ()
        answer(value["estimates"], architecture, points)


def answer(
    estimates: Sequence[Mapping[str, Any]], architecture: Architecture, points: Sequence[Mapping[str, Any]]
) -> None:
    """The parts of each estimate beside the measured `points`, then one batch's memory over the order it runs in."""
    st.plotly_chart(
        estimate_figures.parts(estimates, points), config=figures.CONFIG, key="estimate-parts",
        alt="Estimated peak memory by batch size, by what it is for",
    )  # fmt: skip
    chosen = estimates[-1]
    if len(estimates) > 1:
        place = st.select_slider(
            "Memory over one run", range(len(estimates)), len(estimates) - 1, key="estimate-batch",
            format_func=lambda number: _named(estimates[number]),
        )  # fmt: skip
        chosen = estimates[int(place)]
    _facts(chosen)
    st.plotly_chart(
        estimate_figures.timeline(chosen), config=figures.CONFIG, key="estimate-timeline",
        alt="Bytes alive over the order in which the model's operations run",
    )  # fmt: skip
    layer = str(chosen.get("layer") or "")
    if any(known.path == layer for known in architecture.layers):
        render.go_to("architecture", f"{escape.clip(layer, 40)} →", layer=layer)
    alive = chosen.get("alive") or ()
    st.dataframe(
        {
            "Alive at the peak": [escape.clip(str(item["layer"] or item["name"]), 80) for item in alive],
            "Shape": [words.shape(item["shape"]) for item in alive],
            "Type": [str(item["dtype"]) for item in alive],
            "Size": [words.size(item["size_bytes"]) for item in alive],
        },
        hide_index=True,
    )
    for note in chosen.get("notes") or ():
        st.caption(escape.sentences(str(note)))
    st.caption(
        "Nothing was run: the graph was traced for each batch size, and what is alive together was added up over the order of its "
        "operations. What the framework itself needs is a measured constant."
    )


def _facts(one: Mapping[str, Any]) -> None:
    outside = _OUTSIDE.get(str(one["phase"]))
    where = outside or str(one.get("layer") or one.get("at") or "")
    largest = max(estimate_figures.PARTS, key=lambda part: int(one[f"{part}_bytes"]))
    cards.facts(
        [
            ("Estimated peak", words.size(one["peak_bytes"]), _named(one)),
            ("Where", escape.clip(where, 40), "when the peak is" if outside else "the layer that runs at the peak"),
            ("Most of it", estimate_figures.PARTS[largest][0], words.share(one[f"{largest}_bytes"], one["peak_bytes"])),
        ]
    )


def _named(one: Mapping[str, Any]) -> str:
    size = "" if one.get("size") is None else f", size {words.count(int(one['size']))}"
    return f"batch {words.count(int(one['batch_size']))}{size}"
