"""The Consistency page's answer: verdict, tests, the first layer that differs, the picture, and how it was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import cards, escape, figures, render, tables, words
from stethoscope.jobs.state import JobState
from stethoscope.types import Status

_BADGE: Mapping[Any, tuple[render.Tone, str]] = {
    True: ("good", "passed"),
    False: ("bad", "failed"),
    None: ("plain", "not applicable"),
}


def answer(state: JobState, code: str) -> None:
    """Everything about a finished run."""
    result = state.result
    if result is None or result.status is not Status.OK:
        render.ending(state)
        return
    value = result.value
    tests: Sequence[Mapping[str, Any]] = value["tests"]
    render.verdict(*verdict(value))
    tried = [test for test in tests if test["passed"] is not None]
    st.caption(
        f"{words.plural(len(tried), 'test')} of {len(tests)} applied to this model · {words.plural(int(value['runs']), 'run')} · "
        f"took {words.duration(result.wall_s)}{' · kept from an earlier run' if state.cached else ''}"
    )
    _first_difference(value.get("first_difference"))
    halves = st.grid(2, min_column_width=360, gap=("small", "medium"))
    left, right = halves.cell(), halves.cell()
    with left:
        _tests(tests)
    with right:
        _pictures(value)
    _two_runs(value)
    _how(value, state, code)


def verdict(value: Mapping[str, Any]) -> tuple[render.Tone, str, str]:
    """The answer to the page's question: (tone, badge, sentence)."""
    by_id = {str(test["id"]): test for test in value["tests"]}
    runs = int(value["runs"])

    def failed(test_id: str) -> bool:
        return test_id in by_id and by_id[test_id]["passed"] is False

    if failed("same-input-tolerance"):
        return "bad", "Inconsistent", "No. The same input gave different outputs."
    if failed("batch-1-vs-n"):
        return "bad", "Depends on the batch", "No. A sample's output depends on which other samples are in its batch."
    if not value["consistent"]:
        return "bad", "Inconsistent", "Not in every way that was tested; see the tests below."
    if failed("finite"):
        return "careful", "Not finite", "The output is the same each time, but it holds NaN or infinite values."
    if failed("same-input-bitwise"):
        return (
            "good",
            "Consistent within tolerance",
            f"Yes, within the tolerance: {runs} runs differ only in their last bits.",
        )
    return (
        "good",
        "Consistent",
        f"Yes. The same input gave the same output, to the last bit, in {words.plural(runs, 'run')}.",
    )


def _first_difference(found: Mapping[str, Any] | None) -> None:
    if not found:
        return
    with st.container(border=True):
        st.markdown(f"**First layer that differs:** {escape.code(found['layer'])}")
        st.markdown(escape.sentences(words.readable(found["reason"])))
        first, second = (found.get("values") or [None, None])[:2]
        place = ", ".join(str(part) for part in found.get("index") or [])
        cards.facts(
            [
                ("The layer gave", escape.markdown(_value(first)), "in one run"),
                ("The layer gave", escape.markdown(_value(second)), "in another"),
                ("Difference in the layer", words.difference(found.get("max_abs_diff")), "the largest of its values"),
                ("At element", escape.markdown(f"[{place}]" if place else "—"), "of the layer's output"),
            ]
        )
        st.caption("These are values inside the model. How much its output changes is shown below.")
        render.go_to("architecture", "Show this layer in the graph →", layer=str(found["layer"]))


def _value(value: Any) -> str:
    try:
        return words.given(float(value))
    except (TypeError, ValueError):
        return str(value)


def _tests(tests: Sequence[Mapping[str, Any]]) -> None:
    st.markdown("**What was tested**")
    with st.container(border=True, gap="small"):
        within = any(test.get("id") == "same-input-tolerance" and test["passed"] for test in tests)
        for test in tests:
            tone, label = _BADGE.get(test["passed"], _BADGE[None])
            if test.get("id") == "same-input-bitwise" and test["passed"] is False and within:
                tone, label = "plain", "only rounding"
            meaning = tables.TEST_MEANING.get(str(test.get("id")))
            with st.container(gap=None):
                with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                    st.badge(label, color=render.colour(tone))
                    st.markdown(f"**{escape.markdown(test['name'])}**", help=meaning, width="content")
                st.caption(escape.markdown(words.readable(test.get("detail") or ""), 600))


def _pictures(value: Mapping[str, Any]) -> None:
    measured = [test for test in value["tests"] if test["passed"] is not None and test.get("max_abs_diff") is not None]
    if measured:
        st.markdown("**How much the output changes**")
        figure = figures.test_differences(measured, float(value["settings"]["atol"]))
        st.plotly_chart(figure, config=figures.CONFIG, key="differences", alt="Largest difference by test")


def _two_runs(value: Mapping[str, Any]) -> None:
    samples = {name: pair for name, pair in (value.get("samples") or {}).items() if figures.differs(pair)}
    if not samples:
        return
    st.markdown("**The same input, two runs**")
    for place, (name, pair) in enumerate(list(samples.items())[:3]):
        figure = figures.two_runs(pair["first"], pair["other"], name)
        alt = "Output values of the first run and of the run that differs most"
        st.plotly_chart(figure, config=figures.CONFIG, key=f"runs-{place}", alt=alt)


def _how(value: Mapping[str, Any], state: JobState, code: str) -> None:
    with st.expander("How this was done"):
        settings = value["settings"]
        given = ", ".join(
            f"{escape.code(name)} {words.shape(item['shape'])} {escape.markdown(item['dtype'])}"
            for name, item in (value.get("input") or {}).items()
        )
        source = "random input" if settings.get("input") in (None, "dummy") else escape.markdown(settings["input"])
        st.markdown(
            f"The model was opened once in a contained process and given {source} made with seed {int(settings['seed'])}"
            f"{': ' + given if given else ''}. It ran {int(value['runs'])} times on exactly that input in inference mode; then once in training "
            f"mode, and row by row. Outputs were compared bit by bit and with an absolute tolerance of "
            f"{words.given(float(settings['atol']))}. When they differed, every layer's output was recorded in two runs and "
            "compared in execution order."
        )
        st.dataframe(tables.tests(value["tests"]), hide_index=True)
        st.markdown("The same from the command line:")
        st.code(code, language="bash", wrap_lines=True)
        if state.result is not None:
            st.caption(f"Peak memory {words.size(state.result.peak_rss_bytes)} · job {escape.code(state.id[:8])}")
