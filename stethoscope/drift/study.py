"""The whole comparison of two sides: features, rows as wholes, groups, time, and one verdict at the level that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

from stethoscope.drift.corrections import holm
from stethoscope.drift.domain_classifier import MOST_PERMUTATIONS, PERMUTATIONS, discrepancy, told_apart
from stethoscope.drift.feature_tests import judged, tested
from stethoscope.drift.field_columns import Field
from stethoscope.drift.learned_labels import learned
from stethoscope.drift.measures import seconds_of
from stethoscope.drift.model_views import ModelViews
from stethoscope.drift.over_time import correctness, over_time, split_by_time
from stethoscope.drift.pairing import Feature, Paired, paired
from stethoscope.drift.reading import LogColumns, Side, log_columns
from stethoscope.drift.report import (
    Discrepancy,
    DriftReport,
    FeatureDrift,
    FieldUsed,
    Fired,
    NotCompared,
    OverTime,
    RowsOfBoth,
    SchemaChanges,
    SideRows,
    Subgroups,
    ToldApart,
    WholeRows,
)
from stethoscope.drift.scores import ScoreChange, ScoredBy, score_change
from stethoscope.drift.sentences import sentence
from stethoscope.drift.settings import DriftSettings, as_auc, in_words
from stethoscope.drift.subgroups import Points, points_of, points_of_vectors, worst_groups
from stethoscope.errors import BadInput

FEATURES_SHARE = 0.6
"""Of alpha that the tests of single features have together; the tests of whole rows have the rest (Bonferroni over the two)."""
LEAST_ROWS = 2
LEAST_WHOLE_ROWS = 20
"""Of each side, for rows to be compared as wholes."""
_ONE_COLUMN = "One column only: its own test says it all."
Report = Callable[[str, float, str], None]


def study(
    reference: Side, current: Side | None, settings: DriftSettings, report: Report, model: ModelViews | None = None
) -> DriftReport:
    """Compares two sides.

    Args:
        reference: what was read of the reference.
        current: of the current data; None to divide the reference by time.
        settings: what is asked.
        report: progress: phase, 0 … 1, a sentence.
        model: what a model makes of both.

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
    right, by = _correctness(reference, current, settings, log, pair, model)
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
    weight = FEATURES_SHARE if any(not isinstance(one, NotCompared) for one in whole) and counted else 1.0
    rows = judged(found, pair.changed_types, settings.alpha, weight, settings.min_effect)
    whole = _judged_whole(whole, settings, 1 - FEATURES_SHARE if weight < 1 else 1.0)
    groups = None
    if settings.subgroups:
        report("subgroups", 0.0, "looking for groups of rows that drift most")
        own = [one for one in features if len(one.reference_rows) == len(one.reference)]
        groups = worst_groups(own, (reference.used, current.used), settings.alpha, [row.name for row in rows])
    report("time", 0.0, "stretches of time")
    stretches = over_time(reference, current, log, pair.features, settings.alpha) if log.time else None
    score = None if right is None else _score(right, by, rows, whole)
    return _answer(reference, current, settings, log, pair, rows, whole, groups, stretches, model, score)


def _correctness(
    reference: Side, current: Side, settings: DriftSettings, log: LogColumns, pair: Paired, model: ModelViews | None
) -> tuple[Feature | None, ScoredBy]:
    """How right predictions are on both sides, and whose: the model's, those of the log, else a simple model's."""
    if model is not None and model.right is not None:
        return model.right, "model"
    found = correctness(reference, current, log)
    if found is not None or model is not None or not settings.whole_rows:
        return found, "log"
    labels = list(dict.fromkeys(one.field for one in pair.features if one.role == "label"))
    names = list(dict.fromkeys(one.field for one in pair.features if one.role == "feature"))
    if len(labels) != 1:
        return None, "log"
    return learned(reference, current, labels[0], names, settings.seed), "simple model"


def _score(
    right: Feature, by: ScoredBy, rows: Sequence[FeatureDrift], whole: Sequence[NotCompared | WholeRows]
) -> ScoreChange | None:
    tested_row = next((row for row in rows if row.role == "correctness" and row.name == right.name), None)
    if tested_row is None:
        return None
    inputs = any(row.role == "feature" for row in rows)
    others = any(row.drifted for row in rows if row.role not in ("correctness", "label"))
    together = any(test.drifted for test in whole if not isinstance(test, NotCompared))
    return score_change(
        right,
        by,
        tested_row.p_adjusted,
        drifted=tested_row.drifted,
        inputs_drifted=others or together if inputs else None,
    )


def _name_moments(settings: DriftSettings, sides: Sequence[Side]) -> None:
    """A column named as that of moments is one, whatever it looks like."""
    for side in sides:
        one = side.fields.get(settings.time)
        if one is not None and one.moments is None:
            one.moments = seconds_of(one.words) if one.words is not None else one.numbers.get("")


def _whole(
    reference: Side, current: Side, pair: Paired, settings: DriftSettings, report: Report, model: ModelViews | None
) -> list[NotCompared | WholeRows]:
    if not settings.whole_rows:
        return []
    import sklearn.ensemble  # noqa: F401 - what is loaded later is not limited
    from threadpoolctl import threadpool_limits

    made: list[NotCompared | WholeRows] = []
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
                made.append(NotCompared(of, "none", _ONE_COLUMN))
            elif points is not None:
                made += _tests_of(of, points, settings, 2 * len(clouds), report)
    return made


def _plain(one: Field) -> bool:
    """Whether the field is one column of numbers or categories, and not measured in several ways."""
    return one.kind != "text" and (one.words is not None or set(one.numbers) == {""})


def _tests_of(
    of: str, points: Points, settings: DriftSettings, tests: int, report: Report
) -> list[NotCompared | WholeRows]:
    if points.reference.shape[1] < 2:
        return [NotCompared(of, "none", _ONE_COLUMN)]
    if min(len(points.reference), len(points.current)) < LEAST_WHOLE_ROWS:
        return [NotCompared(of, "none", f"Fewer than {LEAST_WHOLE_ROWS} rows on a side.")]
    report("whole rows", 0.2, f"domain classifier on the {of[:80]}")
    told = told_apart(points.reference, points.current, points.fields, settings.seed)
    report("whole rows", 0.7, f"maximum mean discrepancy of the {of[:80]}")
    apart = discrepancy(points.reference, points.current, settings.seed, _permutations(settings.alpha, tests))
    return [
        ToldApart(
            of=of,
            statistic=told.auc,
            p_value=told.p_value,
            auc=told.auc,
            low=told.low,
            high=told.high,
            n_train=told.train,
            n_test=told.test,
            fields=tuple(FieldUsed(name, lost) for name, lost in told.fields) if of == "data" else (),
        ),
        Discrepancy(
            of=of,
            statistic=apart.statistic,
            p_value=apart.p_value,
            bandwidth=apart.bandwidth,
            auc=told.auc,
            n_reference=apart.reference,
            n_current=apart.current,
        ),
    ]


def _permutations(alpha: float, tests: int) -> int:
    """So many that the smallest p-value can pass all corrections twice over."""
    return min(MOST_PERMUTATIONS, max(PERMUTATIONS, round(2 * tests / ((1 - FEATURES_SHARE) * alpha))))


def _judged_whole(
    whole: Sequence[NotCompared | WholeRows], settings: DriftSettings, share: float
) -> list[NotCompared | WholeRows]:
    adjusted = iter(holm([test.p_value for test in whole if not isinstance(test, NotCompared)]))
    least = as_auc(settings.min_effect)
    made: list[NotCompared | WholeRows] = []
    for test in whole:
        if isinstance(test, NotCompared):
            made.append(test)
            continue
        p_adjusted = min(1.0, float(next(adjusted)) / share)
        significant = p_adjusted <= settings.alpha
        drifted = significant and (not settings.min_effect or test.auc >= least)
        effect = in_words(_psi_of(test.auc))
        made.append(replace(test, p_adjusted=p_adjusted, significant=significant, drifted=drifted, effect=effect))
    return made


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
    rows: Sequence[FeatureDrift],
    whole: Sequence[NotCompared | WholeRows],
    groups: Subgroups | None,
    stretches: OverTime | None,
    model: ModelViews | None,
    score: ScoreChange | None,
) -> DriftReport:
    drifted = [row for row in rows if row.drifted]
    together = [test for test in whole if not isinstance(test, NotCompared) and test.drifted]
    fired = (
        *(Fired("feature", row.name, row.p_adjusted) for row in drifted),
        *(Fired(test.test, test.of, test.p_adjusted) for test in together),
    )
    smallest = [row.smallest_detectable.standardised for row in rows if row.smallest_detectable]
    notes = [*reference.notes, *current.notes, *(model.notes if model is not None else ())]
    notes += [f"{name!r} is in the reference only; it is not compared." for name in pair.only_reference[:10]]
    notes += [f"{name!r} is in the current data only; it is not compared." for name in pair.only_current[:10]]
    if pair.moments:
        names = ", ".join(repr(name) for name in pair.moments[:10])
        notes.append(f"{names}: moments always move on; of them only the share that is missing is compared.")
    if groups and not fired and any(group.drifted for group in groups.groups):
        worst = groups.groups[0]
        notes.append(
            f"No drift in the whole, but where {worst.field} is {worst.value}, {worst.worst} has drifted: look there."
        )
    if score is not None and score.drifted and score.by == "model" and not score.better:
        notes.append(
            "If the model was trained on the reference, it remembers its rows: part of the difference is that, and no drift. Give rows "
            "that were held back as the reference."
        )
    return DriftReport(
        verdict="drift" if fired else "no_drift",
        sentence=sentence(rows, together, settings, smallest, score, stretches),
        score=score,
        fired=fired,
        features=tuple(rows),
        smallest_detectable=median(smallest) if smallest else None,
        alpha=settings.alpha,
        whole=tuple(whole),
        subgroups=groups,
        over_time=stretches,
        predictions=tuple(row.name for row in rows if row.role in ("prediction", "confidence", "correctness")),
        labels=tuple(row.name for row in rows if row.role == "label"),
        layer=model.layer if model is not None else None,
        log=log,
        schema=SchemaChanges(pair.only_reference, pair.only_current, pair.changed_types),
        rows=RowsOfBoth(_rows(reference), _rows(current)),
        notes=tuple(notes),
        settings=settings,
    )


def _rows(side: Side) -> SideRows:
    return SideRows(side.name, side.rows, side.used, side.sampled, side.damaged)


def _nothing_common(reference: Side, current: Side, pair: Paired) -> str:
    if pair.moments and not pair.only_reference:
        return (
            f"{current.name}: expected columns of values to compare, got moments only ({', '.join(pair.moments[:8])}). Add the "
            "columns that belong to them."
        )
    had = ", ".join(pair.only_reference[:8]) or "none"
    has = ", ".join(pair.only_current[:8]) or "none"
    return f"{current.name}: expected columns that {reference.name} has too ({had}), got {has}. Rename them, or choose other files."
