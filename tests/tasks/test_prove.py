"""Proofs: what helps is told from what does not, and why something was not tried."""

from __future__ import annotations

import math

import numpy as np

from stethoscope.checks.fixes.compile_and_fit import EarlyStopping, ReplaceLoss, SetLearningRate
from stethoscope.checks.fixes.fix import Advice
from stethoscope.checks.fixes.layer_settings import SetInitialiser
from stethoscope.checks.fixes.layers import RemoveLayer, ReplaceActivation
from stethoscope.checks.fixes.values import EncodeLabels, ScaleTargets
from stethoscope.codec import decode
from stethoscope.tasks.prove import ProvedFixes
from stethoscope.types import Job, Status
from tests.tasks.trained import answer, blobs, saved

X, Y = blobs()


def prove(engine, job, *fixes, epochs=8, **params):
    lists = [[fix.to_json() for fix in (item if isinstance(item, list) else [item])] for item in fixes]
    value = answer(engine, job, "prove", fixes=lists, fit={"epochs": epochs, **params}, time_s=120)
    return decode(ProvedFixes, value).proofs


def softmax_over_one(layers):
    return [layers.Dense(8, activation="relu"), layers.Dense(1, activation="softmax", name="out")]


def classifier(layers):
    return [layers.Dense(16, activation="relu", name="hidden"), layers.Dense(3, activation="softmax", name="out")]


def test_the_right_fix_helps_and_a_rate_does_not(engine, tmp_path):
    job = saved(tmp_path, softmax_over_one, "binary_crossentropy", x=X, y=(Y == 0).astype(np.float32))
    right, rate, nothing = prove(
        engine, job, ReplaceActivation("out", "sigmoid"), SetLearningRate(0.2), Advice("Think."), epochs=15
    )
    assert right.verdict == "helps"
    assert "3 of 3 seeds" in right.message
    assert right.metric == "accuracy"
    assert len(right.before) == len(right.after) == 3
    assert right.effect > 0.5
    assert {line.group for line in right.curves.lines} == {"before", "after"}
    assert len(right.curves.lines) == 6
    assert rate.verdict == "no_difference", "the loss falls, but every prediction stays 1"
    assert nothing.verdict == "skipped"


def test_a_worse_setting_is_called_worse(engine, tmp_path):
    job = saved(tmp_path, classifier, "sparse_categorical_crossentropy", x=X, y=Y)
    worse, impossible = prove(engine, job, SetLearningRate(1e-7), RemoveLayer("no such layer"))
    assert worse.verdict == "worse"
    assert worse.effect < -0.2
    assert impossible.verdict == "skipped"
    assert "no such layer" in impossible.message


def test_a_training_that_crashes_is_helped_by_labels_that_fit(engine, tmp_path):
    job = saved(tmp_path, classifier, "categorical_crossentropy", x=X, y=Y)
    encoded, loss = prove(
        engine, job, EncodeLabels(encoding="one-hot"), ReplaceLoss("sparse_categorical_crossentropy"), epochs=15
    )
    for proof in (encoded, loss):
        assert proof.verdict == "helps"
        assert "fit stops" in proof.message
        assert "reaches accuracy" in proof.message
        assert proof.before == ()


def test_scaled_targets_are_scored_as_the_original_ones(engine, tmp_path):
    def layers(made):
        return [made.Dense(16, activation="tanh"), made.Dense(1, name="out")]

    target = (1e4 * X[:, :1] + 5e4).astype(np.float32)
    job = saved(tmp_path, layers, "mean_squared_error", rate=0.01, x=X, y=target)
    (proof,) = prove(engine, job, ScaleTargets(), epochs=20)
    assert proof.verdict == "helps"
    assert proof.metric == "r2"
    assert min(proof.after) > 0.8


def test_labels_scored_as_numbers_and_as_classes_are_compared_as_classes(engine, tmp_path):
    job = saved(tmp_path, classifier, "mean_squared_error", rate=1e-5, x=X, y=np.eye(3, dtype=np.float32)[Y])
    (proof,) = prove(engine, job, [ReplaceLoss("categorical_crossentropy"), SetLearningRate(0.05)], epochs=15)
    assert (proof.metric, proof.verdict) == ("accuracy", "helps")


def test_new_initial_weights_are_proved_against_those_of_the_file(engine, tmp_path):
    job = saved(tmp_path, _zeros, "sparse_categorical_crossentropy", x=X, y=Y)
    (proof,) = prove(engine, job, SetInitialiser(("hidden", "out")), epochs=15)
    assert proof.verdict == "helps"


def _zeros(layers):
    return [
        layers.Dense(16, activation="relu", name="hidden", kernel_initializer="zeros"),
        layers.Dense(3, activation="softmax", name="out", kernel_initializer="zeros"),
    ]


def test_early_stopping_needs_validation_rows(engine, tmp_path):
    job = saved(tmp_path, classifier, "sparse_categorical_crossentropy", x=X, y=Y)
    (without,) = prove(engine, job, EarlyStopping(3))
    assert without.verdict == "skipped"
    assert "validation" in without.message
    (held_out,) = prove(engine, job, EarlyStopping(3), validation_split=0.25)
    assert held_out.metric == "validation accuracy"
    assert held_out.verdict in ("no_difference", "helps", "worse")
    assert all(math.isfinite(score) for score in held_out.after)


def test_foreign_parameters_are_refused(engine, tmp_path):
    job = saved(tmp_path, classifier, "sparse_categorical_crossentropy", x=X, y=Y)
    result = engine.wait(engine.submit(Job("prove", job.files, {"fixes": "all"}, job.budget, job.worker)), 60)
    assert result.status is Status.FAILED
    assert "expected a list" in result.reason
