"""Keras models that memory tests save, open and call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stethoscope.models.formats import detect
from stethoscope.types import ModelFile, Runner


def opened(model: Any, folder: Path, suffix: str = ".keras") -> Runner:
    path = folder / f"model{suffix}"
    model.save(path)
    file = ModelFile.at(path)
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    return detect(file).open(file, scratch)


def branches(keras: Any) -> Any:
    """Two inputs, one of them integers; a nested model called twice; batch normalisation; two outputs."""
    layers = keras.layers
    tower = keras.Sequential(
        [layers.Input((8,)), layers.Dense(6, activation="relu"), layers.BatchNormalization()], name="tower"
    )
    words = keras.Input((5,), dtype="int32", name="words")
    numbers = keras.Input((8,), name="numbers")
    text = layers.GlobalAveragePooling1D()(layers.Embedding(20, 8)(words))
    joined = layers.Concatenate()([tower(numbers), tower(text)])
    return keras.Model(
        [words, numbers],
        [layers.Dense(3, activation="softmax", name="kind")(joined), layers.Dense(1, name="size")(joined)],
    )


def sequences(keras: Any) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [keras.Input((None, 4)), layers.Bidirectional(layers.LSTM(5)), layers.Dense(2, name="score")]
    )
