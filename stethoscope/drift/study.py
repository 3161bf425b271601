"""The whole comparison of two sides: features, rows as wholes, groups, time, and one verdict at the level that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from stethoscope.drift.corrections import holm
from stethoscope.drift.domain_classifier import told_apart
from stethoscope.drift.effects import as_auc, in_words
from stethoscope.drift.feature_tests import SCHEMA, judged, tested
from stethoscope.drift.field_columns import Field
from stethoscope.drift.log_columns import LogColumns, log_columns
from stethoscope.drift.mean_embedding import MOST_PERMUTATIONS, PERMUTATIONS, discrepancy
from stethoscope.drift.model_views import ModelViews
from stethoscope.drift.moments import seconds_of
from stethoscope.drift.over_time import correctness, over_time, split_by_time
from stethoscope.drift.pairing import Paired, paired
from stethoscope.drift.reading import Side
from stethoscope.drift.settings import DriftSettings
from stethoscope.drift.subgroups import worst_groups
from stethoscope.drift.whole_rows import Points, points_of, points_of_vectors
from stethoscope.errors import BadInput

FEATURES_SHARE = 0.6
"""Of alpha that the tests of single features have together; the tests of whole rows have the rest (Bonferroni over the two)."""
LEAST_ROWS = 2
LEAST_WHOLE_ROWS = 20
"""Of each side, for rows to be compared as wholes."""
Report = Callable[[str, float, str], None]


def study(
    reference: Side, current: Side | None, settings: DriftSettings, report: Report, model: ModelViews | None = None
) -> dict[str, Any]:
    """Compares two sides.

    Args:
        reference: what was read of the reference.
        current: of the current data; None to divide the reference by time.
        settings: what is asked.
        report: progress: phase, 0 … 1, a sentence.
        model: what a model makes of both.

    Returns:
        {"verdict": "drift" | "no_drift", "sentence", "fired", "features", "whole", "subgroups", "over_time", "schema",
        "smallest_detectable" (standard deviations: the median over the features), "alpha", "rows", "notes", "settings"}.

    Raises:
        BadInput: nothing that could be compared.
        BadSetting: a column that was named is not there.
    """
    _name_moments(settings, [side for side in (reference, current) if side is not None])
    log = log_columns(settings, reference, current)
    if current is None:
        reference, current = split_by_time(reference, log.time)
    for side in (reference, current):
        if side.used < LEAST_ROWS:
            raise BadInput(
                f"{side.name}: expected at least {LEAST_ROWS} rows that can be read, got {side.used}. Add some."
            )
    pair = paired(reference, current, log, settings.seed)
    features = [*pair.features, *(model.features if model is not None else ())]
    right = correctness(reference, current, log)
    features += [right] if right is not None else []
    if not features and not pair.changed_types:
        raise BadInput(_nothing_common(reference, current, pair))
    report("features", 0.0, f"{len(features):,} features")
    found = []
    for number, one in enumerate(features):
        found.append(tested(one))
        report("features", number / len(features), one.name[:80])
    whole = _whole(reference, current, pair, settings, report, model)
    counted = any(one.counted for one in found)
    weight = FEATURES_SHARE if any("p_value" in one for one in whole) and counted else 1.0
    rows = judged(found, pair.changed_types, settings.alpha, weight, settings.min_effect)
    _judge_whole(whole, settings, 1 - FEATURES_SHARE if weight < 1 else 1.0)
    groups = None
    if settings.subgroups:
        report("subgroups", 0.0, "looking for groups of rows that drift most")
        own = [one for one in features if len(one.reference_rows) == len(one.reference)]
        groups = worst_groups(own, (reference.used, current.used), settings.alpha, [row["name"] for row in rows])
    report("time", 0.0, "stretches of time")
    stretches = over_time(reference, current, log, pair.features, settings.alpha) if log.time else None
    return _answer(reference, current, settings, log, pair, rows, whole, groups, stretches, model)


def _name_moments(settings: DriftSettings, sides: Sequence[Side]) -> None:
    """A column named as that of moments is one, whatever it looks like."""
    for side in sides:
        one = side.fields.get(settings.time)
        if one is not None and one.moments is None:
            one.moments = seconds_of(one.words) if one.words is not None else one.numbers.get("")


def _whole(
    reference: Side, current: Side, pair: Paired, settings: DriftSettings, report: Report, model: ModelViews | None
) -> list[dict[str, Any]]:
    if not settings.whole_rows:
        return []
    import sklearn.ensemble  # noqa: F401 - what is loaded later is not limited
    from threadpoolctl import threadpool_limits

    made: list[dict[str, Any]] = []
    names = list(dict.fromkeys(one.field for one in pair.features if one.role == "feature"))
    clouds: list[tuple[str, Points | None]] = [
        ("data", points_of(reference, current, names, settings.seed) if names else None)
    ]
    if model is not None:
        clouds.append((f"layer {model.layer}", points_of_vectors(*model.embedding, model.layer)))
    # Trainings and products this small are slower in several threads, which mostly wait for each other.
    with threadpool_limits(1):
        for of, points in clouds:
            if (
                points is not None
                and of == "data"
                and len(set(points.fields)) == 1
                and _plain(reference.fields[points.fields[0]])
            ):
                made.append({"of": of, "test": "none", "note": "One column only: its own test says it all."})
            elif points is not None:
                made += _tests_of(of, points, settings, 2 * len(clouds), report)
    return made


def _plain(one: Field) -> bool:
    """Whether the field is one column of numbers or categories, and not measured in several ways."""
    return one.kind != "text" and (one.words is not None or set(one.numbers) == {""})


def _tests_of(of: str, points: Points, settings: DriftSettings, tests: int, report: Report) -> list[dict[str, Any]]:
    if points.reference.shape[1] < 2:
        return [{"of": of, "test": "none", "note": "One column only: its own test says it all."}]
    if min(len(points.reference), len(points.current)) < LEAST_WHOLE_ROWS:
        return [{"of": of, "test": "none", "note": f"Fewer than {LEAST_WHOLE_ROWS} rows on a side."}]
    report("whole rows", 0.2, f"domain classifier on the {of[:80]}")
    told = told_apart(points.reference, points.current, points.fields, settings.seed)
    report("whole rows", 0.7, f"maximum mean discrepancy of the {of[:80]}")
    apart = discrepancy(points.reference, points.current, settings.seed, _permutations(settings.alpha, tests))
    return [
        {
            "of": of,
            "test": "domain_classifier",
            "statistic": told.auc,
            "p_value": told.p_value,
            "auc": told.auc,
            "low": told.low,
            "high": told.high,
            "n_train": told.train,
            "n_test": told.test,
            "fields": [{"name": name, "auc_lost": lost} for name, lost in told.fields] if of == "data" else [],
        },
        {
            "of": of,
            "test": "mmd",
            "statistic": apart.statistic,
            "p_value": apart.p_value,
            "bandwidth": apart.bandwidth,
            "auc": told.auc,
            "n_reference": apart.reference,
            "n_current": apart.current,
        },
    ]


def _permutations(alpha: float, tests: int) -> int:
    """So many that the smallest p-value can pass all corrections twice over."""
    return min(MOST_PERMUTATIONS, max(PERMUTATIONS, round(2 * tests / ((1 - FEATURES_SHARE) * alpha))))


def _judge_whole(whole: list[dict[str, Any]], settings: DriftSettings, share: float) -> None:
    ran = [one for one in whole if "p_value" in one]
    least = as_auc(settings.min_effect)
    for one, p_value in zip(ran, holm([one["p_value"] for one in ran]), strict=True):
        adjusted = min(1.0, float(p_value) / share)
        significant = adjusted <= settings.alpha
        one |= {
            "p_adjusted": adjusted,
            "significant": significant,
            "drifted": significant and (not settings.min_effect or one["auc"] >= least),
            "effect": in_words(_psi_of(one["auc"])),
        }


def _psi_of(auc: float) -> float:
    """The PSI of two normal distributions that a classifier tells apart with this area: the inverse of `as_auc`."""
    from scipy.special import ndtri

    return float(2 * ndtri(min(max(auc, 0.5), 1 - 1e-9)) ** 2)


def _answer(
    reference: Side,
    current: Side,
    settings: DriftSettings,
    log: LogColumns,
    pair: Paired,
    rows: list[dict[str, Any]],
    whole: list[dict[str, Any]],
    groups: dict[str, Any] | None,
    stretches: dict[str, Any] | None,
    model: ModelViews | None,
) -> dict[str, Any]:
    drifted = [row for row in rows if row["drifted"]]
    together = [one for one in whole if one.get("drifted")]
    fired = [{"what": "feature", "name": row["name"], "p_adjusted": row["p_adjusted"]} for row in drifted] + [
        {"what": one["test"], "name": one["of"], "p_adjusted": one["p_adjusted"]} for one in together
    ]
    smallest = [row["smallest_detectable"]["standardised"] for row in rows if row["smallest_detectable"]]
    notes = [*reference.notes, *current.notes, *(model.notes if model is not None else ())]
    notes += [f"{name!r} is in the reference only; it is not compared." for name in pair.only_reference[:10]]
    notes += [f"{name!r} is in the current data only; it is not compared." for name in pair.only_current[:10]]
    if pair.moments:
        names = ", ".join(repr(name) for name in pair.moments[:10])
        notes.append(f"{names}: moments always move on; of them only the share that is missing is compared.")
    if groups and not fired and any(one["drifted"] for one in groups["groups"]):
        worst = groups["groups"][0]
        notes.append(
            f"No drift in the whole, but where {worst['field']} is {worst['value']}, {worst['worst']} has drifted: look there."
        )
    return {
        "verdict": "drift" if fired else "no_drift",
        "sentence": _sentence(rows, drifted, together, settings, smallest),
        "fired": fired,
        "features": rows,
        "smallest_detectable": median(smallest) if smallest else None,
        "smallest_detectable_unit": "standard deviations",
        "alpha": settings.alpha,
        "whole": whole,
        "subgroups": groups,
        "over_time": stretches,
        "predictions": [row["name"] for row in rows if row["role"] in ("prediction", "confidence", "correctness")],
        "labels": [row["name"] for row in rows if row["role"] == "label"],
        "layer": model.layer if model is not None else None,
        "log": {"time": log.time, "prediction": log.prediction, "confidence": log.confidence, "label": log.label},
        "schema": {
            "only_reference": list(pair.only_reference),
            "only_current": list(pair.only_current),
            "changed_types": [list(one) for one in pair.changed_types],
        },
        "rows": {"reference": _rows(reference), "current": _rows(current)},
        "notes": notes,
        "settings": settings.to_json(),
    }


def _rows(side: Side) -> Mapping[str, Any]:
    return {"name": side.name, "rows": side.rows, "read": side.used, "sampled": side.sampled, "damaged": side.damaged}


def _sentence(
    rows: Sequence[Mapping[str, Any]],
    drifted: Sequence[Mapping[str, Any]],
    together: Sequence[Mapping[str, Any]],
    settings: DriftSettings,
    smallest: Sequence[float],
) -> str:
    if drifted:
        first = drifted[0]
        how = (
            "changed its type"
            if first["test"] == SCHEMA
            else f"a {first['effect']} drift, p = {first['p_adjusted']:.2g} corrected"
        )
        return f"{len(drifted):,} of {len(rows):,} features drifted; {first['name']} most ({how})."
    if together:
        one = together[0]
        return (
            f"No single feature drifted, but the rows as wholes did ({one['of']}: a classifier tells the sides apart with an "
            f"area of {one['auc']:.2f}): features have changed how they go together."
        )
    size = (
        f"; a shift of {median(smallest):.2g} standard deviations would be found four times out of five"
        if smallest
        else ""
    )
    small = " of the size asked for" if settings.min_effect else ""
    return f"No drift{small} was found in {len(rows):,} features at a false-alarm rate of {settings.alpha:g}{size}."


def _nothing_common(reference: Side, current: Side, pair: Paired) -> str:
    if pair.moments and not pair.only_reference:
        return (
            f"{current.name}: expected columns of values to compare, got moments only ({', '.join(pair.moments[:8])}). Add the "
            "columns that belong to them."
        )
    had = ", ".join(pair.only_reference[:8]) or "none"
    has = ", ".join(pair.only_current[:8]) or "none"
    return f"{current.name}: expected columns that {reference.name} has too ({had}), got {has}. Rename them, or choose other files."
