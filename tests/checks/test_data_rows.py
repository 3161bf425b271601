"""Checks of rows and labels: gaps, constants, repeats, conflicts, imbalance, order, leaks, classes never found."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.evidence.fit import FitSettings
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.evidence.trials import BaselineEvidence, NetworkScore, Score, with_network
from stethoscope.tasks.profile import profile_data
from tests.checks.architectures import architecture, layer
from tests.checks.training_evidence import run, training
from tests.tables import each

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 8)).astype(np.float32)
Y = RANDOM.permutation(np.arange(300) % 3)
MODEL = architecture(
    layer("x", "InputLayer", (None, 8)),
    layer("hidden", "Dense", (None, 16), activation="relu"),
    layer("kind", "Dense", (None, 3), activation="softmax"),
)


def found(check: str, x=X, y=Y, fit: FitSettings | None = None, more=None, model=MODEL, **arrays) -> list[Finding]:
    data = profile_data({"x": np.asarray(x), "y": np.asarray(y), **arrays}, model, "rows.npz")
    evidence = EvidenceSet(architecture=model, fit=fit or FitSettings(), data=data, training=more)
    return list(all_checks()[check].run(evidence))


@each(
    "check",
    [
        "nonfinite-data",
        "constant-features",
        "duplicate-rows",
        "conflicting-labels",
        "class-imbalance",
        "sorted-split",
        "target-leakage",
        "split-difference",
        "input-scaling",
        "target-scaling",
        "rescaled-twice",
    ],
)
def test_ordinary_data_raises_nothing(check):
    assert not found(check, fit=FitSettings(validation_split=0.2))


@pytest.mark.parametrize(("rows", "fix"), [([3], "drop-rows"), (range(60), "fill-missing")])
def test_gaps_in_the_inputs(rows, fix):
    x = X.copy()
    x[list(rows), 2] = np.nan
    (finding,) = found("nonfinite-data", x=x)
    assert (finding.severity, finding.fault, finding.fix.kind) == (Severity.CRITICAL, Fault.DATA, fix)
    assert f"{len(list(rows))} NaN" in finding.message


def test_gaps_in_the_targets_and_in_rows_held_back():
    y = X[:, 0].copy()
    y[0] = np.inf
    targets, others = found("nonfinite-data", y=y, x_test=np.full((4, 8), np.nan, np.float32))
    assert targets.where == "target:kind" and targets.severity is Severity.CRITICAL
    assert others.severity is Severity.MEDIUM


def test_gaps_that_training_survives_are_a_defect_and_no_more():
    x = X.copy()
    x[0, 0] = np.nan
    (finding,) = found("nonfinite-data", x=x, more=training(base=run(0.9)))
    assert finding.severity is Severity.MEDIUM


def test_an_array_that_was_never_filled():
    (finding,) = found("constant-features", x=np.zeros((300, 8)))
    assert finding.severity is Severity.CRITICAL
    rows = np.tile(np.arange(8.0), (300, 1))
    assert found("constant-features", x=rows)[0].severity is Severity.CRITICAL


def test_what_stands_beside_the_ids_of_a_text_may_be_the_same_in_every_row():
    names = ("x", "input_mask", "segment_ids")
    model = architecture(*(layer(name, "InputLayer", (None, 12)) for name in names), MODEL.layers[-1])
    ids = np.random.default_rng(0).integers(1, 90, (300, 12))
    same = {"input_mask": np.ones_like(ids), "segment_ids": np.zeros_like(ids)}
    assert not found("constant-features", x=ids, model=model, **same)
    (finding,) = found("constant-features", x=np.ones_like(ids), model=model, **{**same, "segment_ids": ids % 2})
    assert finding.where == "input:x"


@pytest.mark.parametrize(("columns", "severity"), [([1], Severity.LOW), ([0, 2, 4, 6], Severity.MEDIUM)])
def test_some_columns_that_never_change(columns, severity):
    x = X.copy()
    x[:, columns] = 3.0
    (finding,) = found("constant-features", x=x)
    assert finding.severity is severity and finding.fix.columns == tuple(columns)


def test_repeats_are_told_unless_few_values_explain_them():
    (finding,) = found("duplicate-rows", x=np.concatenate([X, X[:100]]), y=np.concatenate([Y, Y[:100]]))
    assert finding.severity is Severity.LOW and "100 of 400" in finding.message
    assert not found("duplicate-rows", x=RANDOM.integers(0, 2, (300, 4)).astype(np.float32))


@pytest.mark.parametrize(("count", "severity"), [(20, Severity.LOW), (200, Severity.MEDIUM)])
def test_equal_rows_with_other_labels(count, severity):
    x, y = np.concatenate([X, X[:count]]), np.concatenate([Y, (Y[:count] + 1) % 3])
    (finding,) = found("conflicting-labels", x=x, y=y)
    assert (finding.severity, finding.fault) == (severity, Fault.LABELS)


def test_equal_rows_with_other_numbers_are_ordinary_noise():
    y = RANDOM.normal(size=400)
    assert not found("conflicting-labels", x=np.concatenate([X, X[:100]]), y=y)


def rare(ratio: int) -> np.ndarray:
    y = np.zeros(300, int)
    y[: max(1, 300 // (ratio + 1))] = 1
    return RANDOM.permutation(y)


@pytest.mark.parametrize(("ratio", "severity"), [(12, Severity.LOW), (40, Severity.MEDIUM)])
def test_imbalance_by_itself(ratio, severity):
    (finding,) = found("class-imbalance", y=rare(ratio))
    assert finding.severity is severity
    assert finding.fix.weights[1] > 5 * finding.fix.weights[0]
    assert not found("class-imbalance", y=rare(5))


@pytest.mark.parametrize(
    ("recall", "severity"), [((1.0, 0.0), Severity.HIGH), ((0.95, 0.3), Severity.MEDIUM), ((0.9, 0.85), None)]
)
def test_imbalance_is_judged_by_what_was_learned(recall, severity):
    seen = training(base=run(0.0), per_class_recall=recall, per_class_count=(280, 20))
    findings = found("class-imbalance", y=rare(14), more=seen)
    assert [one.severity for one in findings] == ([] if severity is None else [severity])


def test_sorted_classes_and_a_validation_split():
    (finding,) = found("sorted-split", y=np.sort(Y), fit=FitSettings(validation_split=0.4))
    assert (finding.severity, finding.fault) == (Severity.HIGH, Fault.VALIDATION)
    assert "class 2 of kind" in finding.message and "last 120 of 300" in finding.message
    assert finding.fix.validation_split == 0.4
    (partly,) = found("sorted-split", y=np.sort(Y), fit=FitSettings(validation_split=0.3))
    assert partly.severity is Severity.HIGH and "of another kind" in partly.message


def test_one_hot_classes_are_seen_to_be_sorted_too():
    (finding,) = found("sorted-split", y=np.eye(3)[np.sort(Y)], fit=FitSettings(validation_split=0.3))
    assert finding.severity is Severity.HIGH


def test_a_class_of_a_few_rows_may_lie_in_the_tail_by_chance():
    y = Y.copy() % 2
    y[-3:] = 2
    assert not found("sorted-split", y=y, fit=FitSettings(validation_split=0.2))


def test_sorted_classes_without_a_split_or_with_shuffling_are_left_alone():
    assert not found("sorted-split", y=np.sort(Y))
    (finding,) = found("sorted-split", y=np.sort(Y), fit=FitSettings(shuffle=False))
    assert (finding.severity, finding.fault, finding.fix.kind) == (Severity.MEDIUM, Fault.DATA, "set-shuffle")
    assert not found("sorted-split", fit=FitSettings(shuffle=False))


def test_sorted_numbers_are_high_only_when_validation_shows_it():
    y = np.sort(X[:, 0])
    fit = FitSettings(validation_split=0.2)
    assert found("sorted-split", y=y, fit=fit)[0].severity is Severity.MEDIUM
    apart = training(base=run(0.9, val_skill=0.1))
    assert found("sorted-split", y=y, fit=fit, more=apart)[0].severity is Severity.HIGH


def test_the_label_left_among_the_columns():
    x = X.copy()
    x[:, 5] = Y
    (finding,) = found("target-leakage", x=x)
    assert finding.severity is Severity.MEDIUM and finding.fix.columns == (5,)
    x[:, 6] = Y
    assert not found("target-leakage", x=x)


def test_a_simple_rule_is_no_proof_of_a_leak():
    (finding,) = found("target-leakage", y=(X[:, 1] > 0).astype(int))
    assert finding.severity is Severity.LOW


def per_class(recall: tuple[float, ...], counts: tuple[int, ...] = (100, 100, 60), **base) -> list[Finding]:
    seen = training(base=run(0.6, **base), per_class_recall=recall, per_class_count=counts)
    return list(all_checks()["per-class-error"].run(EvidenceSet(training=seen)))


def test_a_class_that_is_never_found():
    (finding,) = per_class((0.95, 0.9, 0.02))
    assert finding.severity is Severity.MEDIUM and finding.message.startswith("Class 2 ")
    assert per_class((0.95, 0.9, 0.0), (100, 100, 12))[0].severity is Severity.LOW


@pytest.mark.parametrize("recall", [(0.9, 0.8, 0.7), (0.3, 0.3, 0.05), (1.0, 0.0, 0.0)])
def test_no_class_stands_out(recall):
    assert not per_class(recall)


def test_classes_are_not_judged_while_epochs_are_missing():
    assert not per_class((0.95, 0.9, 0.0), stopped="time")


def beside(network: tuple[float, float, float]) -> list[Finding]:
    baseline = BaselineEvidence(
        "accuracy", (Score("majority class", 0.5, 0.45, 0.55), Score("logistic regression", 0.93, 0.9, 0.95)), 300, 100
    )
    scores = (*baseline.scores, Score("this network", *network))
    seen = EvidenceSet(baseline=BaselineEvidence("accuracy", scores, 300, 100))
    return list(all_checks()["worse-than-baseline"].run(seen))


@each(
    ("network", "severity"),
    [
        ((0.5, 0.45, 0.55), Severity.HIGH),
        ((0.72, 0.66, 0.78), Severity.MEDIUM),
        ((0.82, 0.77, 0.86), Severity.LOW),
        ((0.9, 0.86, 0.94), None),
        ((0.97, 0.95, 0.99), None),
        ((float("nan"), float("nan"), float("nan")), None),
    ],
)
def test_a_simple_model_is_better_only_when_the_intervals_say_so(network, severity):
    findings = beside(network)
    assert [one.severity for one in findings] == ([] if severity is None else [severity])
    for finding in findings:
        assert "Logistic regression" in finding.message


def test_a_network_that_ran_out_of_time_is_only_noted():
    baseline = BaselineEvidence("accuracy", (Score("logistic regression", 0.93, 0.9, 0.95),), 300, 100)
    late = NetworkScore(Score("this network", 0.5, 0.45, 0.55), trained_here=True, complete=False, note="no time")
    both = with_network(baseline, late)
    assert both.skipped == ("no time",)
    assert not list(all_checks()["worse-than-baseline"].run(EvidenceSet(baseline=both)))


def test_a_network_that_was_not_scored_is_not_compared():
    evidence = EvidenceSet(baseline=BaselineEvidence("accuracy", (Score("mean", 0.5, 0.4, 0.6),), 300, 100))
    assert not list(all_checks()["worse-than-baseline"].run(evidence))
