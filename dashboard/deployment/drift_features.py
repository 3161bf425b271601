"""The features of a comparison: a table, the most drifted first, and the chosen one on both sides."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import cards, escape, figures, linked, render, words
from dashboard.deployment import drift_figures
from stethoscope.drift.report import (
    NO_TEST,
    SCHEMA,
    CategoryHistogram,
    CategorySide,
    FeatureDrift,
    NumberSide,
    SmallestShift,
)

TESTS = {
    "anderson_darling": "Anderson–Darling",
    "chi_squared": "χ²",
    "chi_squared_permuted": "χ² (permuted)",
    "fisher_exact": "Fisher's exact test",
    SCHEMA: "type of the column",
    NO_TEST: "none: one value only",
}
_ROLES = {
    "label": "label",
    "prediction": "prediction",
    "confidence": "confidence",
    "correctness": "right or wrong",
    "missing": "missing",
}
_TABLE, _FEATURE = "drift-features", "feature"
_MANY = 8
_COLUMNS = (
    "name",
    "role",
    "kind",
    "test",
    "statistic",
    "p_value",
    "p_adjusted",
    "q_value",
    "psi_above_chance",
    "wasserstein",
    "jensen_shannon",
    "effect",
    "significant",
    "drifted",
    "n_reference",
    "n_current",
)


def by_key(features: Sequence[FeatureDrift]) -> dict[str, FeatureDrift]:
    """The features by their names; where two have the same, the later ones are numbered."""
    found: dict[str, FeatureDrift] = {}
    for one in features:
        name, number = one.name, 1
        while name in found:
            number += 1
            name = f"{one.name} ({number})"
        found[name] = one
    return found


def draw(features: Sequence[FeatureDrift], name: str) -> None:
    """The table with its filter, and the feature that is looked at.

    Args:
        features: of the answer, the most drifted first.
        name: of the reference's file, for the download. Hostile.
    """
    if not features:
        return
    known = by_key(features)
    st.markdown("**Features, the most drifted first**")
    shown = _filtered(known)
    keys = list(shown)

    def clicked() -> None:
        rows = st.session_state[_TABLE]["selection"]["rows"]
        if rows and rows[0] < len(keys):
            st.session_state[_FEATURE] = keys[rows[0]]

    if shown:
        st.dataframe(
            table(shown),
            hide_index=True,
            height="content" if len(shown) <= _MANY else 330,
            key=_TABLE,
            on_select=clicked,
            selection_mode="single-row",
            column_config=_config(),
            placeholder="—",
        )
    else:
        st.caption("No feature has that in its name." if not st.session_state.get("drift-only") else "None of them.")
    said, download = st.columns([4, 1], vertical_alignment="center")
    said.caption(
        "p is corrected for all tests together; PSI is above what chance gives so few rows. Choose a row to see both sides."
    )
    download.download_button(
        "CSV",
        as_csv(features),
        f"{escape.file_name(name)}.drift.csv",
        "text/csv",
        key="drift-csv",
        on_click="ignore",
        width="stretch",
    )
    chosen = linked.select(
        "Feature to look at", {key: escape.clip(key, 80) for key in known}, next(iter(known)), _FEATURE
    )
    one(known[chosen])


def _filtered(known: Mapping[str, FeatureDrift]) -> dict[str, FeatureDrift]:
    if len(known) <= _MANY:
        return dict(known)
    find, only = st.columns([3, 1], vertical_alignment="center")
    text = find.text_input(
        "Filter features", key="drift-find", placeholder="Filter by name", label_visibility="collapsed"
    )
    drifted = only.toggle("Drifted only", key="drift-only")
    return {
        key: row for key, row in known.items() if text.strip().lower() in key.lower() and (row.drifted or not drifted)
    }


def table(features: Mapping[str, FeatureDrift]) -> dict[str, list[Any]]:
    """One row for each feature; numbers stay numbers, so that a click on a column's head sorts by them."""
    rows = list(features.values())
    found: dict[str, list[Any]] = {
        "Feature": [
            escape.clip(key) + (f" ({_ROLES[row.role]})" if row.role == "label" and key != "label" else "")
            for key, row in features.items()
        ],
        "Drifted": ["yes" if row.drifted else "no" for row in rows],
        "Test": [TESTS.get(row.test, str(row.test).replace("_", " ")) for row in rows],
        "Statistic": [None if row.test in (SCHEMA, NO_TEST) else row.statistic for row in rows],
        "p, corrected": [None if row.test == NO_TEST else row.p_adjusted for row in rows],
        "PSI": [None if row.psi is None else row.psi_above_chance for row in rows],
        "Size": [row.effect if row.test != NO_TEST else "—" for row in rows],
        "Could show": [smallest(row.smallest_detectable) for row in rows],
    }
    return found


def _config() -> dict[str, Any]:
    number = st.column_config.NumberColumn
    return {
        "Statistic": number(format="%.3g", width="small"),
        "p, corrected": number(format="%.2g", width="small"),
        "PSI": number(format="%.3g", width="small", help="Population stability index above what chance gives"),
        "Size": st.column_config.TextColumn(
            width="small", help="Of the PSI: below 0.1 negligible, below 0.25 small, else large"
        ),
        "Drifted": st.column_config.TextColumn(width="small"),
        "Could show": st.column_config.TextColumn(help="The smallest shift that would be found four times out of five"),
    }


def smallest(shift: SmallestShift | None) -> str:
    """The smallest drift that so few rows show, in its unit."""
    if shift is None:
        return "—"
    return f"{words.significant(shift.value, 2)} {'sd' if shift.unit == 'standard deviations' else 'points'}"


def one(row: FeatureDrift) -> None:
    """One feature: what was found, and both sides as a picture."""
    with st.container(border=True):
        tone: render.Tone = "bad" if row.drifted else "good"
        render.verdict(tone, "Drift" if row.drifted else "No drift", sentence(row))
        facts = _facts(row)
        if facts:
            cards.facts(facts)
        figure = drift_figures.both_sides(row)
        if figure is not None:
            st.plotly_chart(
                figure,
                config=figures.CONFIG,
                key="drift-feature-picture",
                alt=f"{escape.clip(row.name)}: share of the rows with each value, reference and current",
            )
        for categories, side in ((row.new, "current data"), (row.gone, "reference")):
            if categories:
                st.caption(f"Only in the {side}: {', '.join(escape.code(value, 40) for value in categories[:10])}")


def sentence(row: FeatureDrift) -> str:
    """What became of one feature; Markdown-safe."""
    name = escape.code(row.name, 60)
    if row.note and row.test in (SCHEMA, NO_TEST):
        return f"{name}: {escape.markdown(row.note, 200)}"
    if row.test == NO_TEST:
        return f"{name} has one value on both sides"
    test = TESTS.get(row.test, str(row.test).replace("_", " "))
    p = f"p {p_value(row.p_adjusted)} corrected, {test}"
    right = _right(row)
    if right is not None and row.significant:
        return f"{name} has changed from {right[0]} to {right[1]}: a {row.effect} drift ({p})"
    if row.drifted:
        return f"{name} has changed: a {row.effect} drift ({p})"
    if row.significant:
        return f"{name} has changed, by less than what counts: a {row.effect} drift ({p})"
    return f"{name}: no drift was found ({p}); {smallest(row.smallest_detectable)} would have been"


def _right(row: FeatureDrift) -> tuple[str, str] | None:
    """The share of right predictions on both sides; None of other features."""
    drawn = row.histogram
    if row.role != "correctness" or not isinstance(drawn, CategoryHistogram) or "right" not in drawn.categories:
        return None
    at = drawn.categories.index("right")
    return words.share(drawn.reference[at], sum(drawn.reference)), words.share(drawn.current[at], sum(drawn.current))


def p_value(value: float) -> str:
    """A p-value with its sign of comparison."""
    return "< 0.0001" if value < 1e-4 else f"= {words.significant(value, 2)}"


def _facts(row: FeatureDrift) -> list[tuple[str, str, str]]:
    facts: list[tuple[str, str, str]] = []

    def changed(label: str, was: float | None, now: float | None) -> None:
        if was is not None and now is not None:
            facts.append((label, f"{words.significant(float(was))} → {words.significant(float(now))}", ""))

    if isinstance(row.reference, NumberSide) and isinstance(row.current, NumberSide):
        changed("Mean", row.reference.mean, row.current.mean)
        changed("Spread (standard deviation)", row.reference.std, row.current.std)
        changed("Median", row.reference.median, row.current.median)
    if isinstance(row.reference, CategorySide) and isinstance(row.current, CategorySide):
        changed("Different values", row.reference.distinct, row.current.distinct)
    if row.psi is not None and row.psi_by_chance is not None:
        facts.append(("PSI", words.significant(row.psi), f"by chance {words.significant(row.psi_by_chance, 2)}"))
    for distance, label, note in (
        (row.wasserstein, "Wasserstein distance", "in standard deviations of the reference"),
        (row.jensen_shannon, "Jensen–Shannon distance", "0 alike, 1 nothing in common"),
    ):
        if distance is not None:
            facts.append((label, words.significant(distance), note))
    if row.ks:
        facts.append(
            ("Kolmogorov–Smirnov", words.significant(row.ks.statistic), f"p {p_value(row.ks.p_value)}, not corrected")
        )
    if row.n_reference is not None:
        facts.append(("Rows", f"{row.n_reference:,} and {row.n_current:,}", ""))
    return facts


def made_by_model(features: Sequence[FeatureDrift]) -> None:
    """Predictions, confidence and accuracy on both sides, as small pictures."""
    made = [row for row in features if row.role in ("prediction", "confidence", "correctness")]
    drawn = [(row, figure) for row in made[:4] if (figure := drift_figures.both_sides(row, 220)) is not None]
    if not drawn:
        return
    st.markdown("**Predictions and confidence**")
    grid = st.grid(2, min_column_width=340, gap=("small", "medium"))
    for place, (row, figure) in enumerate(drawn):
        with grid.cell(), st.container(gap=None):
            st.markdown(sentence(row))
            st.plotly_chart(
                figure,
                config=figures.CONFIG,
                key=f"drift-made-{place}",
                alt=f"{escape.clip(row.name)}, reference and current",
            )


def as_csv(features: Sequence[FeatureDrift]) -> str:
    """All features as a table for other programs."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(_COLUMNS)
    for row in features:
        writer.writerow([_cell(getattr(row, key)) for key in _COLUMNS])
    return stream.getvalue()


def _cell(value: Any) -> Any:
    """A spreadsheet takes what begins like a formula for one."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value
