"""The answer of one comparison of data: the verdict, what it could have shown, its parts, and how it was done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dashboard import cards, escape, recipes, render, words
from dashboard.data import data_use
from dashboard.deployment import drift_features, drift_fit, drift_score, drift_time, drift_whole
from dashboard.deployment.drift_jobs import split
from dashboard.session import View
from stethoscope.codec import answer_of
from stethoscope.drift.report import DriftReport
from stethoscope.drift.settings import DriftSettings
from stethoscope.jobs.protocol import JobState
from stethoscope.types import JobResult, Status

_MOST_NOTES = 6
_ABOUT_DATA = {
    "BadInput": "These two do not go together.",
    "BadSetting": "A setting does not go with this data.",
    "UnreadableFile": "This data cannot be read.",
    "UnsafeFile": "This data holds something that is not accepted.",
    "TooLarge": "This data declares more than is read.",
}
"""What is said of an error that is about the data and not about a model."""


def answer(state: JobState, view: View, beside: Callable[[JobState, View], None] | None = None) -> None:
    """Everything about a comparison that ended.

    Args:
        state: of the comparison.
        view: who looks.
        beside: draws what can be done with an answer, beside the verdict.
    """
    assert state.result is not None
    if state.result.status is not Status.OK:
        _ended(state, state.result)
        return
    report = answer_of(state.result, DriftReport)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="stretch"):
            render.verdict(*verdict(report))
        if beside is not None:
            beside(state, view)
    cards.facts(_facts(report, state))
    for note in report.notes[:_MOST_NOTES]:
        st.info(escape.sentences(words.readable(note)))
    drift_features.draw(report.features, report.rows.reference.name)
    drift_features.made_by_model(report.features)
    if report.over_time is not None:
        drift_time.draw(report.over_time)
    drift_whole.whole(report)
    if report.subgroups is not None:
        drift_whole.groups(report.subgroups)
    _how(state, report, view)


def _ended(state: JobState, result: JobResult) -> None:
    """Why there is no answer, in words about data."""
    said = _ABOUT_DATA.get(result.error)
    if said is None:
        render.ending(state)
        return
    with st.container(border=True):
        render.verdict("careful", "Cannot be compared", said)
        st.markdown(escape.sentences(result.reason))
    if state.params.get("with_model") and result.error == "BadInput" and not state.params.get("monitor_id"):
        st.caption("Prepare the data for the model, or compare the data alone.")
        drift_fit.prepare_link(str(state.params.get("reference_id")), "Make the data fit the model")


def verdict(report: DriftReport) -> tuple[render.Tone, str, str]:
    """(tone, badge, sentence) of a comparison."""
    said = escape.sentences(words.readable(report.sentence))
    return ("bad", "Drift", said) if report.drifted else ("good", "No drift found", said)


def _facts(report: DriftReport, state: JobState) -> list[tuple[str, str, str]]:
    facts = drift_score.facts(report.score)
    for side, label in ((report.rows.reference, "Reference"), (report.rows.current, "Current")):
        of = f", {side.read:,} of them read" if side.read < side.rows else ""
        facts.append((label, escape.code(side.name, 40), f"{words.plural(side.rows, 'row')}{of}"))
    if report.smallest_detectable is not None:
        facts.append(
            (
                "What so few rows could show",
                f"{words.significant(report.smallest_detectable, 2)} standard deviations",
                "a shift of that size is found 4 times out of 5",
            )
        )
    facts.append(("Wrong at most", percent(report.alpha), "of times where nothing has changed"))
    if report.layer:
        whose = "of the model in view" if state.params.get("with_model") else ""
        facts.append(("Seen by the layer", escape.code(report.layer, 40), whose))
    return facts


def percent(share: float) -> str:
    """A level that somebody set, as they would write it."""
    return f"{words.given(100 * share)} %"


def _how(state: JobState, report: DriftReport, view: View) -> None:
    asked = DriftSettings.from_json(state.params)
    with st.expander("How this was done, and how to do it yourself"):
        st.markdown(
            "Numbers are compared by the two-sample Anderson–Darling test, which sees location, spread and tails; categories by χ², or an "
            "exact or permuted test where few rows are expected of one. Rows as wholes are compared by a classifier on rows that it was "
            "not trained on, and by the maximum mean discrepancy."
        )
        st.markdown(
            f"Single features have 60 % of the {percent(asked.alpha)} of false alarms together, rows as wholes 40 %; within each, "
            "a correction for their number that allows for features that move together. The size of a drift is the PSI above what chance gives so few rows: below 0.1 negligible, below 0.25 small."
            + (
                f" Here a drift counts from {words.given(asked.min_effect)}."
                if asked.min_effect
                else " Here any size counts."
            )
        )
        st.markdown(
            "Rows are taken as independent of each other. Rows of one patient, session or video count as more evidence than they are: "
            "compare one of each, or means."
        )
        schema = report.schema
        for names, side in ((schema.only_reference, "reference"), (schema.only_current, "current data")):
            if names:
                st.caption(
                    f"Only in the {side}, not compared: {', '.join(escape.code(name, 40) for name in names[:20])}"
                )
        if state.result is not None:
            st.caption(
                f"Took {words.duration(state.result.wall_s)}{', kept from before' if state.cached else ''} · peak memory "
                f"{words.size(state.result.peak_rss_bytes)}"
            )
        if not state.params.get("monitor_id"):
            st.markdown("**Command line**")
            st.code(command(state, report, view), language="bash", wrap_lines=True)


def command(state: JobState, report: DriftReport, view: View) -> str:
    """The `stethoscope drift` that does the same."""
    plain, asked = DriftSettings(), DriftSettings.from_json(state.params)
    names = report.rows.reference.name, report.rows.current.name
    first = names[0].removesuffix(" (earlier half)") if split(state) else names[0]
    chosen = {
        name.replace("_", "-"): words_of
        for name in (
            "alpha",
            "min_effect",
            "columns",
            "ignore",
            "time",
            "prediction",
            "confidence",
            "label",
            "rows",
            "seed",
            "layer",
        )
        if (words_of := _option(getattr(asked, name), getattr(plain, name))) is not None
    }
    model = view.entry.name if state.params.get("with_model") and view.entry is not None else None
    return recipes.command_line(
        "drift",
        first,
        {
            "model": model,
            **chosen,
            "no-subgroups": None if asked.subgroups else True,
            **data_use.command_options(state.params),
            "trust": True if model and state.params.get("trusted") else None,
            **({} if model else {"code": None}),
        },
        *(() if split(state) else (names[1],)),
    )


def _option(value: Any, plain: Any) -> str | None:
    if value == plain:
        return None
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
