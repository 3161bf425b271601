"""Whether weights fit a model: layers as Keras finds them, both shapes where they do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stethoscope.models.weights.fitting import Misfit, fit
from stethoscope.types import ModelFile
from tests.answers import BUILT
from tests.models.formats import weights_files
from tests.tables import each

MODEL = BUILT / "wine_unscaled.keras"


def of_model(change=lambda name, values: values) -> dict[str, np.ndarray]:
    """The weights of the model, by "layer/role"."""
    from stethoscope.models.weights.weight_statistics import opened

    with opened(ModelFile.at(MODEL)) as held:
        return {
            f"{layer}/{one.name}": change(
                f"{layer}/{one.name}", np.concatenate([piece.ravel() for piece in one.pieces()]).reshape(one.shape)
            )
            for layer, some in held.items()
            for one in some
        }


LAYERS = list(dict.fromkeys(name.rpartition("/")[0] for name in of_model()))
LAST = LAYERS[-1]


def wider(name: str, values: np.ndarray) -> np.ndarray:
    """The last layer with two units more."""
    more = (*((0, 0) for _ in values.shape[1:]), (0, 2))
    return np.pad(values, more) if name.startswith(f"{LAST}/") else values


def fitted(weights: Path, model: Path = MODEL):
    return fit(ModelFile.at(model), ModelFile.at(weights))


@each("kind", list(weights_files.MAKERS))
def test_its_own_weights_fit(kind, tmp_path):
    found = fitted(weights_files.MAKERS[kind](tmp_path, of_model()))
    assert found.fits and found.arrays == len(of_model()) and found.matched_by == "name"


@each("kind", list(weights_files.MAKERS))
def test_another_shape_is_told_with_both(kind, tmp_path):
    found = fitted(weights_files.MAKERS[kind](tmp_path, of_model(wider)))
    kernel = of_model()[f"{LAST}/kernel"].shape
    assert not found.fits
    assert Misfit(LAST, "kernel", kernel, (kernel[0], kernel[1] + 2)) in found.misfits
    assert {one.layer for one in found.misfits} == {LAST}
    assert f"{kernel[0]}×{kernel[1] + 2}" in next(one.sentence for one in found.misfits if one.weight == "kernel")


def test_layers_that_only_one_has_are_named(tmp_path):
    arrays = {name: values for name, values in of_model().items() if not name.startswith(f"{LAST}/")}
    arrays["extra/kernel"] = np.zeros((2, 2), "f")
    found = fitted(weights_files.safetensors(tmp_path / "w.safetensors", arrays))
    assert found.missing == (LAST,) and found.unexpected == ("extra",) and not found.misfits


def test_other_names_are_matched_in_their_order(tmp_path):
    renamed = {
        f"layer_{LAYERS.index(name.rpartition('/')[0])}/{name.rpartition('/')[2]}": one
        for name, one in of_model().items()
    }
    found = fitted(weights_files.h5(tmp_path / "w.h5", renamed))
    assert found.fits and found.matched_by == "order"


def test_numbered_groups_are_found_by_class_as_keras_does(tmp_path):
    found = fitted(weights_files.numbered_h5(tmp_path / "w.weights.h5", of_model(wider), named=False))
    assert {one.layer for one in found.misfits} == {LAST} and found.matched_by == "name"


@pytest.mark.parametrize("model", ["digits_cnn.tflite", "digits_cnn.onnx"])
def test_a_model_of_operators_is_matched_by_size(model, tmp_path):
    found = fitted(BUILT / "digits_cnn.keras", BUILT / model)
    assert found.matched_by == "size" and found.arrays > 0


def test_a_whole_model_is_a_source_of_weights():
    assert fitted(MODEL).fits
    assert not fitted(BUILT / "digits_cnn.keras").fits
