"""Weights of Keras files that no sample has: of subclassed models, single numbers, half precision and very long rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stethoscope.models.weights import keras_weights
from stethoscope.models.weights.weight_statistics import opened
from stethoscope.types import ModelFile
from tests.frameworks import keras
from tests.frameworks import layers as L
from tests.models.weights.test_opened import values


def saved(model: Any, folder: Path) -> ModelFile:
    rng = np.random.default_rng(0)
    model.set_weights([rng.normal(size=weight.shape).astype(weight.dtype) for weight in model.get_weights()])
    model.save(folder / "m.keras")
    return ModelFile.at(folder / "m.keras")


@pytest.mark.parametrize("rows", [True, False])
def test_arrays_longer_than_a_piece_are_read_in_order(
    rows: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keras_weights, "CHUNK_VALUES", 10 if rows else 30)
    model = keras.Sequential([keras.Input((4, 4, 2)), L.Conv2D(5, 3, name="conv")])
    with opened(saved(model, tmp_path)) as found:
        kernel = next(weight for weight in found["conv"] if weight.name == "kernel")
        pieces = [np.asarray(piece) for piece in kernel.pieces()]
    assert len(pieces) == (9 if rows else 3)
    np.testing.assert_array_equal(np.concatenate(pieces).reshape(kernel.shape), np.asarray(model.layers[0].kernel))


def test_a_single_number_is_one_value(tmp_path: Path) -> None:
    query, value = keras.Input((4, 3)), keras.Input((5, 3))
    model = keras.Model([query, value], L.Attention(use_scale=True, name="scaled")([query, value]))
    with opened(saved(model, tmp_path)) as found:
        (scale,) = found["scaled"]
        assert (scale.name, scale.shape) == ("scale", ())
        assert float(values(scale)) == float(np.asarray(model.get_layer("scaled").scale))


def test_half_precision_is_widened_without_loss(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((4,), dtype="bfloat16"), L.Dense(3, name="short", dtype="bfloat16")])
    model.save(tmp_path / "m.keras")
    with opened(ModelFile.at(tmp_path / "m.keras")) as found:
        kernel = next(weight for weight in found["short"] if weight.name == "kernel")
        expected = keras.ops.convert_to_numpy(keras.ops.cast(model.layers[0].kernel, "float32"))
        np.testing.assert_array_equal(values(kernel), expected)
