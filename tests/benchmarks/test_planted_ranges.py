"""A range that is too narrow, planted in an int8 file, is what `compare` names."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.planted_divergences import answers
from benchmarks.planted_ranges import RangePlant, edited, full_int8
from tests.deterministic import begin, save
from tests.frameworks import keras
from tests.frameworks import layers as L


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    begin(3)
    x = keras.Input((10, 10, 3), name="image")
    y = L.Conv2D(6, 3, activation="relu", name="first")(x)
    y = L.Conv2D(5, 3, strides=2, activation="relu", name="second")(y)
    model = keras.Model(x, L.Dense(4, name="answer")(L.GlobalAveragePooling2D(name="pool")(y)))
    folder = tmp_path_factory.mktemp("ranges")
    rows = np.random.default_rng(0).standard_normal((12, 10, 10, 3)).astype(np.float32)
    save(model, folder / "right.keras")
    np.savez(folder / "rows.npz", x=rows)
    (folder / "narrow.tflite").write_bytes(full_int8(model, 0.2 * rows))
    content = full_int8(model, rows)
    plant = RangePlant("clipped", ("clipped-range",), ("CONV_2D",), 0.2)
    names = ["first", "second", "pool", "answer"]
    clipped, layers = edited(content, plant, names, rows, np.random.default_rng(1))
    (folder / "clipped.tflite").write_bytes(clipped)
    return folder, layers


def test_the_layer_that_is_cut_off_is_named(engine, files):
    folder, layers = files
    value = answers(engine, folder / "right.keras", folder / "clipped.tflite", folder / "rows.npz")
    found = value["first_divergence"]
    assert found["cause_id"] == "clipped-range", found
    assert found["a"] in layers
    assert "lie beyond" in found["sentence"]


def test_rows_that_the_input_cannot_hold_are_told(engine, files):
    folder, _ = files
    found = answers(engine, folder / "right.keras", folder / "narrow.tflite", folder / "rows.npz")["first_divergence"]
    assert (found["cause_id"], found["a"]) == ("clipped-range", "image")
