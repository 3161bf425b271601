"""What a comparison of two sides comes to, in words: the score first where there is one, then features and rows as wholes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from stethoscope.drift.report import SCHEMA, FeatureDrift, OverTime, WholeRows
from stethoscope.drift.scores import ScoreChange, SideScore
from stethoscope.drift.settings import DriftSettings
from stethoscope.evidence.row_scores import signed


def sentence(
    rows: Sequence[FeatureDrift],
    together: Sequence[WholeRows],
    settings: DriftSettings,
    smallest: Sequence[float],
    score: ScoreChange | None,
    stretches: OverTime | None,
) -> str:
    """The verdict in words.

    Args:
        rows: features, the most drifted first.
        together: tests of whole rows that say drift.
        settings: what was asked.
        smallest: what each feature could show, in standard deviations.
        score: how right predictions are on both sides.
        stretches: of time.
    """
    if score is None:
        return _features(rows, together, settings, smallest)
    others = [row for row in rows if row.role != "correctness"]
    measured = [] if stretches is None else [one.value for one in stretches.stretches if one.value is not None]
    return f"{_score(score, measured)} {_features(others, together, settings, smallest, besides=score.drifted)}"


def _features(
    rows: Sequence[FeatureDrift],
    together: Sequence[WholeRows],
    settings: DriftSettings,
    smallest: Sequence[float],
    *,
    besides: bool = False,
) -> str:
    if drifted := [row for row in rows if row.drifted]:
        first = drifted[0]
        how = (
            "changed its type"
            if first.test == SCHEMA
            else f"a {first.effect} drift, p = {first.p_adjusted:.2g} corrected"
        )
        return f"{len(drifted):,} of {len(rows):,} features drifted; {first.name} most ({how})."
    if together:
        first_test = together[0]
        return (
            f"No single feature drifted, but the rows as wholes did ({first_test.of}: a classifier tells the sides apart with an "
            f"area of {first_test.auc:.2f}): features have changed how they go together."
        )
    size = (
        f"; a shift of {median(smallest):.2g} standard deviations would be found four times out of five"
        if smallest
        else ""
    )
    small = " of the size asked for" if settings.min_effect else ""
    other = "other " if besides else ""
    return (
        f"No {other}drift{small} was found in {len(rows):,} features at a false-alarm rate of {settings.alpha:g}{size}."
    )


def _score(one: ScoreChange, stretches: Sequence[float]) -> str:
    """The score of both sides in words, and where only labels moved, that; `stretches` is it over time, in order."""
    whose = " of a simple model that learned half of the reference" if one.by == "simple model" else ""
    what = f"{one.measure.capitalize()}{whose}"
    if not one.drifted or one.low <= 0 <= one.high:
        how = "its rows are spread otherwise" if one.drifted else "not beyond chance"
        return (
            f"{what}: {_side(one.reference)} then, {_side(one.current)} now; {how} (change {signed(one.change)}, 95 % {signed(one.low)} … "
            f"{signed(one.high)}; p = {one.p_adjusted:.2g} corrected)."
        )
    moved = "rose" if one.change > 0 else "fell"
    said = (
        f"{what} {moved} from {_side(one.reference)} to {_side(one.current)}: {'better' if one.better else 'worse'} by "
        f"{abs(one.change):.3f}."
    )
    if len(stretches) > 2 and (stretches[-1] - stretches[0]) * one.change > 0:
        said += f" From the first stretch of time to the last it went from {stretches[0]:.3f} to {stretches[-1]:.3f}."
    if one.concept:
        said += " The inputs show no drift: what belongs to them has changed (concept drift), or labels are wrong."
    return said


def _side(side: SideScore) -> str:
    return f"{side.value:.3f} ({side.low:.3f} … {side.high:.3f}, {side.rows:,} rows)"
