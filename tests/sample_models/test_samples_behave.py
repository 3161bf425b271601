"""What the samples are for, seen through plain Keras and no code of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sample_models.build import BUILT, all_recipes, build_here
from sample_models.datasets import digits


def _load(name: str) -> Any:
    keras = pytest.importorskip("keras")
    return keras.models.load_model(BUILT / name)


def test_the_digits_classifier_is_as_good_as_the_manifest_says() -> None:
    measured = next(
        sample["measured"]["accuracy"]
        for sample in json.loads((BUILT / "manifest.json").read_text())
        if sample["id"] == "digits_cnn"
    )
    data = digits()
    answers = np.asarray(_load("digits_cnn.keras").predict_on_batch(data.x_test)).argmax(axis=-1)
    assert np.mean(answers == data.y_test) == pytest.approx(measured, abs=0.005)
    assert measured >= 0.97


def test_rebuilding_a_sample_gives_the_committed_architecture_and_weights(tmp_path: Path) -> None:
    build_here(all_recipes()["dropout_at_inference"], tmp_path)
    keras = pytest.importorskip("keras")
    committed = _load("dropout_at_inference.keras")
    rebuilt = keras.models.load_model(tmp_path / "dropout_at_inference.keras")
    assert [layer.name for layer in rebuilt.layers] == [layer.name for layer in committed.layers]
    for ours, theirs in zip(rebuilt.get_weights(), committed.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_dropout_at_inference_changes_its_answers_and_the_healthy_model_does_not() -> None:
    images = digits().x_test[:4]
    restless, healthy = _load("dropout_at_inference.keras"), _load("digits_cnn.keras")
    assert not np.array_equal(restless(images), restless(images))
    assert np.array_equal(healthy(images), healthy(images))


def test_keras_2_dropout_at_inference_changes_even_what_predict_answers() -> None:
    model = pytest.importorskip("tf_keras").models.load_model(BUILT / "dropout_keras2.h5")
    images = digits().x_test[:4]
    assert not np.array_equal(model.predict_on_batch(images), model.predict_on_batch(images))


@pytest.mark.parametrize("length", [5, 17])
def test_the_bert_encoder_takes_any_length_and_ignores_masked_words(length: int) -> None:
    model = _load("bert_small.keras")
    words = np.random.default_rng(0).integers(0, 1000, (2, length)).astype(np.int32)
    mask = np.ones_like(words)
    mask[:, -2:] = 0
    other = words.copy()
    other[:, -2:] = (words[:, -2:] + 1) % 1000
    segments = np.zeros_like(words)
    one, two = (
        model.predict_on_batch({"input_word_ids": ids, "input_mask": mask, "segment_ids": segments})
        for ids in (words, other)
    )
    assert one["sequence_output"].shape == (2, length, 64)
    assert one["pooled_output"].shape == (2, 64)
    np.testing.assert_allclose(one["pooled_output"], two["pooled_output"], atol=1e-6)


def test_a_lambda_and_an_unknown_layer_are_refused_by_keras() -> None:
    for name, word in (("lambda_layer.keras", "lambda"), ("unknown_layer.keras", "GatedDense")):
        with pytest.raises((ValueError, TypeError), match=f"(?i){word}"):
            _load(name)
