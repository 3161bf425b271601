"""One feature, tested: is it drifted, by how much, and how it looks on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.study.numbers import BINS
from stethoscope.drift import measures
from stethoscope.drift.corrections import correct
from stethoscope.drift.pairing import Feature
from stethoscope.drift.report import (
    NO_TEST,
    SCHEMA,
    CategoryHistogram,
    CategorySide,
    Distance,
    FeatureDrift,
    Measured,
    NumberHistogram,
    NumberSide,
    SmallestShift,
)
from stethoscope.drift.scores import counts, effect_of
from stethoscope.drift.settings import Effect, decile_counts, in_words, psi, psi_by_chance, wasserstein
from stethoscope.drift.two_samples import Ordered, TwoSample, anderson_darling, kolmogorov_smirnov, same_mix

SHOWN_CATEGORIES = 30


@dataclass(frozen=True)
class Tested:
    """One feature before the correction for many tests."""

    feature: Feature
    answer: TwoSample
    measured: Measured
    counted: bool
    """Whether it takes part in the correction: a feature with one value on both sides cannot drift."""
    categories: int = 0
    """How many there are on both sides,"""
    commonest_share: float = 0.0
    """and the share of all rows that the most frequent one has."""


def tested(feature: Feature) -> Tested:
    """Tests one feature and measures its drift."""
    reference, current = feature.reference, feature.current
    if not len(reference) or not len(current):
        side = "reference" if not len(reference) else "current data"
        rows = Measured(n_reference=len(reference), n_current=len(current), note=f"The {side} has no value here.")
        return Tested(feature, TwoSample(NO_TEST, 0.0, 1.0), rows, False)
    return _number(feature) if feature.kind == "number" else _category(feature)


def _number(feature: Feature) -> Tested:
    reference, current = feature.reference, feature.current
    ordered = Ordered.of(reference, current)
    ks = kolmogorov_smirnov(reference, current)
    index, chance, above = _psi(*decile_counts(reference, current))
    measured = Measured(
        psi=index,
        psi_by_chance=chance,
        psi_above_chance=above,
        wasserstein=_finite(wasserstein(reference, current)),
        ks=Distance(ks.statistic, ks.p_value),
        reference=_moments(reference),
        current=_moments(current),
        histogram=_histogram(reference, current),
        note=feature.note,
        n_reference=len(reference),
        n_current=len(current),
    )
    return Tested(feature, anderson_darling(ordered), measured, len(ordered.pooled) > 1)


def _category(feature: Feature) -> Tested:
    from scipy.spatial.distance import jensenshannon

    words, place = np.unique(np.concatenate([feature.reference, feature.current]).astype(str), return_inverse=True)
    first = np.bincount(place[: len(feature.reference)], minlength=len(words))
    second = np.bincount(place[len(feature.reference) :], minlength=len(words))
    order = np.argsort(-(first + second), kind="stable")
    first, second = first[order], second[order]
    names = [str(name) for name in words[order]]
    shown = min(SHOWN_CATEGORIES, len(names))
    index, chance, above = _psi(first, second)
    measured = Measured(
        psi=index,
        psi_by_chance=chance,
        psi_above_chance=above,
        jensen_shannon=float(jensenshannon(first, second, base=2)),
        reference=CategorySide(int((first > 0).sum()), names[first.argmax()]),
        current=CategorySide(int((second > 0).sum()), names[second.argmax()]),
        histogram=CategoryHistogram(
            tuple(names[:shown]),
            tuple(first[:shown].tolist()),
            tuple(second[:shown].tolist()),
            (int(first[shown:].sum()), int(second[shown:].sum())),
        ),
        note=feature.note,
        n_reference=len(feature.reference),
        n_current=len(feature.current),
        new=tuple(name for name, was, now in zip(names, first, second, strict=True) if not was and now)[:20],
        gone=tuple(name for name, was, now in zip(names, first, second, strict=True) if was and not now)[:20],
    )
    commonest = float((first + second)[0] / (first.sum() + second.sum()))
    return Tested(feature, same_mix(first, second), measured, len(names) > 1, len(names), commonest)


def judged(
    tests: Sequence[Tested],
    changed: Sequence[tuple[str, str, str]],
    alpha: float,
    weight: float = 1.0,
    min_effect: float = 0.0,
) -> list[FeatureDrift]:
    """The features, corrected for how many there are; most drifted first.

    Args:
        tests: of every feature.
        changed: fields that changed their type, as `Paired.changed_types`.
        alpha: of the whole verdict.
        weight: the share of it that the features have together; "p_adjusted" is to be compared with `alpha`.
        min_effect: see `DriftSettings`.
    """
    from scipy.stats import false_discovery_control

    counted = [test for test in tests if test.counted]
    p_values = [test.answer.p_value for test in counted]
    joint = correct([test.feature for test in counted], p_values)
    level = joint.level(alpha * weight)
    q_values = false_discovery_control(p_values)
    adjusted = dict(zip(map(id, counted), zip(joint.adjusted, q_values, strict=True), strict=True))
    made = []
    for test in tests:
        p_family, q_value = adjusted.get(id(test), (1.0, 1.0))
        p_adjusted = min(1.0, float(p_family) / weight)
        above = test.measured.psi_above_chance
        significant = test.counted and bool(p_adjusted <= alpha)
        effect, enough = _size(test.feature, above, min_effect)
        made.append(
            FeatureDrift(
                name=test.feature.name,
                field=test.feature.field,
                role=test.feature.role,
                kind=test.feature.kind,
                test=test.answer.test if test.counted else NO_TEST,
                statistic=test.answer.statistic,
                p_value=test.answer.p_value,
                p_adjusted=p_adjusted,
                q_value=float(q_value),
                significant=significant,
                drifted=significant and enough,
                effect=effect,
                smallest_detectable=_smallest(test, level, min_effect),
                **vars(test.measured),
            )
        )
    made.sort(key=lambda row: (not row.drifted, row.p_adjusted, row.p_value, -row.psi_above_chance))
    return [_changed(*change) for change in changed] + made


def _size(feature: Feature, above: float, min_effect: float) -> tuple[Effect, bool]:
    """How large a drift is, and whether that counts."""
    if feature.role == "correctness":
        effect = effect_of(feature)
        return effect, counts(effect, min_effect)
    return in_words(above), above >= min_effect


def _smallest(test: Tested, alpha: float, min_effect: float) -> SmallestShift | None:
    rows = len(test.feature.reference), len(test.feature.current)
    if not test.counted:
        return None
    if test.feature.kind == "number":
        shift = measures.shift(alpha, *rows, min_effect)
        return None if shift is None else SmallestShift(shift, "standard deviations", shift)
    mixed = measures.mix(alpha, *rows, test.categories, test.commonest_share, min_effect)
    return None if mixed is None else SmallestShift(100 * mixed[0], "percentage points", mixed[1])


def _changed(name: str, was: str, now: str) -> FeatureDrift:
    return FeatureDrift(
        name=name,
        field=name,
        role="feature",
        kind="type",
        test=SCHEMA,
        statistic=1.0,
        p_value=0.0,
        p_adjusted=0.0,
        q_value=0.0,
        significant=True,
        drifted=True,
        effect="large",
        note=f"This column held {was} and holds {now} now. Look at how it is written.",
    )


def _psi(reference: npt.NDArray[Any], current: npt.NDArray[Any]) -> tuple[float, float, float]:
    """The index of two sides counted over the same bins or categories, what chance alone makes of it, and what is above that."""
    index = psi(reference, current)
    chance = psi_by_chance(len(reference), int(reference.sum()), int(current.sum()))
    return index, chance, max(0.0, index - chance)


def _moments(values: npt.NDArray[np.float64]) -> NumberSide:
    quartiles = np.quantile(values, (0.25, 0.5, 0.75))
    with np.errstate(all="ignore"):
        numbers = values.mean(), values.std(), values.min(), values.max(), *quartiles
    return NumberSide(*(_finite(float(value)) for value in numbers))


def _finite(value: float) -> float | None:
    """None for what numbers near the largest ones add up to."""
    return value if np.isfinite(value) else None


def _histogram(reference: npt.NDArray[np.float64], current: npt.NDArray[np.float64]) -> NumberHistogram:
    """Both sides over the same `BINS` bins; what lies beyond the middle 99 % of both is in the outer ones."""
    both = np.concatenate([reference, current])
    low, high = (float(edge) for edge in np.quantile(both, (0.005, 0.995)))
    if low >= high:
        low, high = float(both.min()), float(both.max())
    if low >= high:
        low, high = low - 0.5, high + 0.5
    with np.errstate(all="ignore"):
        edges = np.linspace(low, high, BINS + 1)
    if not np.isfinite(edges).all():
        return NumberHistogram((), (), ())
    first, second = (np.histogram(np.clip(side, low, high), edges)[0].tolist() for side in (reference, current))
    return NumberHistogram(tuple(edges.tolist()), tuple(first), tuple(second))
