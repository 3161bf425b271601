"""The architectures that peak memory is predicted for, with fresh weights."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from sample_models.bert import encoder


def built(name: str, folder: Path) -> Path:
    """Builds an architecture in a process of its own, so that this one imports no framework; returns the file."""
    path = folder / f"{name}.keras"
    code = "import sys; from benchmarks.peak_memory_models import build; build(sys.argv[1], sys.argv[2])"
    subprocess.run([sys.executable, "-c", code, name, str(path)], check=True, capture_output=True)
    return path


def build(name: str, path: str) -> None:
    """Builds an architecture and saves it."""
    import keras

    keras.utils.set_random_seed(0)
    ARCHITECTURES[name]().save(path)


def _application(name: str) -> Any:
    def make() -> Any:
        import keras

        return getattr(keras.applications, name)(weights=None)

    return make


def _bert(blocks: int, hidden: int) -> Any:
    return lambda: encoder(blocks=blocks, hidden=hidden, heads=hidden // 64, vocabulary=30_522, positions=512)


def _dense() -> Any:
    from keras import Sequential, layers

    hidden = [layers.Dense(2048, "relu"), layers.Dropout(0.5), layers.Dense(1024, "relu")]
    return Sequential([layers.Input((784,)), *hidden, layers.Dense(10, "softmax")])


def _lstm() -> Any:
    from keras import Sequential, layers

    both = layers.Bidirectional(layers.LSTM(128, return_sequences=True))
    return Sequential([layers.Input((100,)), layers.Embedding(20_000, 128), both, layers.LSTM(64), layers.Dense(1)])


def _gru() -> Any:
    from keras import Sequential, layers

    stack = [layers.GRU(256, return_sequences=True), layers.GRU(256)]
    return Sequential([layers.Input((200, 32)), *stack, layers.Dense(10, "softmax")])


def _convolution(x: Any, filters: int, **options: Any) -> Any:
    from keras import layers

    return layers.Conv2D(filters, options.pop("kernel", 3), padding="same", activation="relu", **options)(x)


def _unet() -> Any:
    import keras
    from keras import layers

    x = start = layers.Input((128, 128, 3))
    skipped = []
    for filters in (16, 32, 64, 128):
        x = _convolution(_convolution(x, filters), filters)
        skipped.append(x)
        x = layers.MaxPooling2D()(x)
    x = _convolution(x, 256)
    for filters, other in zip((128, 64, 32, 16), reversed(skipped), strict=True):
        x = layers.Concatenate()([layers.Conv2DTranspose(filters, 2, strides=2)(x), other])
        x = layers.BatchNormalization()(_convolution(x, filters))
    return keras.Model(start, layers.Conv2D(1, 1, activation="sigmoid")(x))


def _branches() -> Any:
    import keras
    from keras import layers

    image, numbers = layers.Input((64, 64, 3)), layers.Input((32,))
    x = layers.Concatenate()([_convolution(image, 32, kernel=size) for size in (1, 3, 5, 7)])
    x = layers.GlobalAveragePooling2D()(_convolution(x, 64, strides=2))
    joined = layers.Concatenate()([x, layers.Dense(64)(layers.Dense(256, "relu")(numbers))])
    return keras.Model([image, numbers], [layers.Dense(5, name="kind")(joined), layers.Dense(1, name="age")(joined)])


def _vit() -> Any:
    import keras
    from keras import layers

    start = layers.Input((128, 128, 3))
    x = layers.Reshape((256, 192))(layers.Conv2D(192, 8, strides=8)(start))
    for _ in range(4):
        normed = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.MultiHeadAttention(6, 32)(normed, normed)])
        wide = layers.Dense(768, "gelu")(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Dense(192)(wide)])
    return keras.Model(start, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


def _autoencoder() -> Any:
    import keras
    from keras import layers

    x = start = layers.Input((64, 64, 32))
    for filters in (64, 128):
        x = _convolution(x, filters, strides=2)
    for filters in (64, 32):
        x = layers.Conv2DTranspose(filters, 3, strides=2, padding="same", activation="relu")(x)
    return keras.Model(start, x)


def _conv1d() -> Any:
    from keras import Sequential, layers

    blocks = [
        item
        for filters in (64, 128, 256)
        for item in (
            layers.Conv1D(filters, 7, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling1D(2),
        )
    ]
    return Sequential([layers.Input((2048, 8)), *blocks, layers.GlobalMaxPooling1D(), layers.Dense(4, "softmax")])


def _conv3d() -> Any:
    from keras import Sequential, layers

    blocks = [
        item
        for filters in (16, 32, 64)
        for item in (layers.Conv3D(filters, 3, padding="same", activation="relu"), layers.MaxPooling3D(2))
    ]
    return Sequential([layers.Input((16, 64, 64, 1)), *blocks, layers.Flatten(), layers.Dense(64), layers.Dense(2)])


def _convlstm() -> Any:
    from keras import Sequential, layers

    stack = [layers.ConvLSTM2D(16, 3, padding="same", return_sequences=True), layers.ConvLSTM2D(16, 3, padding="same")]
    return Sequential([layers.Input((8, 40, 40, 1)), *stack, layers.Conv2D(1, 3, padding="same")])


def _recommender() -> Any:
    import keras
    from keras import layers

    user, item = layers.Input((1,), dtype="int32", name="user"), layers.Input((50,), dtype="int32", name="history")
    likes = layers.GlobalAveragePooling1D()(layers.Embedding(100_000, 64)(item))
    x = layers.Concatenate()([layers.Flatten()(layers.Embedding(50_000, 64)(user)), likes])
    for width in (1024, 512, 256):
        x = layers.Dropout(0.1)(layers.Dense(width, "relu")(x))
    return keras.Model([user, item], layers.Dense(1, "sigmoid")(x))


def _seq2seq() -> Any:
    import keras
    from keras import layers

    source, target = layers.Input((64,), dtype="int32"), layers.Input((64,), dtype="int32")
    read = layers.Bidirectional(layers.GRU(128, return_sequences=True))(layers.Embedding(8000, 128)(source))
    written = layers.GRU(256, return_sequences=True)(layers.Embedding(8000, 128)(target))
    seen = layers.Attention()([written, read])
    return keras.Model([source, target], layers.Dense(8000, "softmax")(layers.Concatenate()([written, seen])))


def _generator() -> Any:
    from keras import Sequential, layers

    blocks = [
        item
        for filters in (256, 128, 64)
        for item in (
            layers.Conv2DTranspose(filters, 4, strides=2, padding="same"),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
        )
    ]
    last = layers.Conv2DTranspose(3, 4, strides=2, padding="same", activation="tanh")
    return Sequential([layers.Input((100,)), layers.Dense(6 * 6 * 512), layers.Reshape((6, 6, 512)), *blocks, last])


ARCHITECTURES: dict[str, Any] = {
    "dense": _dense,
    "branches": _branches,
    "lstm": _lstm,
    "gru": _gru,
    "unet": _unet,
    "vit": _vit,
    "autoencoder": _autoencoder,
    "mobilenet": _application("MobileNetV2"),
    "resnet50": _application("ResNet50"),
    "densenet": _application("DenseNet121"),
    "efficientnet": _application("EfficientNetB0"),
    "bert_tiny": _bert(2, 128),
    "bert_mini": _bert(4, 256),
    "bert_base": _bert(12, 768),
    "conv1d": _conv1d,
    "conv3d": _conv3d,
    "convlstm": _convlstm,
    "recommender": _recommender,
    "seq2seq": _seq2seq,
    "generator": _generator,
    "xception": _application("Xception"),
    "nasnet": _application("NASNetMobile"),
}
HELD_OUT = ("conv1d", "conv3d", "convlstm", "recommender", "seq2seq", "generator", "xception", "nasnet")
"""Not looked at while the method of predicting was made."""
