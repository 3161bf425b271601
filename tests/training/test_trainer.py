"""Runs of one live model: reproducible, resumable, watched, and plain about what stops them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stethoscope.training.compare import Trainers
from stethoscope.training.instruments import sample_steps
from stethoscope.training.outcome import FitCrash
from stethoscope.training.trainer import Trainer
from tests.training.programs import blobs, classifier, setup_of

X, Y = blobs()
ADAM = {"class_name": "Adam", "config": {"learning_rate": 0.01}}
COMPILED = {"loss": "sparse_categorical_crossentropy", "optimizer": ADAM}


@pytest.fixture(scope="module")
def setup():
    import keras

    return setup_of(classifier(keras), {"a": X}, {"t": Y}, COMPILED, epochs=4, batch_size=16)


@pytest.fixture(scope="module")
def trainer(setup):
    return Trainer(setup)


def test_a_seed_gives_the_same_run_again_and_another_seed_another(trainer, setup):
    first, other, again = (trainer.run(setup, seed, time_s=100) for seed in (1, 2, 1))
    assert first.loss == again.loss
    assert first.loss != other.loss
    assert first.final.skill > 0.8
    assert first.steps_done == 40
    assert first.score_epochs == (1, 2, 3, 4)


def test_rate_scale_and_batch_size_change_without_tracing_again(trainer, setup):
    trainer.run(setup, 1, time_s=100)
    before = list(trainer._loop._functions)
    assert before
    slow = setup.with_changes(optimizer={**ADAM, "config": {"learning_rate": 1e-6}})
    assert trainer.run(slow, 1, time_s=100).final.skill < 0.7
    small = setup.with_changes(batch_size=50, x={"a": X * 10})
    assert trainer.run(small, 1, time_s=100).steps_done == 12
    assert list(trainer._loop._functions) == before
    assert trainer.run(setup, 1, time_s=100).final.skill > 0.8


def test_a_longer_run_goes_on_where_the_first_stopped(trainer, setup):
    short = trainer.run(setup, 3, time_s=100, scores_between=False)
    state = trainer.state()
    trainer.run(setup, 4, time_s=100)
    longer = setup.with_changes(epochs=8)
    resumed = trainer.run(longer, 3, time_s=100, resume=state, scores_between=False)
    whole = trainer.run(longer, 3, time_s=100, scores_between=False)
    assert resumed.steps_done == whole.steps_done == 2 * short.steps_done
    np.testing.assert_allclose(resumed.epoch_loss, whole.epoch_loss, rtol=1e-5)


def test_instruments_do_not_change_the_run_and_see_every_layer(trainer, setup):
    plain = trainer.run(setup, 1, time_s=100)
    watched = trainer.run(setup, 1, time_s=100, instrument=True)
    assert watched.final == plain.final
    hidden, output = trainer.layers
    assert trainer.sampled_steps[0] == 1
    assert hidden.activation == "relu"
    assert len(hidden.gradient_norm) == len(hidden.dead_fraction) == len(trainer.sampled_steps)
    assert all(item > 0 for item in (*hidden.gradient_norm, *output.update_ratio))
    assert hidden.relative_change > 0.01
    assert hidden.nonfinite_step is None


def test_dead_units_are_seen():
    import keras

    model = classifier(keras)
    kernel, _, *rest = model.get_weights()
    model.set_weights([kernel, np.full(8, -100.0), *rest])
    setup = setup_of(model, {"a": X}, {"t": Y}, COMPILED, epochs=1)
    trainer = Trainer(setup)
    trainer.run(setup, 0, time_s=100, instrument=True)
    assert trainer.layers[0].dead_fraction[-1] == 1.0
    assert trainer.layers[0].gradient_norm[-1] == 0.0


def test_dead_units_behind_a_threshold_are_seen():
    import tf_keras

    tf_keras.utils.set_random_seed(1)
    layers = tf_keras.layers
    model = tf_keras.Sequential(
        [layers.Input((4,)), layers.Dense(8), layers.ThresholdedReLU(theta=1e6), layers.Dense(3, activation="softmax")]
    )
    setup = setup_of(model, {"a": X}, {"t": Y}, COMPILED, epochs=1)
    trainer = Trainer(setup)
    trainer.run(setup, 0, time_s=100, instrument=True)
    before, threshold, _ = trainer.layers
    assert threshold.activation == "thresholded_relu" and threshold.dead_fraction[-1] == 1.0
    assert before.gradient_norm[-1] == 0.0


def test_a_run_that_becomes_nan_stops_and_says_when():
    import keras

    wild = {"loss": "mse", "optimizer": {"class_name": "SGD", "config": {"learning_rate": 1e6}}}
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])
    linear = setup_of(model, {"a": X * 1e3}, {"t": np.eye(3)[Y]}, wild, epochs=50)
    curve = Trainers().of(linear).run(linear, 0, time_s=100)
    assert curve.stopped == "non-finite"
    assert curve.nonfinite_step is not None
    assert math.isnan(curve.final.skill)


def test_a_model_without_trainable_weights_runs_and_learns_nothing():
    import keras

    model = classifier(keras)
    model.trainable = False
    setup = setup_of(model, {"a": X}, {"t": Y}, COMPILED, epochs=2)
    trainer = Trainer(setup)
    curve = trainer.run(setup, 0, time_s=100, instrument=True)
    assert curve.final.loss == pytest.approx(curve.start.loss)
    assert [layer.relative_change for layer in trainer.layers] == [0.0, 0.0]
    assert not any(layer.gradient_norm for layer in trainer.layers)


def test_time_ends_a_run(trainer, setup):
    curve = trainer.run(setup.with_changes(epochs=1_000_000), 0, time_s=0.5)
    assert curve.stopped == "time"
    assert 0 < curve.wall_s < 60, "all of it would take many minutes"


def test_frozen_layers_keep_the_files_weights_for_every_seed():
    import keras

    model = classifier(keras)
    model.layers[0].trainable = False
    held = model.layers[0].get_weights()[0].copy()
    setup = setup_of(model, {"a": X}, {"t": Y}, COMPILED, epochs=2)
    assert setup.keep_weights == {model.layers[0].name}
    trainer = Trainer(setup)
    trainer.run(setup, 5, time_s=100)
    np.testing.assert_array_equal(model.layers[0].get_weights()[0], held)


@pytest.mark.parametrize(
    ("x", "y", "loss", "words"),
    [
        (X[:, :2], Y, "sparse_categorical_crossentropy", ("(rows, 2)", "(rows, 4)")),
        (X, Y[:100], "sparse_categorical_crossentropy", ("number of rows", "100")),
        (X, np.eye(3)[Y], "sparse_categorical_crossentropy", ("(rows, 3)", "one class number")),
        (X, Y, "categorical_crossentropy", ("(rows,)", "(rows, 3)")),
        (X, Y + 1, "sparse_categorical_crossentropy", ("1 to 3", "3 units", "0 to 2")),
    ],
)
def test_what_would_crash_fit_is_said_with_both_shapes(x, y, loss, words):
    import keras

    setup = setup_of(classifier(keras), {"a": x}, {"t": y}, {"loss": loss, "optimizer": ADAM}, epochs=1)
    with pytest.raises(FitCrash) as caught:
        Trainers().of(setup).run(setup, 0, time_s=100)
    for word in words:
        assert word in str(caught.value)


def test_a_model_with_python_control_flow_trains_too():
    import keras

    @keras.saving.register_keras_serializable("tests")
    class Branching(keras.layers.Layer):
        def call(self, x):
            if keras.ops.sum(x) > 0:
                return x * 2.0
            return x

        def compute_output_shape(self, shape):
            return shape

    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Input((4,)), Branching(), keras.layers.Dense(3, activation="softmax")])
    setup = setup_of(model, {"a": X}, {"t": Y}, COMPILED, epochs=5)
    curve = Trainers().of(setup).run(setup, 0, time_s=60)
    assert curve.steps_done == 25
    assert curve.final.loss < 0.8 * curve.start.loss


def test_a_model_that_cannot_be_rebuilt_is_trained_as_it_is():
    import keras

    class Own(keras.Model):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def call(self, x):
            return self.layer(x)

        def get_config(self):
            raise NotImplementedError

    model = Own(keras.layers.Dense(3, activation="softmax"))
    model(X[:1])
    setup = setup_of(model, {"a": X}, {"t": Y}, COMPILED, epochs=5)
    assert setup.config is None
    trainer = Trainer(setup)
    first, second = (trainer.run(setup, seed, time_s=100) for seed in (0, 1))
    assert first.start.loss == second.start.loss
    assert first.final.loss < 0.8 * first.start.loss


@pytest.mark.parametrize("total", [1, 5, 40, 1000, 100_000])
def test_sampled_steps_are_few_and_reach_from_the_first_to_the_last(total):
    steps = sample_steps(total)
    assert steps[0] == 1
    assert steps[-1] == total
    assert len(steps) <= 61
