"""Baselines: what they reach, on which rows, and what is said when they cannot."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from stethoscope.data.rows import bind_all
from stethoscope.errors import BadInput
from stethoscope.evidence.fit import FitSettings
from stethoscope.evidence.trials import BaselineEvidence, NetworkScore, Score, with_network
from stethoscope.tasks.baseline import compare_baselines
from stethoscope.types import Architecture, CompileSettings, TensorSpec
from tests.data.test_binding import model

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(400, 4)).astype(np.float32)


def compiled(loss: str) -> Architecture:
    return dataclasses.replace(model(), compile=CompileSettings(loss, "adam", 1e-3, (), {"loss": loss}))


def baselines(y, loss: str, x=X, fit: FitSettings | None = None) -> BaselineEvidence:
    architecture = compiled(loss)
    return compare_baselines(bind_all({"x": x, "y": y}, architecture), architecture, fit or FitSettings(), 3.0)


def test_classes_that_a_line_separates():
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    found = baselines(y, "sparse_categorical_crossentropy")
    assert found.metric == "accuracy" and (found.train_rows, found.test_rows) == (300, 100)
    assert found.score("logistic regression").value > 0.95
    assert found.score("majority class").value == pytest.approx(max(y.mean(), 1 - y.mean()), abs=0.02)
    for score in found.scores:
        assert score.low <= score.value <= score.high


def test_one_hot_labels_are_scored_like_their_classes():
    y = (X[:, 0] > 0).astype(int)
    plain = baselines(y, "sparse_categorical_crossentropy")
    hot = baselines(np.eye(3)[y], "categorical_crossentropy")
    assert [score.value for score in hot.scores] == [score.value for score in plain.scores]
    assert hot.test_index == plain.test_index


def test_trees_beat_a_line_where_the_truth_is_not_one():
    found = baselines((X[:, 0] * X[:, 1] > 0).astype(int), "binary_crossentropy")
    assert found.best.model == "gradient boosting"
    assert found.best.low > found.score("logistic regression").high


def test_numbers_are_scored_by_r2():
    found = baselines(X[:, 0] * 300 + 5_000, "mse")
    assert found.metric == "r2"
    assert found.score("mean").value == pytest.approx(0, abs=0.05)
    assert found.score("linear regression").value > 0.99


def test_labels_that_go_together_are_scored_label_by_label():
    found = baselines((X[:, :3] > 0).astype(np.float32), "binary_crossentropy")
    assert found.metric == "mean label accuracy"
    assert found.score("logistic regression").value > 0.95


def test_the_validation_split_holds_back_the_tail():
    found = baselines((X[:, 0] > 0).astype(int), "binary_crossentropy", fit=FitSettings(validation_split=0.2))
    assert found.test_index == tuple(range(320, 400))


def test_gaps_and_large_rows_do_not_stop_them():
    x = RANDOM.normal(size=(200, 40, 40, 3)).astype(np.float32)
    y = (x.mean(axis=(1, 2, 3)) > 0).astype(int)
    x[0, 0, 0, 0] = np.nan
    found = baselines(y, "binary_crossentropy", x=x)
    assert found.score("logistic regression") is not None
    assert "times smaller" in " ".join(found.skipped)


def test_labels_that_never_vary_leave_only_the_majority():
    found = baselines(np.zeros(400, int), "sparse_categorical_crossentropy")
    assert [score.model for score in found.scores] == ["majority class"]


@pytest.mark.parametrize("rows", [0, 5])
def test_too_few_rows_are_refused(rows):
    with pytest.raises(BadInput, match="at least 20 rows"):
        baselines(np.zeros(rows, int), "mse", x=X[:rows])


def test_data_without_targets_is_refused():
    architecture = compiled("mse")
    with pytest.raises(BadInput, match="Add them"):
        compare_baselines(bind_all({"x": X}, architecture), architecture, FitSettings(), 1.0)


def test_the_output_is_the_one_that_a_training_is_scored_by():
    two = dataclasses.replace(
        model(), outputs=(TensorSpec("spare", None, "float32"), TensorSpec("kind", None, "float32"))
    )
    y = {"spare": X[:, 1], "kind": (X[:, 0] > 0).astype(int)}
    for loss, output in (({"kind": "sparse_categorical_crossentropy"}, "kind"), ({"spare": "mse"}, "spare")):
        settings = CompileSettings(None, "adam", 1e-3, (), {"loss": loss})
        architecture = dataclasses.replace(two, compile=settings)
        found = compare_baselines(bind_all({"x": X, **y}, architecture), architecture, FitSettings(), 3.0)
        assert found.output == output
        assert found.best.model != "this network"


def test_the_best_baseline_is_no_network():
    plain = baselines((X[:, 0] > 0).astype(int), "sparse_categorical_crossentropy")
    network = NetworkScore(Score("this network", 1.0, 1.0, 1.0), True, True)
    assert with_network(plain, network).best == plain.best
    assert plain.scored_as("accuracy", "") and plain.scored_as("accuracy", plain.output)
    assert not plain.scored_as("r2", "") and not plain.scored_as("accuracy", "another")
