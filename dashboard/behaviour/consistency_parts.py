"""The Consistency page's answer: verdict, tests, the first layer that differs, the picture, and how it was done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard import cards, escape, figures, render, tables, words
from dashboard.behaviour import consistency_tests
from stethoscope.codec import partial_of
from stethoscope.compare.consistency.report import ConsistencyReport, FirstDifference, TwoRuns
from stethoscope.jobs.protocol import JobState
from stethoscope.types import Status


def answer(state: JobState, code: str) -> None:
    """Everything about a finished run; of one that died, what was known before."""
    result = state.result
    if result is None:
        return
    report = partial_of(result, ConsistencyReport)
    finished = result.status is Status.OK
    if not finished:
        render.ending(state)
    if report is None:
        return
    if finished:
        render.verdict(*verdict(report))
    else:
        st.caption("What was found before the run ended:")
    tests = report.tests
    tried = [test for test in tests if test.passed is not None or test.noted]
    st.caption(
        f"{words.plural(len(tried), 'test')} of {len(tests)} applied to this model · {words.plural(report.runs, 'run')} · "
        f"edge-case inputs: {consistency_tests.summary(consistency_tests.of_group(tests, 'robustness'))} · "
        f"took {words.duration(result.wall_s)}{' · kept from an earlier run' if state.cached else ''}"
    )
    _first_difference(report.first_difference)
    halves = st.grid(2, min_column_width=360, gap=("small", "medium"))
    left, right = halves.cell(), halves.cell()
    pictured = {name: pair for name, pair in report.samples.items() if figures.differs(pair)}
    known = "" if report.first_difference is None else report.first_difference.layer
    with left:
        st.markdown("**What was tested**")
        for group in ("determinism", "batch", "mode"):
            consistency_tests.section(tests, group, known=known)
    with right:
        _pictures(report)
        _two_runs(pictured)
    with left if pictured else right:  # beside each other the columns end at about the same height
        consistency_tests.section(tests, "save-reload", known=known)
    consistency_tests.section(tests, "robustness", known=known, columns=2)
    _how(report, state, code)


def verdict(report: ConsistencyReport) -> tuple[render.Tone, str, str]:
    """The answer to the page's question: (tone, badge, sentence)."""
    failed = {test.id for test in report.tests if test.passed is False}
    runs = report.runs
    if failed & {"same-input-tolerance", "same-after-others"}:
        return "bad", "Inconsistent", "No. The same input gave different outputs."
    if any(test_id.startswith("batch-") for test_id in failed):
        return "bad", "Depends on the batch", "No. A sample's output depends on which other samples are in its batch."
    if not report.consistent:
        return "bad", "Inconsistent", "Not in every way that was tested; see the tests below."
    for test_id, label, sentence in _RESERVATIONS:
        if test_id in failed:
            return "careful", label, f"The output is the same each time, but {sentence}."
    if "same-input-bitwise" in failed:
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


_RESERVATIONS = (
    ("finite", "Not finite", "it holds NaN or infinite values"),
    ("input-dependence", "Constant", "it does not depend on the input"),
    ("save-reload-outputs", "Not saved whole", "not after saving and loading the model"),
    ("save-reload-weights", "Not saved whole", "saving and loading changes the weights"),
    ("train-vs-inference", "Depends on the mode", "training mode changes it, and no layer explains why"),
)
"""What a model may fail while it is consistent: (test id, badge, how the sentence goes on)."""


def _first_difference(found: FirstDifference | None) -> None:
    if found is None:
        return
    with st.container(border=True):
        st.markdown(f"**First layer that differs:** {escape.code(found.layer)}")
        st.markdown(escape.sentences(words.readable(found.reason)))
        first, second = (found.values or (None, None))[:2]
        place = ", ".join(str(part) for part in found.index)
        cards.facts(
            [
                ("The layer gave", escape.markdown(_value(first)), "in one run"),
                ("The layer gave", escape.markdown(_value(second)), "in another"),
                ("Difference in the layer", words.difference(found.max_abs_diff), "the largest of its values"),
                ("At element", escape.markdown(f"[{place}]" if place else "—"), "of the layer's output"),
            ]
        )
        st.caption("These are values inside the model. How much its output changes is shown below.")
        render.go_to("architecture", "Show this layer in the graph →", layer=found.layer)


def _value(value: Any) -> str:
    try:
        return words.given(float(value))
    except (TypeError, ValueError):
        return str(value)


def _pictures(report: ConsistencyReport) -> None:
    measured = [
        test
        for test in report.tests
        if test.passed is not None and test.max_abs_diff is not None and test.group != "robustness"
    ]
    if measured:
        st.markdown("**How much the output changes**")
        figure = figures.test_differences(measured, report.settings.atol)
        st.plotly_chart(figure, config=figures.CONFIG, key="differences", alt="Largest difference by test")


def _two_runs(samples: Mapping[str, TwoRuns]) -> None:
    if not samples:
        return
    st.markdown("**The same input, two runs**")
    for place, (name, pair) in enumerate(list(samples.items())[:3]):
        figure = figures.two_runs(pair, name)
        alt = "Output values of the first run and of the run that differs most"
        st.plotly_chart(figure, config=figures.CONFIG, key=f"runs-{place}", alt=alt)


def _how(report: ConsistencyReport, state: JobState, code: str) -> None:
    with st.expander("How this was done"):
        settings = report.settings
        given = ", ".join(
            f"{escape.code(name)} {words.shape(item.shape)} {escape.markdown(item.dtype)}"
            for name, item in report.input.items()
        )
        source = "random input" if settings.input == "dummy" else escape.markdown(settings.input)
        st.markdown(
            f"The model was opened once in a contained process and given {source} made with seed {settings.seed}"
            f"{': ' + given if given else ''}. It ran {report.runs} times on exactly that input in inference mode, again after "
            "another input, row by row, in batches of other sizes, shuffled, and with all other rows replaced. A Keras model was saved "
            "to a file and loaded from it. Then came the edge cases, four rows each, and training mode last, because it may change the "
            f"weights in memory. Outputs were compared bit by bit, and with an absolute tolerance of {words.given(settings.atol)}, "
            "a relative one of 0.0001, and a millionth of the largest value (all wider in half precision). Where they differed, every "
            "layer's output was recorded twice and compared in execution order."
        )
        st.dataframe(tables.tests(report.tests), hide_index=True)
        st.markdown("The same from the command line:")
        st.code(code, language="bash", wrap_lines=True)
        if state.result is not None:
            st.caption(f"Peak memory {words.size(state.result.peak_rss_bytes)} · job {escape.code(state.id[:8])}")
