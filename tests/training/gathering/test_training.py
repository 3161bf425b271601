"""The training evidence names what works: trials against the run as it is."""

from __future__ import annotations

import math

import numpy as np

from stethoscope.evidence.training import TrainingEvidence
from stethoscope.tasks.train import Gatherer
from tests.training.programs import blobs, classifier, setup_of

X, Y = blobs(200)


def sgd(rate):
    return {"class_name": "SGD", "config": {"learning_rate": rate}}


def gathered(x, y, compiled, time_s=60.0, model=None, **fit) -> TrainingEvidence:
    import keras

    kept: list[TrainingEvidence] = []
    setup = setup_of(model or classifier(keras), {"a": x}, {"t": y}, compiled, **fit)
    found = Gatherer(setup, fit.get("epochs"), (), time_s, keep=kept.append).run()
    assert found.crashed or kept
    return found


def test_a_training_that_works_needs_no_trials(monkeypatch):
    # How often a run is repeated, and how long a repetition may take, go by time: here it counts as quick, however busy the machine is.
    monkeypatch.setattr("stethoscope.tasks.train.CHEAP_RUN_S", math.inf)
    monkeypatch.setattr("stethoscope.tasks.train.REPEAT_S", math.inf)
    found = gathered(X, Y, {"loss": "sparse_categorical_crossentropy", "optimizer": sgd(0.1)}, 300.0, epochs=40)
    assert found.complete
    assert found.skill >= 0.97
    assert len(found.base) == 3
    assert not found.trials
    assert "Nothing was tried" in found.untried[0]
    assert found.expected_initial_loss == np.log(3)
    assert found.started_from == "initial weights"
    assert sum(found.per_class_count) == 200
    assert len(found.layers) == 2


def test_too_low_a_rate_is_shown_by_the_trials():
    found = gathered(X, Y, {"loss": "sparse_categorical_crossentropy", "optimizer": sgd(1e-4)}, epochs=10)
    assert found.skill < 0.5
    assert found.trial("rate-up-100").helps
    assert found.trial("rate-up-100").value == 0.01
    assert len(found.trial("rate-up-100").runs) == len(found.base)


def test_a_diverging_run_tries_a_lower_rate_first():
    import keras

    keras.utils.set_random_seed(0)
    linear = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])
    found = gathered(X, np.eye(3)[Y], {"loss": "mse", "optimizer": sgd(0.5)}, model=linear, epochs=50)
    assert found.base[0].stopped == "non-finite" or found.base[0].final.loss > 1e3
    assert found.skill <= 0.5
    assert found.trials[0].id == "rate-down"
    assert any(trial.helps for trial in found.trials if trial.id.startswith("rate-down"))


def test_what_crashes_is_said_and_nothing_else():
    found = gathered(X[:, :2], Y, {"loss": "sparse_categorical_crossentropy", "optimizer": sgd(0.1)})
    assert "(rows, 2)" in found.crashed
    assert not found.base


def test_time_is_kept(monkeypatch):
    import time

    # On a busy machine the run gets through few steps in its time: here they are never too few to go on from.
    monkeypatch.setattr("stethoscope.tasks.train.MIN_STEPS", 0)
    begin = time.perf_counter()
    found = gathered(X, Y, {"loss": "sparse_categorical_crossentropy", "optimizer": sgd(1e-4)}, 4.0, epochs=100_000)
    assert time.perf_counter() - begin < 60, "all epochs would take hours"
    assert found.base[0].stopped == "time"
    assert any("longer" in reason for reason in found.untried)
