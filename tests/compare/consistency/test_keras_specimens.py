"""Keras models with one thing wrong each, through real contained workers; and dict inputs fed by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sample_models import BUILT
from stethoscope.architecture.open_sizes import OpenSizes
from stethoscope.codec import answer_of
from stethoscope.compare.consistency.report import ConsistencyReport
from stethoscope.types import Budget, Job, ModelFile, Status
from tests import deterministic


def ask(engine, path: Path, **params: Any) -> ConsistencyReport:
    job = Job("consistency", {"model": ModelFile.at(path)}, params, Budget(2 << 30, 120), "tensorflow")
    result = engine.wait(engine.submit(job), 200)
    assert result.status is Status.OK, result.reason
    return answer_of(result, ConsistencyReport)


def keras_model(folder: Path, build: Callable[[Any], Any], suffix: str = ".keras") -> Path:
    import keras

    path = folder / f"model{suffix}"
    deterministic.begin()
    made = build(keras)
    if suffix == ".keras":
        return deterministic.save(made, path)
    made.save(path)
    return path


def normalised(training: bool | None) -> Callable[[Any], Any]:
    def build(keras: Any) -> Any:
        x = keras.Input((6,), name="x")
        y = keras.layers.BatchNormalization(name="bn")(keras.layers.Dense(8)(x), training=training)
        return keras.Model(x, keras.layers.Dense(3)(y))

    return build


def test_batch_statistics_at_inference_are_blamed(engine, tmp_path):
    report = ask(engine, keras_model(tmp_path, normalised(True)))
    assert report.consistent is False
    assert report.first_difference.layer == "bn"
    assert "statistics" in report.first_difference.reason


def test_moving_statistics_are_measured_against_the_batch(engine, tmp_path):
    def build(keras: Any) -> Any:
        model = normalised(None)(keras)
        bn = model.get_layer("bn")
        gamma, beta, mean, variance = bn.get_weights()
        bn.set_weights([gamma, beta, mean + 50, variance])
        return model

    trial = ask(engine, keras_model(tmp_path, build)).test("train-vs-inference")
    assert trial.passed is True
    (measured,) = trial.values["batch_normalisation"]
    assert measured["layer"] == "bn"
    assert measured["mean_shift"] == pytest.approx(50, abs=5)
    assert "moving standard deviations" in trial.detail


def test_a_padded_sequence_without_any_word_gives_nan_in_the_pooling(engine, tmp_path):
    def build(keras: Any) -> Any:
        tokens = keras.Input((None,), dtype="int32", name="tokens")
        words = keras.layers.Embedding(20, 4, mask_zero=True)(tokens)
        pooled = keras.layers.GlobalAveragePooling1D(name="pooled")(words)
        return keras.Model(tokens, keras.layers.Dense(2)(pooled))

    report = ask(engine, keras_model(tmp_path, build))
    assert (report.test("edge-zeros").passed, report.test("edge-zeros").layer) == (False, "pooled")
    assert "not in [0, 20)" in report.test("edge-out-of-vocabulary").detail


@pytest.mark.parametrize(
    "sample", ["digits_cnn.keras", "wine_keras2.keras", "cancer_keras2.h5", "digits_cnn_keras3.h5"]
)
def test_healthy_samples_save_and_load_as_they_are(engine, sample):
    report = ask(engine, BUILT / sample)
    assert report.test("save-reload-outputs").passed is True
    assert report.test("save-reload-weights").passed is True
    assert not [test for test in report.tests if test.passed is False], report.tests


def test_inputs_given_by_name_reach_the_tensor_of_that_name(engine, tmp_path):
    """Keras sorts a dict of inputs; the file keeps the order in which they were written."""

    def build(keras: Any) -> Any:
        words, mask = keras.Input((4,), name="words"), keras.Input((4,), name="mask")
        return keras.Model({"words": words, "mask": mask}, keras.layers.Concatenate(name="both")([words, 0 * mask]))

    path = keras_model(tmp_path, build)
    report = ask(engine, path)
    unused = report.test("every-input-matters")
    assert unused.noted is True
    assert "mask" in unused.detail
    assert "words" not in unused.detail
    assert unused.values["words"] > 0.1


def test_a_weight_that_the_file_does_not_keep_is_found(tmp_path):
    """Without a worker: the class has to exist where the file is loaded."""
    import keras

    from stethoscope.compare.consistency import mode_and_reload
    from stethoscope.compare.consistency.subject import Subject
    from stethoscope.data.batching import Batching
    from stethoscope.data.dummy import ModelInput
    from stethoscope.models.formats import detect
    from stethoscope.task import TaskContext

    @keras.saving.register_keras_serializable("tests")
    class Forgetful(keras.layers.Layer):
        """Keeps its factor outside of its config and its weights."""

        factor = 1.0

        def call(self, x: Any) -> Any:
            return x * self.factor

    def build(keras: Any) -> Any:
        x = keras.Input((3,), name="x")
        return keras.Model(x, Forgetful(name="forgetful")(keras.layers.Dense(2)(x)))

    file = ModelFile.at(keras_model(tmp_path, build))
    kind = detect(file)
    (tmp_path / "scratch").mkdir()
    runner = kind.open(file, tmp_path / "scratch", trusted=True)
    runner.model.get_layer("forgetful").factor = 3.0

    class Meter:
        def added_bytes(self) -> int:
            return 0

    context = TaskContext(
        {"model": file}, {"trusted": True}, tmp_path, Budget(1 << 30, 60), lambda *_, **__: None, Meter(), None
    )
    feed = {"x": np.ones((4, 3), np.float32)}
    given = ModelInput(feed, "dummy", Batching.of(runner.inputs), OpenSizes((), ()))
    subject = Subject(context, kind.describe(file), runner, given, feed, 1e-5)
    subject.reference = runner.predict(feed)
    outputs, weights = mode_and_reload.trials(subject)
    assert outputs.passed is False
    assert outputs.origin.layer == "forgetful"
    assert "get_config" in outputs.origin.reason
    assert weights.passed is True
