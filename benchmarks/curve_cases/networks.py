"""Small networks: builders that fit their first and last layer to the material."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.curve_cases.material import BINARY, CLASSES, Material

Network = Callable[[Material], Any]
"""Builds a `keras.Sequential` for a material; not compiled."""


def dense(
    *units: int,
    activation: str = "relu",
    dropout: float = 0.0,
    normalised: bool = False,
    penalty: float = 0.0,
    initializer: Any = "glorot_uniform",
    last: str | None = None,
) -> Network:
    """Fully connected layers; pictures are flattened."""

    def build(material: Material) -> Any:
        import keras
        from keras import layers

        inner: list[Any] = [layers.Flatten()] if material.x.ndim > 2 else []
        for size in units:
            decay = keras.regularizers.L2(penalty) if penalty else None
            inner.append(layers.Dense(size, kernel_initializer=initializer, kernel_regularizer=decay))
            inner += [layers.BatchNormalization()] if normalised else []
            inner.append(layers.Activation(activation))
            inner += [layers.Dropout(dropout)] if dropout else []
        return _headed(material, inner, last)

    return build


def convolutional(*filters: int, units: int = 32, dropout: float = 0.0, normalised: bool = False) -> Network:
    """Convolutions of 3 × 3, each but the first followed by pooling, then one dense layer."""

    def build(material: Material) -> Any:
        from keras import layers

        inner: list[Any] = []
        for number, count in enumerate(filters):
            inner.append(layers.Conv2D(count, 3, padding="same", activation="relu"))
            inner += [layers.BatchNormalization()] if normalised else []
            inner += [layers.MaxPooling2D()] if number else []
        inner += [layers.Flatten(), layers.Dense(units, activation="relu")]
        inner += [layers.Dropout(dropout)] if dropout else []
        return _headed(material, inner)

    return build


def recurrent(kind: str = "LSTM", units: int = 16, words: int = 0, activation: str = "tanh") -> Network:
    """One recurrent layer of Keras ("LSTM", "GRU", "SimpleRNN"); `words` puts an embedding before it."""

    def build(material: Material) -> Any:
        from keras import layers

        inner: list[Any] = [layers.Embedding(words, 12)] if words else []
        inner.append(getattr(layers, kind)(units, activation=activation))
        return _headed(material, inner)

    return build


def over_time(*filters: int, words: int = 0) -> Network:
    """Convolutions over a sequence, averaged at the end."""

    def build(material: Material) -> Any:
        from keras import layers

        inner: list[Any] = [layers.Embedding(words, 12)] if words else []
        inner += [layers.Conv1D(count, 5, padding="same", activation="relu") for count in filters]
        return _headed(material, [*inner, layers.GlobalAveragePooling1D()])

    return build


def _headed(material: Material, inner: Sequence[Any], last: str | None = None) -> Any:
    import keras
    from keras import layers

    usual = {CLASSES: "softmax", BINARY: "sigmoid"}.get(material.task, "linear")
    units = material.classes if material.task == CLASSES else 1
    head = layers.Dense(units, activation=usual if last is None else last)
    return keras.Sequential([keras.Input(material.x.shape[1:]), *inner, head])
