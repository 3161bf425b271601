"""The overfit test: healthy models fit, broken ones do not, and what blocks them is named."""

from __future__ import annotations

import numpy as np

from stethoscope.codec import decode
from stethoscope.tasks.overfit import OverfitTest
from stethoscope.types import Job, ModelFile, Status
from tests.small_models import tiny_onnx
from tests.tasks.trained import answer, blobs, saved

X, Y = blobs()
SPARSE = "sparse_categorical_crossentropy"


def overfit(engine, job, **params):
    value = answer(engine, job, "overfit", **{"time_s": 20, **params})
    return decode(OverfitTest, value).overfit


def test_a_healthy_model_fits_whatever_its_dropout(engine, tmp_path):
    def layers(made):
        return [made.Dense(16, activation="relu"), made.Dropout(0.5, name="drop"), made.Dense(3, activation="softmax")]

    found = overfit(engine, saved(tmp_path, layers, SPARSE, x=X, y=Y))
    assert found.verdict == "fits"
    assert (found.samples, found.fitted_fraction, found.source) == (16, 1.0, "data")
    assert found.learning_rate == found.own_learning_rate
    assert any("drop" in text for text in found.regularisation_off)
    assert len(found.loss) == len(found.loss_steps)
    assert found.final_loss < found.initial_loss


def test_softmax_over_one_unit_cannot_though_the_loss_falls(engine, tmp_path):
    def layers(made):
        return [made.Dense(8, activation="relu"), made.Dense(1, activation="softmax", name="out")]

    found = overfit(engine, saved(tmp_path, layers, "binary_crossentropy", x=X, y=Y == 0), steps=200)
    assert found.verdict == "cannot"
    assert ("out", "output is constant") in {(layer.path, layer.reason) for layer in found.blocked}


def test_dead_and_frozen_layers_are_named(engine, tmp_path):
    def layers(made):
        frozen = made.Dense(8, name="frozen")
        frozen.trainable = False
        return [
            frozen,
            made.Dense(8, activation="relu", name="dead", bias_initializer=_constant(-100.0)),
            made.Dense(3, activation="softmax", name="out"),
        ]

    found = overfit(engine, saved(tmp_path, layers, SPARSE, x=X, y=Y), steps=150)
    assert found.verdict == "cannot"
    reasons = {layer.path: layer.reason for layer in found.blocked}
    assert "units are dead" in reasons["dead"]
    assert reasons["frozen"] == "frozen"
    assert found.blocked[0].path == "dead"


def _constant(value):
    import keras

    return keras.initializers.Constant(value)


def test_a_rate_that_works_is_found(engine, tmp_path):
    def layers(made):
        return [made.Dense(16, activation="relu"), made.Dense(3, activation="softmax")]

    found = overfit(engine, saved(tmp_path, layers, SPARSE, rate=1e-6, x=X, y=Y), steps=300)
    assert found.verdict == "fits"
    assert found.learning_rate > 1e-6
    assert f"{found.learning_rate:g}" in found.reason


def test_without_data_labels_are_drawn_for_the_head(engine, tmp_path):
    def layers(made):
        return [made.Dense(32, activation="relu"), made.Dense(3, activation="softmax")]

    found = overfit(engine, saved(tmp_path, layers, SPARSE), steps=2000)
    assert found.source.startswith("random input")
    assert found.verdict == "fits"


def test_a_crash_is_a_verdict(engine, tmp_path):
    def layers(made):
        return [made.Dense(3, activation="softmax")]

    found = overfit(engine, saved(tmp_path, layers, "categorical_crossentropy", x=X, y=Y))
    assert found.verdict == "crashes"
    assert "categorical_crossentropy" in found.reason


def test_numbers_are_fitted_within_a_share_of_their_spread(engine, tmp_path):
    def layers(made):
        return [made.Dense(64, activation="tanh"), made.Dense(1)]

    found = overfit(engine, saved(tmp_path, layers, "mean_squared_error", rate=0.01, optimizer="Adam", x=X, y=X[:, :1]))
    assert found.verdict == "fits"
    assert np.isfinite(found.final_loss)


def test_other_formats_say_what_to_upload(engine, tmp_path):
    file = ModelFile.at(tiny_onnx(tmp_path / "tiny.onnx"))
    job = saved(tmp_path, lambda made: [made.Dense(1)], "mse")
    result = engine.wait(engine.submit(Job("overfit", {"model": file}, {}, job.budget, job.worker)), 60)
    assert result.status is Status.FAILED
    assert "Keras model" in result.reason
