"""One feature, tested: is it drifted, by how much, and how it looks on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data_study.numbers import BINS
from stethoscope.drift import smallest_shift
from stethoscope.drift.category_tests import same_mix
from stethoscope.drift.effects import decile_counts, in_words, psi, psi_by_chance, wasserstein
from stethoscope.drift.joint_correction import correct
from stethoscope.drift.pairing import Feature
from stethoscope.drift.rank_tests import Ordered, TwoSample, anderson_darling, kolmogorov_smirnov

SHOWN_CATEGORIES = 30
NO_TEST = "none"
SCHEMA = "type"
"""The test of a column that changed its type: no chance is involved."""


@dataclass(frozen=True)
class Tested:
    """One feature before the correction for many tests."""

    feature: Feature
    answer: TwoSample
    details: dict[str, Any]
    """JSON values: psi, effect and pictures."""
    counted: bool
    """Whether it takes part in the correction: a feature with one value on both sides cannot drift."""


def tested(feature: Feature) -> Tested:
    """Tests one feature and measures its drift."""
    reference, current = feature.reference, feature.current
    rows = {"n_reference": len(reference), "n_current": len(current)}
    if not len(reference) or not len(current):
        side = "reference" if not len(reference) else "current data"
        said = {"note": f"The {side} has no value here.", "smallest": None}
        return Tested(feature, TwoSample(NO_TEST, 0.0, 1.0), _nothing() | rows | said, False)
    if feature.kind == "number":
        return _number(feature, rows)
    return _category(feature, rows)


def _nothing() -> dict[str, Any]:
    return {
        "psi": None, "psi_by_chance": None, "psi_above_chance": 0.0, "wasserstein": None, "jensen_shannon": None, "ks": None,
        "reference": None, "current": None, "histogram": None, "note": "",
    }  # fmt: skip


def _number(feature: Feature, rows: dict[str, int]) -> Tested:
    reference, current = feature.reference, feature.current
    ordered = Ordered.of(reference, current)
    ks = kolmogorov_smirnov(reference, current)
    bins = decile_counts(reference, current)
    details = (
        _nothing()
        | rows
        | {
            **_psi(*bins),
            "wasserstein": _finite(wasserstein(reference, current)),
            "ks": {"statistic": ks.statistic, "p_value": ks.p_value},
            "reference": _moments(reference),
            "current": _moments(current),
            "histogram": _histogram(reference, current),
            "note": feature.note,
        }
    )
    return Tested(feature, anderson_darling(ordered), details, len(ordered.pooled) > 1)


def _category(feature: Feature, rows: dict[str, int]) -> Tested:
    from scipy.spatial.distance import jensenshannon

    names, place = np.unique(np.concatenate([feature.reference, feature.current]).astype(str), return_inverse=True)
    first = np.bincount(place[: len(feature.reference)], minlength=len(names))
    second = np.bincount(place[len(feature.reference) :], minlength=len(names))
    order = np.argsort(-(first + second), kind="stable")
    names, first, second = names[order], first[order], second[order]
    new = [str(name) for name, was, now in zip(names, first, second, strict=True) if not was and now]
    gone = [str(name) for name, was, now in zip(names, first, second, strict=True) if was and not now]
    shown = min(SHOWN_CATEGORIES, len(names))
    details = (
        _nothing()
        | rows
        | {
            **_psi(first, second),
            "jensen_shannon": float(jensenshannon(first, second, base=2)),
            "reference": {"distinct": int((first > 0).sum()), "top": str(names[first.argmax()])},
            "current": {"distinct": int((second > 0).sum()), "top": str(names[second.argmax()])},
            "histogram": {
                "categories": [str(name) for name in names[:shown]],
                "reference": first[:shown].tolist(),
                "current": second[:shown].tolist(),
                "others": [int(first[shown:].sum()), int(second[shown:].sum())],
            },
            "new": new[:20],
            "gone": gone[:20],
            "categories": len(names),
            "commonest_share": float((first + second)[0] / (first.sum() + second.sum())),
            "note": feature.note,
        }
    )
    return Tested(feature, same_mix(first, second), details, len(names) > 1)


def judged(
    found: Sequence[Tested],
    changed: Sequence[tuple[str, str, str]],
    alpha: float,
    weight: float = 1.0,
    min_effect: float = 0.0,
) -> list[dict[str, Any]]:
    """The features as JSON, corrected for how many there are; most drifted first.

    Args:
        found: every feature.
        changed: fields that changed their type, as `Paired.changed_types`.
        alpha: of the whole verdict.
        weight: the share of it that the features have together; "p_adjusted" is to be compared with `alpha`.
        min_effect: see `DriftSettings`.
    """
    from scipy.stats import false_discovery_control

    counted = [one for one in found if one.counted]
    p_values = [one.answer.p_value for one in counted]
    joint = correct([one.feature for one in counted], p_values)
    level = joint.level(alpha * weight)
    q_values = false_discovery_control(p_values)
    adjusted = dict(zip(map(id, counted), zip(joint.adjusted, q_values, strict=True), strict=True))
    made = []
    for one in found:
        p_family, q_value = adjusted.get(id(one), (1.0, 1.0))
        p_adjusted = min(1.0, float(p_family) / weight)
        details = dict(one.details)
        above = details["psi_above_chance"]
        details["smallest_detectable"] = _smallest(one, level, min_effect)
        for key in ("categories", "commonest_share", "smallest"):
            details.pop(key, None)
        significant = one.counted and bool(p_adjusted <= alpha)
        made.append(
            {
                "name": one.feature.name,
                "field": one.feature.field,
                "role": one.feature.role,
                "kind": one.feature.kind,
                "test": one.answer.test if one.counted else NO_TEST,
                "statistic": one.answer.statistic,
                "p_value": one.answer.p_value,
                "p_adjusted": p_adjusted,
                "q_value": float(q_value),
                "significant": significant,
                "drifted": significant and above >= min_effect,
                "effect": in_words(above),
                **details,
            }
        )
    made.sort(key=lambda row: (not row["drifted"], row["p_adjusted"], row["p_value"], -row["psi_above_chance"]))
    return [_changed(*one) for one in changed] + made


def _smallest(one: Tested, alpha: float, min_effect: float) -> dict[str, Any] | None:
    rows = one.details["n_reference"], one.details["n_current"]
    if not one.counted:
        return None
    if one.feature.kind == "number":
        found = smallest_shift.shift(alpha, *rows, min_effect)
        return None if found is None else {"value": found, "unit": "standard deviations", "standardised": found}
    mixed = smallest_shift.mix(alpha, *rows, one.details["categories"], one.details["commonest_share"], min_effect)
    return None if mixed is None else {"value": 100 * mixed[0], "unit": "percentage points", "standardised": mixed[1]}


def _changed(name: str, was: str, now: str) -> dict[str, Any]:
    return {
        "name": name, "field": name, "role": "feature", "kind": "type", "test": SCHEMA, "statistic": 1.0, "p_value": 0.0,
        "p_adjusted": 0.0, "q_value": 0.0, "significant": True, "drifted": True, "effect": "large", **_nothing(),
        "n_reference": None, "n_current": None, "smallest_detectable": None,
        "note": f"This column held {was} and holds {now} now. Look at how it is written.",
    }  # fmt: skip


def _psi(reference: npt.NDArray[Any], current: npt.NDArray[Any]) -> dict[str, float]:
    """The index of two sides counted over the same bins or categories, what chance alone makes of it, and what is above that."""
    found, chance = psi(reference, current), psi_by_chance(len(reference), int(reference.sum()), int(current.sum()))
    return {"psi": found, "psi_by_chance": chance, "psi_above_chance": max(0.0, found - chance)}


def _moments(values: npt.NDArray[np.float64]) -> dict[str, float | None]:
    quartiles = np.quantile(values, (0.25, 0.5, 0.75))
    with np.errstate(all="ignore"):
        found = {"mean": values.mean(), "std": values.std(), "min": values.min(), "max": values.max()}
    found |= dict(zip(("q25", "median", "q75"), quartiles, strict=True))
    return {name: _finite(float(value)) for name, value in found.items()}


def _finite(value: float) -> float | None:
    """None for what numbers near the largest ones add up to."""
    return value if np.isfinite(value) else None


def _histogram(reference: npt.NDArray[np.float64], current: npt.NDArray[np.float64]) -> dict[str, Any]:
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
        return {"edges": [], "reference": [], "current": []}
    counts = [np.histogram(np.clip(side, low, high), edges)[0].tolist() for side in (reference, current)]
    return {"edges": edges.tolist(), "reference": counts[0], "current": counts[1]}
