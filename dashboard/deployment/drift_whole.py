"""Rows compared as wholes, and the groups of rows in which the drift is worst."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import escape, words
from dashboard.deployment.drift_features import p_value
from stethoscope.drift.report import DriftReport, GroupDrift, NotCompared, Subgroups, ToldApart, WholeRows

_TESTS = {"domain_classifier": "Domain classifier", "mmd": "Maximum mean discrepancy"}
_FIELDS = 6


def whole(report: DriftReport) -> None:
    """The domain classifier and the maximum mean discrepancy, on the data and on the model's layer."""
    if not report.whole:
        return
    st.markdown("**Rows as wholes**")
    if report.ran:
        st.dataframe(whole_table(report.ran), hide_index=True, height="content")
        st.caption(
            "A classifier tries to tell the sides apart on rows that it was not trained on: an area of 0.5 is chance, 1 is "
            "certainty. The discrepancy compares means in a space of all features at once."
        )
    for test in report.whole:
        if isinstance(test, NotCompared):
            st.caption(f"{escape.markdown(test.of.capitalize(), 60)}: {escape.markdown(test.note, 200)}")
    fields = next((test.fields for test in report.ran if isinstance(test, ToldApart) and test.fields), ())
    used = [field for field in fields if field.auc_lost > 0.005][:_FIELDS]
    if used:
        names = ", ".join(
            f"{escape.code(field.name, 40)} ({words.significant(field.auc_lost, 2)} of the area)" for field in used
        )
        st.caption(f"What the classifier goes by: {names}.")


def whole_table(ran: Sequence[WholeRows]) -> dict[str, list[str]]:
    """One row for each test."""
    return {
        "Of": [escape.clip(one.of[:1].upper() + one.of[1:], 80) for one in ran],
        "Test": [_TESTS[one.test] for one in ran],
        "Area under the curve": [
            f"{one.auc:.2f} ({one.low:.2f} … {one.high:.2f})" if isinstance(one, ToldApart) else "—" for one in ran
        ],
        "Statistic": [words.significant(one.statistic) for one in ran],
        "p, corrected": [p_value(one.p_adjusted).removeprefix("= ") for one in ran],
        "Drifted": ["yes" if one.drifted else "no" for one in ran],
        "Rows": [_rows(one) for one in ran],
    }


def _rows(one: WholeRows) -> str:
    if isinstance(one, ToldApart):
        return f"{one.n_train:,} to learn, {one.n_test:,} to test"
    return f"{one.n_reference:,} and {one.n_current:,}"


def groups(found: Subgroups) -> None:
    """Where it is worst."""
    if not found.tested:
        return
    st.markdown("**Where it is worst**")
    drifted = [one for one in found.groups if one.drifted]
    complete = "" if found.complete else " There was no time for all of them."
    if not drifted:
        st.caption(f"In none of {words.plural(found.tested, 'group')} of rows a drift was found.{complete}")
        return
    st.dataframe(groups_table(drifted), hide_index=True, height="content")
    st.caption(
        f"{words.plural(found.tested, 'group')} of at least 30 rows on both sides: the values of a category, the quarters of a number. "
        f"p is corrected for all of them; groups do not decide the verdict.{complete}"
    )


def groups_table(drifted: Sequence[GroupDrift]) -> dict[str, list[str]]:
    """One row for each group that drifts, the largest drift first."""
    return {
        "Where": [f"{escape.clip(one.field, 60)} is {escape.clip(one.value, 60)}" for one in drifted],
        "Drifts most": [escape.clip(one.worst, 60) for one in drifted],
        "PSI above chance": [words.significant(one.psi_above_chance) for one in drifted],
        "p, corrected": [p_value(one.p_value).removeprefix("= ") for one in drifted],
        "Rows": [f"{one.n_reference:,} and {one.n_current:,}" for one in drifted],
    }
