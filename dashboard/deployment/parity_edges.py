"""Rows at the edges of what a model can be given: what both answer."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import words
from stethoscope.compare.parity.comparison import EdgeAnswers


def show(found: Sequence[EdgeAnswers]) -> None:
    """A table of the cases; folded where both answer all of them the same."""
    if not found:
        return
    apart = [one for one in found if not one.within]
    if not apart:
        with st.expander(f"Edge cases: the same in all {len(found):,}"):
            _table(found)
        return
    st.markdown(f"**Edge cases: {len(apart):,} of {len(found):,} are answered differently**")
    _table(found)
    st.caption(
        "Inputs that data rarely has and a broken sensor has at once. They do not count for the verdict: a format that keeps "
        "integers has no NaN and no infinity, and cuts large values off."
    )


def _table(found: Sequence[EdgeAnswers]) -> None:
    st.dataframe(table(found), hide_index=True, height="content")


def table(found: Sequence[EdgeAnswers]) -> dict[str, list[str]]:
    """One row for each case."""
    return {
        "All values are": [one.case.removeprefix("all ") for one in found],
        "Within tolerance": ["yes" if one.within else "no" for one in found],
        "The first answers": [one.a for one in found],
        "The other answers": [one.b for one in found],
        "Largest difference": [
            "no number" if one.max_abs_diff is None else words.difference(one.max_abs_diff) for one in found
        ],
    }
