"""The models of the conversion matrix, built in a process of its own: `python -m benchmarks.conversion_matrix_models FOLDER`.

Each kind leaves "NAME.keras" or a SavedModel folder "NAME", "NAME.npz" with 48 rows by input name, and "NAME_expected.npz" with what
Keras' own `predict` says of the first 16. Weights are moved away from where they start: kernels and biases are drawn, and the statistics
of a BatchNormalization are those of no fresh one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ROWS, COMPARED = 48, 16
Built = tuple[Any, dict[str, "npt.NDArray[Any]"]]


def _draws(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _images(size: int = 16, channels: int = 3, seed: int = 1) -> npt.NDArray[np.float32]:
    """Smooth pictures with noise: neighbours are alike, as in photographs."""
    draws = _draws(seed)
    coarse = draws.normal(size=(ROWS, size // 4, size // 4, channels))
    fine = coarse.repeat(4, 1).repeat(4, 2) + 0.3 * draws.normal(size=(ROWS, size, size, channels))
    return fine.astype(np.float32)


def _steps(length: int = 12, features: int = 6, seed: int = 2) -> npt.NDArray[np.float32]:
    return _draws(seed).normal(size=(ROWS, length, features)).cumsum(axis=1).astype(np.float32) * np.float32(0.4)


def _tokens(length: int = 14, words: int = 300, seed: int = 3) -> npt.NDArray[np.int32]:
    return _draws(seed).integers(1, words, size=(ROWS, length)).astype(np.int32)


def _dense() -> Built:
    import keras

    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((20,), name="rows"),
            layers.Dense(64, "relu"),
            layers.Dense(32, "tanh"),
            layers.Dense(5, "softmax", name="classes"),
        ]
    )
    return model, {"rows": _draws(4).normal(size=(ROWS, 20)).astype(np.float32)}


def _cnn() -> Built:
    import keras

    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((16, 16, 3), name="image"),
            layers.Conv2D(12, 3, strides=2, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(16, 3, dilation_rate=2, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(10, "softmax", name="classes"),
        ]
    )
    return model, {"image": _images()}


def _batch_norm() -> Built:
    import keras

    layers = keras.layers
    x = inputs = keras.Input((16, 16, 3), name="image")
    for filters in (8, 16):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.ReLU(max_value=6.0)(layers.BatchNormalization(epsilon=1e-3)(x))
    before = layers.BatchNormalization(epsilon=1e-5)(x)  # with nothing before it that it could be folded into
    x = layers.GlobalAveragePooling2D()(layers.Add()([before, x]))
    return keras.Model(inputs, layers.Dense(6, name="scores")(x)), {"image": _images(seed=5)}


def _depthwise() -> Built:
    import keras

    layers = keras.layers
    x = inputs = keras.Input((16, 16, 4), name="image")
    x = layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same", activation="relu")(x)
    x = layers.SeparableConv2D(12, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.GlobalMaxPooling2D()(x)
    return keras.Model(inputs, layers.Dense(4, "softmax", name="classes")(x)), {"image": _images(channels=4, seed=6)}


def _lstm() -> Built:
    import keras

    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((12, 6), name="steps"),
            layers.LSTM(16, return_sequences=True),
            layers.LSTM(8),
            layers.Dense(3, "softmax", name="classes"),
        ]
    )
    return model, {"steps": _steps()}


def _gru() -> Built:
    import keras

    layers = keras.layers
    x = inputs = keras.Input((12, 6), name="steps")
    x = layers.GRU(16, return_sequences=True)(x)
    x = layers.GRU(8, reset_after=False)(x)
    return keras.Model(inputs, layers.Dense(2, name="value")(x)), {"steps": _steps(seed=7)}


def _bidirectional() -> Built:
    import keras

    layers = keras.layers
    x = inputs = keras.Input((12, 6), name="steps")
    x = layers.Bidirectional(layers.LSTM(10, return_sequences=True))(x)
    x = layers.Bidirectional(layers.GRU(6), merge_mode="ave")(x)
    return keras.Model(inputs, layers.Dense(1, "sigmoid", name="chance")(x)), {"steps": _steps(seed=8)}


def _attention() -> Built:
    import keras

    layers = keras.layers
    x = inputs = keras.Input((12, 16), name="steps")
    for _ in range(2):
        found = layers.MultiHeadAttention(4, 8)(x, x)
        x = layers.LayerNormalization(epsilon=1e-6)(layers.Add()([x, found]))
        wide = layers.Dense(32, "gelu")(x)  # the exact form, with erf
        x = layers.LayerNormalization()(layers.Add()([x, layers.Dense(16)(wide)]))
    x = layers.GlobalAveragePooling1D()(x)
    return keras.Model(inputs, layers.Dense(4, "softmax", name="classes")(x)), {"steps": _steps(features=16, seed=9)}


def _embedding() -> Built:
    import keras

    layers = keras.layers
    x = inputs = keras.Input((14,), dtype="int32", name="tokens")
    x = layers.Embedding(300, 24)(x)
    x = layers.Conv1D(16, 3, activation="relu")(x)
    x = layers.GlobalMaxPooling1D()(x)
    return keras.Model(inputs, layers.Dense(2, "softmax", name="classes")(x)), {"tokens": _tokens()}


def _multi_io() -> Built:
    import keras

    layers = keras.layers
    picture, words = keras.Input((16, 16, 3), name="picture"), keras.Input((14,), dtype="int32", name="words")
    age = keras.Input((1,), name="age")
    seen = layers.GlobalAveragePooling2D()(layers.Conv2D(8, 3, activation="relu")(picture))
    read = layers.GlobalAveragePooling1D()(layers.Embedding(300, 8)(words))
    joined = layers.Dense(16, "relu")(layers.Concatenate()([seen, read, age]))
    outputs = {"kind": layers.Dense(5, "softmax", name="kind")(joined), "price": layers.Dense(1, name="price")(joined)}
    feed = {
        "picture": _images(seed=10),
        "words": _tokens(seed=11),
        "age": _draws(12).uniform(-1, 1, (ROWS, 1)).astype(np.float32),
    }
    return keras.Model([picture, words, age], outputs), feed


def _conv_transpose() -> Built:
    import keras

    layers = keras.layers
    x = inputs = keras.Input((16, 16, 3), name="image")
    x = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2DTranspose(3, 4, strides=2, padding="valid", name="larger")(x)
    return keras.Model(inputs, x), {"image": _images(seed=13)}


def _resize() -> Built:
    import keras

    layers = keras.layers
    x = inputs = keras.Input((16, 16, 3), name="image")
    x = layers.Resizing(24, 20, interpolation="bilinear")(x)
    x = layers.Conv2D(6, 3, padding="same", activation="relu")(x)
    x = layers.UpSampling2D(2, interpolation="nearest")(x)
    x = layers.UpSampling2D(2, interpolation="bilinear")(layers.AveragePooling2D(4)(x))
    return keras.Model(inputs, layers.Conv2D(2, 1, name="map")(x)), {"image": _images(seed=14)}


def _custom_activation() -> Built:
    """An activation of one's own, made of `keras.ops` in the graph: such a file loads without its Python."""
    import keras

    layers, ops = keras.layers, keras.ops
    x = inputs = keras.Input((20,), name="rows")
    x = layers.Dense(32)(x)
    x = x * ops.sigmoid(1.702 * x)
    x = layers.Dense(16)(x)
    x = ops.where(x > 0, x, 0.1 * ops.expm1(x))
    return keras.Model(inputs, layers.Dense(3, name="scores")(x)), {
        "rows": _draws(15).normal(size=(ROWS, 20)).astype(np.float32)
    }


def _custom_activation_function() -> Built:
    """A registered function as an activation: a .keras with it cannot be loaded elsewhere, so it is exported."""
    import keras

    @keras.saving.register_keras_serializable("matrix")
    def softsign_squared(x: Any) -> Any:
        return keras.ops.sign(x) * keras.ops.square(keras.ops.softsign(x))

    layers = keras.layers
    model = keras.Sequential(
        [layers.Input((20,), name="rows"), layers.Dense(24, softsign_squared), layers.Dense(3, name="scores")]
    )
    return model, {"rows": _draws(16).normal(size=(ROWS, 20)).astype(np.float32)}


def _subclassed() -> Built:
    """A model of one's own class, with a branch in its call and a layer that is called twice; exported to a SavedModel."""
    import keras

    @keras.saving.register_keras_serializable("matrix")
    class Ranker(keras.Model):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.shared = keras.layers.Dense(20, "relu")
            self.norm = keras.layers.LayerNormalization()
            self.out = keras.layers.Dense(3, "softmax")

        def call(self, rows: Any, training: bool = False) -> Any:
            x = self.shared(rows)
            x = self.shared(self.norm(x + rows))
            return self.out(keras.ops.concatenate([x, rows], axis=-1))

    model = Ranker()
    feed = _draws(17).normal(size=(ROWS, 20)).astype(np.float32)
    model(feed[:1])
    return model, {"rows": feed}


KINDS: dict[str, tuple[Callable[[], Built], str]] = {
    "dense": (_dense, "keras"),
    "CNN": (_cnn, "keras"),
    "BatchNorm": (_batch_norm, "keras"),
    "depthwise": (_depthwise, "keras"),
    "LSTM": (_lstm, "keras"),
    "GRU": (_gru, "keras"),
    "Bidirectional": (_bidirectional, "keras"),
    "attention": (_attention, "keras"),
    "embedding": (_embedding, "keras"),
    "multi-IO": (_multi_io, "keras"),
    "subclassed": (_subclassed, "saved_model"),
    "ConvTranspose": (_conv_transpose, "keras"),
    "resize": (_resize, "keras"),
    "custom activation": (_custom_activation, "keras"),
    "custom activation, registered": (_custom_activation_function, "saved_model"),
}
"""By name: what builds it, and the form it is kept in."""
CANNOT_BE_LOADED = "subclassed, .keras without its class"
"""The file of `subclassed` in the form that needs its Python."""


def file_name(name: str) -> str:
    """A name as a file's."""
    return name.replace(", ", "_").replace(" ", "_").replace(".", "").lower()


def move_weights(model: Any, seed: int) -> None:
    """Weights as if it had been trained: nothing is zero or one because it began so."""
    draws = _draws(seed)
    for weight in model.weights:
        shape, path = tuple(weight.shape), weight.path
        if weight.dtype not in ("float32", "float16"):
            continue
        if path.endswith(("moving_variance", "gamma")):
            value = draws.uniform(0.4, 1.8, shape)
        elif path.endswith(("bias", "beta", "moving_mean")):
            value = draws.normal(0, 0.2, shape)
        else:
            fan = max(1, int(np.prod(shape[:-1])))
            value = draws.normal(0, min(0.5, 1.2 / np.sqrt(fan)), shape)
        weight.assign(value.astype(np.float32))


def main() -> None:
    """Builds every kind, prints {name: path} as JSON."""
    import os

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    folder = Path(sys.argv[1])
    paths: dict[str, str] = {}
    for seed, (name, (build, form)) in enumerate(KINDS.items()):
        import keras

        keras.utils.set_random_seed(seed)
        model, feed = build()
        move_weights(model, seed)
        plain = file_name(name)
        part = {key: value[:COMPARED] for key, value in feed.items()}
        given: Any = part if len(part) > 1 else next(iter(part.values()))
        found = model.predict(given, verbose=0)
        outputs = found if isinstance(found, dict) else {"": found}
        if form == "keras":
            path = folder / f"{plain}.keras"
            model.save(path)
        else:
            path = folder / plain
            spec = [
                keras.InputSpec(shape=(None, *value.shape[1:]), dtype=str(value.dtype), name=key)
                for key, value in feed.items()
            ]
            model.export(path, verbose=False, input_signature=spec if name == "subclassed" else None)
            if name == "subclassed":
                paths[CANNOT_BE_LOADED] = str(folder / f"{file_name(CANNOT_BE_LOADED)}.keras")
                model.save(paths[CANNOT_BE_LOADED])
                np.savez(folder / f"{file_name(CANNOT_BE_LOADED)}.npz", **feed)
        np.savez(folder / f"{plain}.npz", **feed)
        np.savez(folder / f"{plain}_expected.npz", **{key or "output": value for key, value in outputs.items()})
        paths[name] = str(path)
    print(json.dumps(paths))


if __name__ == "__main__":
    main()
