"""The answer of the overfit test: could it learn a few samples, how far, and what stands in the way."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard import cards, escape, figures, render, words
from dashboard.behaviour import evidence_figures
from stethoscope.checks.findings import Curves, Line
from stethoscope.codec import answer_of
from stethoscope.evidence.trials import OverfitEvidence
from stethoscope.jobs.protocol import JobState
from stethoscope.tasks.overfit import OverfitTest
from stethoscope.types import Status

_VERDICTS: Mapping[str, tuple[render.Tone, str, str]] = {
    "fits": ("good", "It can", "It learned these samples by heart: nothing blocks learning."),
    "partly": ("careful", "Partly", "It learned some of these samples, and then got no further."),
    "cannot": ("bad", "It cannot", "It could not learn even these few samples: something blocks learning."),
    "diverges": ("bad", "It diverges", "The loss grew or became NaN while it learned these few samples."),
    "crashes": ("bad", "It crashes", "Training ended with an error before the first step."),
}


def answer(state: JobState, code: str) -> None:
    """Everything about one finished test."""
    assert state.result is not None
    if state.result.status is not Status.OK:
        render.ending(state)
        return
    test = answer_of(state.result, OverfitTest)
    found = test.overfit
    render.verdict(*_VERDICTS.get(found.verdict, ("plain", "No answer", "The test left no verdict.")))
    if found.reason:
        st.markdown(escape.sentences(found.reason))
    for sentence in test.assumed:
        st.caption(escape.sentences(sentence))
    cards.facts(
        [
            (
                "Samples",
                words.count(found.samples),
                "random input and labels" if found.source != "data" else "from your data",
            ),
            (
                "Got right",
                words.share(round(found.fitted_fraction * found.samples), max(1, found.samples)),
                "of them at the end",
            ),
            (
                "Loss",
                f"{words.difference(found.initial_loss)} → {words.difference(found.final_loss)}",
                f"in {words.plural(found.steps, 'step')}",
            ),
            ("Learning rate", words.given(found.learning_rate), _rate_note(found)),
        ]
    )
    if found.loss:
        curve = Curves(
            "Loss on these samples",
            "Step",
            "Loss",
            (Line("loss", tuple(float(step) for step in found.loss_steps), found.loss),),
            log_y=min(found.loss) > 0,
        )
        st.plotly_chart(
            evidence_figures.curves(curve),
            config=figures.CONFIG,
            key="overfit-curve",
            alt="Loss on a few samples by step",
        )
    for layer in found.blocked:
        with st.container(border=True, gap=None):
            st.markdown(f"**Blocked at** {escape.code(layer.path)}: {escape.markdown(layer.reason)}")
            render.go_to("architecture", "Show this layer in the graph →", layer=layer.path)
    with st.expander("How this was done"):
        off = ", ".join(escape.code(name) for name in found.regularisation_off[:8])
        st.markdown(
            "A copy of the model was trained on these samples only, all of them in every step, with its own loss and optimizer"
            + (f"; regularisation was switched off in {off}" if off else "")
            + ". A model that cannot learn a handful of samples cannot learn more: the fault lies in the model, the loss or the "
            "labels, not in how much data there is."
        )
        st.markdown("As part of a diagnosis from the command line:")
        st.code(code, language="bash", wrap_lines=True)


def _rate_note(found: OverfitEvidence) -> str:
    own = found.own_learning_rate
    if own is None or own == found.learning_rate:
        return "the model's own"
    return f"found by trying; the model's own is {words.given(own)}"
