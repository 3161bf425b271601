"""Architectures that are trained to hold peaks and plans against a plain process: compiled as people compile them, fresh weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def build(name: str, path: str) -> None:
    """Builds an architecture, compiles and saves it."""
    import keras

    keras.utils.set_random_seed(0)
    model = ARCHITECTURES[name]()
    if name == "two_towers":
        model.compile("adam", "mse")
    else:
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.save(path)


def _dense() -> Any:
    from keras import Sequential, layers

    return Sequential(
        [
            layers.Input((784,)),
            layers.Dense(4096, "relu"),
            layers.Dropout(0.3),
            layers.Dense(2048, "relu"),
            layers.Dense(10),
        ]
    )


def _convolutional() -> Any:
    from keras import Sequential, layers

    stack: list[Any] = [layers.Input((96, 96, 3))]
    for filters in (32, 64, 128):
        stack += [layers.Conv2D(filters, 3, padding="same", activation="relu") for _ in range(2)]
        stack += [layers.MaxPooling2D()]
    return Sequential([*stack, layers.Flatten(), layers.Dense(256, "relu"), layers.Dense(10)])


def _residual() -> Any:
    import keras
    from keras import layers

    x = start = layers.Input((96, 96, 3))
    x = layers.Conv2D(32, 3, padding="same", use_bias=False)(x)
    for filters in (32, 32, 64, 64, 128, 128):
        strides = 1 if x.shape[-1] == filters else 2
        kept = x if strides == 1 else layers.Conv2D(filters, 1, strides=strides)(x)
        x = layers.ReLU()(layers.BatchNormalization()(x))
        x = layers.Conv2D(filters, 3, strides=strides, padding="same", use_bias=False)(x)
        x = layers.ReLU()(layers.BatchNormalization()(x))
        x = layers.Add()([layers.Conv2D(filters, 3, padding="same", use_bias=False)(x), kept])
    return keras.Model(start, layers.Dense(10)(layers.GlobalAveragePooling2D()(x)))


def _recurrent() -> Any:
    from keras import Sequential, layers

    stack = [layers.GRU(256, return_sequences=True), layers.GRU(256)]
    return Sequential([layers.Input((128, 32)), *stack, layers.Dense(10)])


def _transformer() -> Any:
    import keras
    from keras import layers

    start = layers.Input((128,), dtype="int32")
    x = layers.Embedding(8_000, 256)(start)
    for _ in range(4):
        x = layers.LayerNormalization()(layers.Add()([x, layers.MultiHeadAttention(8, 32)(x, x)]))
        x = layers.LayerNormalization()(layers.Add()([x, layers.Dense(256)(layers.Dense(1024, "gelu")(x))]))
    return keras.Model(start, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


def _two_towers() -> Any:
    import keras
    from keras import layers

    inputs, ends = [], []
    for name, count in (("user", 20_000), ("item", 10_000)):
        given = layers.Input((20,), dtype="int32", name=name)
        x = layers.GlobalAveragePooling1D()(layers.Embedding(count, 128)(given))
        inputs.append(given)
        ends.append(layers.Dense(256)(layers.Dense(1024, "relu")(x)))
    return keras.Model(inputs, layers.Dot(1)(ends))


def _unet() -> Any:
    import keras
    from keras import layers

    x = start = layers.Input((96, 96, 3))
    skipped = []
    for filters in (16, 32, 64):
        x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        skipped.append(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(128, 3, padding="same", activation="relu")(x)
    for filters, other in zip((64, 32, 16), reversed(skipped), strict=True):
        x = layers.Concatenate()([layers.Conv2DTranspose(filters, 2, strides=2)(x), other])
        x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    return keras.Model(start, layers.Conv2D(5, 1)(x))


def _embedding() -> Any:
    from keras import Sequential, layers

    return Sequential(
        [
            layers.Input((64,), dtype="int32"),
            layers.Embedding(200_000, 256),
            layers.GlobalAveragePooling1D(),
            layers.Dense(128, "relu"),
            layers.Dense(10),
        ]
    )


def _encoder() -> Any:
    """About 50 M parameters, six blocks."""
    import keras
    from keras import layers

    start = layers.Input((128,), dtype="int32")
    x = layers.Embedding(30_522, 640)(start)
    for _ in range(6):
        x = layers.LayerNormalization()(layers.Add()([x, layers.MultiHeadAttention(10, 64)(x, x)]))
        x = layers.LayerNormalization()(layers.Add()([x, layers.Dense(640)(layers.Dense(2560, "gelu")(x))]))
    return keras.Model(start, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


ARCHITECTURES: dict[str, Callable[[], Any]] = {
    "dense": _dense,
    "convolutional": _convolutional,
    "residual": _residual,
    "recurrent": _recurrent,
    "transformer": _transformer,
    "two_towers": _two_towers,
    "unet": _unet,
    "embedding": _embedding,
    "encoder": _encoder,
}
