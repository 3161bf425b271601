"""Networks that the rules of `compare` were not made with, for `unmet_divergences`: each built by Keras 3 or by Keras 2 (tf_keras)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.unmet_faults import leaves
from benchmarks.unmet_rows import Rows, picture_rows, signal_rows, table_rows, two_picture_rows, word_rows


def nested(k: Any) -> Any:
    """A backbone as a layer, a head of a Sequential in a Sequential, and a layer used twice."""
    inner = k.Input((24, 24, 3), name="inner")
    x = k.layers.Conv2D(8, 3, padding="same", name="first_conv")(inner)
    x = k.layers.BatchNormalization(name="first_bn")(x)
    x = k.layers.Activation("relu", name="first_relu")(x)
    x = k.layers.MaxPooling2D(2, name="first_pool")(x)
    x = k.layers.Conv2D(12, 3, padding="same", activation="relu", name="second_conv")(x)
    backbone = k.Model(inner, x, name="backbone")
    image = k.Input((24, 24, 3), name="image")
    x = backbone(k.layers.Rescaling(1 / 255, name="rescale")(image))
    shared = k.layers.Conv2D(12, 3, padding="same", activation="tanh", name="shared_conv")
    x = k.layers.Add(name="residual")([x, shared(shared(x))])
    squash = k.Sequential(
        [
            k.layers.Input((12,)),
            k.layers.Dense(12, activation="elu", name="squash_dense"),
            k.layers.Dropout(0.2, name="squash_drop"),
        ],
        name="squash",
    )
    head = k.Sequential(
        [
            k.layers.Input((12, 12, 12)),
            k.layers.GlobalAveragePooling2D(name="head_pool"),
            squash,
            k.layers.Dense(5, name="head_out"),
        ],
        name="head",
    )
    return k.Model(image, k.layers.Softmax(name="softmax")(head(x)), name="nested")


def squeezed(k: Any) -> Any:
    """Blocks of EfficientNet: a depthwise convolution, squeeze and excite."""
    image = k.Input((32, 32, 3), name="image")
    x = k.layers.Rescaling(1 / 127.5, -1, name="to_unit")(image)
    x = k.layers.ZeroPadding2D(((0, 1), (0, 1)), name="stem_zeros")(x)
    x = k.layers.Conv2D(8, 3, strides=2, use_bias=False, name="stem_conv")(x)
    x = k.layers.BatchNormalization(name="stem_norm")(x)
    x = k.layers.Activation("swish", name="stem_swish")(x)
    for number, stride in ((1, 1), (2, 2), (3, 1)):
        width = 8 if number == 1 else 12
        p = f"b{number}"
        y = k.layers.Conv2D(24, 1, use_bias=False, name=f"{p}_expand")(x)
        y = k.layers.BatchNormalization(name=f"{p}_expand_bn")(y)
        y = k.layers.Activation("swish", name=f"{p}_expand_act")(y)
        y = k.layers.DepthwiseConv2D(5, strides=stride, padding="same", use_bias=False, name=f"{p}_dw")(y)
        y = k.layers.BatchNormalization(name=f"{p}_dw_bn")(y)
        y = k.layers.Activation("swish", name=f"{p}_dw_act")(y)
        s = k.layers.GlobalAveragePooling2D(name=f"{p}_squeeze")(y)
        s = k.layers.Reshape((1, 1, 24), name=f"{p}_reshape")(s)
        s = k.layers.Conv2D(6, 1, activation="swish", name=f"{p}_reduce")(s)
        s = k.layers.Conv2D(24, 1, activation="sigmoid", name=f"{p}_gate")(s)
        y = k.layers.Multiply(name=f"{p}_excite")([y, s])
        y = k.layers.Conv2D(width, 1, use_bias=False, name=f"{p}_project")(y)
        y = k.layers.BatchNormalization(name=f"{p}_project_bn")(y)
        x = k.layers.Add(name=f"{p}_add")([x, y]) if number != 2 else y
    x = k.layers.GlobalAveragePooling2D(name="avg")(x)
    x = k.layers.Dropout(0.2, name="top_dropout")(x)
    return k.Model(image, k.layers.Dense(6, activation="softmax", name="probs")(x), name="squeezed")


def unet(k: Any) -> Any:
    """Down, up with Conv2DTranspose, concatenations, a map as the answer."""
    image = k.Input((32, 32, 1), name="image")

    def double(x: Any, filters: int, name: str) -> Any:
        for one in "ab":
            x = k.layers.Conv2D(filters, 3, padding="same", use_bias=False, name=f"{name}_conv{one}")(x)
            x = k.layers.BatchNormalization(name=f"{name}_bn{one}")(x)
            x = k.layers.ReLU(name=f"{name}_relu{one}")(x)
        return x

    x, kept = k.layers.Rescaling(1 / 255, name="unit")(image), []
    for number, filters in enumerate((6, 8)):
        x = double(x, filters, f"down{number}")
        kept.append(x)
        x = k.layers.MaxPooling2D(name=f"halve{number}")(x)
    x = double(x, 12, "bottom")
    for number, filters in ((1, 8), (0, 6)):
        x = k.layers.Conv2DTranspose(filters, 2, strides=2, padding="same", name=f"grow{number}")(x)
        x = k.layers.Concatenate(name=f"skip{number}")([kept[number], x])
        x = double(x, filters, f"up{number}")
    return k.Model(image, k.layers.Conv2D(1, 1, activation="sigmoid", name="mask")(x), name="unet")


def convnext(k: Any) -> Any:
    """Patches, depthwise 7 × 7, LayerNormalization over channels, GELU."""
    image = k.Input((32, 32, 3), name="image")
    x = k.layers.Rescaling(1 / 255, name="unit")(image)
    x = k.layers.Conv2D(16, 4, strides=4, name="patches")(x)
    x = k.layers.LayerNormalization(epsilon=1e-6, name="patches_norm")(x)
    for number in range(3):
        p = f"stage{number}"
        y = k.layers.DepthwiseConv2D(7, padding="same", name=f"{p}_spatial")(x)
        y = k.layers.LayerNormalization(epsilon=1e-6, name=f"{p}_norm")(y)
        y = k.layers.Dense(32, name=f"{p}_wide")(y)
        y = k.layers.Activation("gelu", name=f"{p}_gelu")(y)
        y = k.layers.Dense(16, name=f"{p}_narrow")(y)
        x = k.layers.Add(name=f"{p}_add")([x, y])
    x = k.layers.GlobalAveragePooling2D(name="mean")(x)
    x = k.layers.LayerNormalization(epsilon=1e-6, name="last_norm")(x)
    return k.Model(image, k.layers.Dense(8, name="logits")(x), name="convnext")


def dense_blocks(k: Any) -> Any:
    """DenseNet: normalisation before convolution, everything concatenated."""
    image = k.Input((24, 24, 3), name="image")
    x = k.layers.Rescaling(1 / 255, name="unit")(image)
    x = k.layers.Conv2D(8, 3, padding="same", use_bias=False, name="begin")(x)
    for block in range(2):
        for number in range(3):
            p = f"block{block}_{number}"
            y = k.layers.BatchNormalization(epsilon=1.001e-5, name=f"{p}_bn")(x)
            y = k.layers.ReLU(name=f"{p}_relu")(y)
            y = k.layers.Conv2D(6, 3, padding="same", use_bias=False, name=f"{p}_conv")(y)
            x = k.layers.Concatenate(name=f"{p}_concat")([x, y])
        if block == 0:
            x = k.layers.BatchNormalization(epsilon=1.001e-5, name="shrink_bn")(x)
            x = k.layers.ReLU(name="shrink_relu")(x)
            x = k.layers.Conv2D(10, 1, use_bias=False, name="shrink_conv")(x)
            x = k.layers.AveragePooling2D(2, name="shrink_pool")(x)
    x = k.layers.BatchNormalization(epsilon=1.001e-5, name="final_bn")(x)
    x = k.layers.ReLU(name="final_relu")(x)
    x = k.layers.GlobalMaxPooling2D(name="final_pool")(x)
    return k.Model(image, k.layers.Dense(4, activation="softmax", name="fc")(x), name="dense_blocks")


def signal(k: Any) -> Any:
    """A 1-D network for signals: strides, causal dilations, a Sequential."""
    return k.Sequential(
        [
            k.layers.Input((64, 2), name="signal"),
            k.layers.Conv1D(12, 7, strides=2, padding="same", name="wide_conv"),
            k.layers.BatchNormalization(name="wide_bn"),
            k.layers.LeakyReLU(0.1, name="wide_leaky")
            if k.__name__ == "keras"
            else k.layers.LeakyReLU(alpha=0.1, name="wide_leaky"),
            k.layers.MaxPooling1D(2, name="wide_pool"),
            k.layers.Conv1D(16, 3, padding="causal", dilation_rate=2, activation="relu", name="causal_conv"),
            k.layers.Conv1D(16, 3, padding="same", name="plain_conv"),
            k.layers.BatchNormalization(name="plain_bn"),
            k.layers.Activation("elu", name="plain_elu"),
            k.layers.AveragePooling1D(2, name="plain_pool"),
            k.layers.Flatten(name="flatten"),
            k.layers.Dense(20, activation="tanh", name="feature"),
            k.layers.Dense(3, activation="softmax", name="beat"),
        ],
        name="signal",
    )


def text(k: Any) -> Any:
    """Embedding of whole numbers, windows of three widths, the maximum over time."""
    words = k.Input((18,), dtype="int32", name="words")
    x = k.layers.Embedding(60, 12, name="vectors")(words)
    parts = []
    for width in (2, 3, 4):
        y = k.layers.Conv1D(8, width, activation="relu", name=f"window{width}")(x)
        parts.append(k.layers.GlobalMaxPooling1D(name=f"max{width}")(y))
    x = k.layers.Concatenate(name="windows")(parts)
    x = k.layers.Dense(16, activation="relu", name="topic")(x)
    return k.Model(words, k.layers.Dense(1, activation="sigmoid", name="positive")(x), name="text")


def table(k: Any) -> Any:
    """Two inputs, statistics of the data inside, two outputs."""
    numbers, flags = k.Input((6,), name="numbers"), k.Input((4,), name="flags")
    seen = table_rows(np.random.default_rng(3))["numbers"]
    normal = k.layers.Normalization(mean=seen.mean(0).tolist(), variance=seen.var(0).tolist(), name="standard")
    x = k.layers.Dense(16, activation="selu", name="numbers_dense")(normal(numbers))
    y = k.layers.Dense(8, activation="relu", name="flags_dense")(flags)
    x = k.layers.Concatenate(name="both")([x, y])
    x = k.layers.Dense(16, name="mix")(x)
    x = k.layers.BatchNormalization(name="mix_bn")(x)
    x = k.layers.Activation("relu", name="mix_relu")(x)
    x = k.layers.Dense(16, activation="softplus", name="mix2")(x)
    price = k.layers.Dense(1, name="price")(x)
    return k.Model([numbers, flags], [price, k.layers.Dense(3, activation="softmax", name="kind")(x)], name="table")


def coder(k: Any) -> Any:
    """An autoencoder of pictures with a dense middle and resizing."""
    image = k.Input((16, 16, 3), name="image")
    x = k.layers.Rescaling(1 / 255, name="unit")(image)
    x = k.layers.Conv2D(8, 3, strides=2, padding="same", activation="relu", name="encode1")(x)
    x = k.layers.Conv2D(12, 3, strides=2, padding="same", activation="relu", name="encode2")(x)
    x = k.layers.Flatten(name="flatten")(x)
    x = k.layers.Dense(10, name="code")(x)
    x = k.layers.Dense(4 * 4 * 12, activation="relu", name="decode_dense")(x)
    x = k.layers.Reshape((4, 4, 12), name="unflatten")(x)
    x = k.layers.UpSampling2D(2, interpolation="bilinear", name="larger1")(x)
    x = k.layers.Conv2D(8, 3, padding="same", activation="relu", name="decode1")(x)
    x = k.layers.UpSampling2D(2, name="larger2")(x)
    return k.Model(image, k.layers.Conv2D(3, 3, padding="same", activation="sigmoid", name="decode2")(x), name="coder")


def preactivated(k: Any) -> Any:
    """A residual network whose blocks begin with normalisation, with projections and strides."""
    image = k.Input((32, 32, 3), name="image")
    x = k.layers.Rescaling(1 / 127.5, -1, name="unit")(image)
    x = k.layers.Conv2D(8, 3, padding="same", use_bias=False, name="conv0")(x)
    for number, (filters, stride) in enumerate(((8, 1), (12, 2), (12, 1)), start=1):
        p = f"unit{number}"
        y = k.layers.BatchNormalization(name=f"{p}_bn1")(x)
        y = k.layers.Activation("relu", name=f"{p}_relu1")(y)
        short = x if stride == 1 else k.layers.Conv2D(filters, 1, strides=stride, name=f"{p}_short")(y)
        y = k.layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False, name=f"{p}_conv1")(y)
        y = k.layers.BatchNormalization(name=f"{p}_bn2")(y)
        y = k.layers.Activation("relu", name=f"{p}_relu2")(y)
        y = k.layers.Conv2D(filters, 3, padding="same", name=f"{p}_conv2")(y)
        x = k.layers.Add(name=f"{p}_add")([short, y])
    x = k.layers.BatchNormalization(name="post_bn")(x)
    x = k.layers.Activation("relu", name="post_relu")(x)
    x = k.layers.AveragePooling2D(4, name="post_pool")(x)
    x = k.layers.Flatten(name="post_flat")(x)
    return k.Model(image, k.layers.Dense(5, name="post_logits")(x), name="preactivated")


def branches(k: Any) -> Any:
    """Inception: convolutions of several sizes beside each other."""
    image = k.Input((24, 24, 3), name="image")
    x = k.layers.Rescaling(1 / 255, name="unit")(image)
    x = k.layers.Conv2D(8, 3, strides=2, padding="valid", activation="relu", name="reduce")(x)
    for number in range(2):
        p = f"mix{number}"

        def cell(x: Any, filters: int, size: Any, name: str) -> Any:
            x = k.layers.Conv2D(filters, size, padding="same", use_bias=False, name=f"{name}_conv")(x)
            x = k.layers.BatchNormalization(scale=False, name=f"{name}_bn")(x)
            return k.layers.Activation("relu", name=f"{name}_relu")(x)

        one = cell(x, 6, 1, f"{p}_one")
        three = cell(cell(x, 4, 1, f"{p}_three_a"), 6, 3, f"{p}_three_b")
        long = cell(cell(x, 4, (1, 5), f"{p}_long_a"), 4, (5, 1), f"{p}_long_b")
        pooled = cell(k.layers.AveragePooling2D(3, strides=1, padding="same", name=f"{p}_avg")(x), 4, 1, f"{p}_pooled")
        x = k.layers.Concatenate(name=f"{p}_joined")([one, three, long, pooled])
    x = k.layers.MaxPooling2D(3, strides=2, name="late_max")(x)
    x = k.layers.GlobalAveragePooling2D(name="late_mean")(x)
    return k.Model(image, k.layers.Dense(7, activation="softmax", name="kinds")(x), name="branches")


def siamese(k: Any) -> Any:
    """One encoder for two pictures, and how far they are from each other."""
    image = k.Input((20, 20, 1), name="inner_image")
    x = k.layers.Conv2D(6, 3, activation="relu", name="twin_conv1")(image)
    x = k.layers.MaxPooling2D(2, name="twin_pool")(x)
    x = k.layers.Conv2D(8, 3, activation="relu", name="twin_conv2")(x)
    x = k.layers.Flatten(name="twin_flat")(x)
    twin = k.Model(image, k.layers.Dense(12, activation="tanh", name="twin_dense")(x), name="twin")
    left, right = k.Input((20, 20, 1), name="left"), k.Input((20, 20, 1), name="right")
    a, b = (
        twin(k.layers.Rescaling(1 / 255, name=f"{side}_unit")(one)) for side, one in (("left", left), ("right", right))
    )
    x = k.layers.Subtract(name="apart")([a, b])
    x = k.layers.Multiply(name="squared")([x, x])
    x = k.layers.Dense(6, activation="relu", name="judge")(x)
    return k.Model([left, right], k.layers.Dense(1, activation="sigmoid", name="same")(x), name="siamese")


def mobile_v3(k: Any) -> Any:
    """keras.applications' own."""
    return k.applications.MobileNetV3Small(
        (64, 64, 3), weights=None, classes=10, minimalistic=False, include_preprocessing=True
    )


def efficient(k: Any) -> Any:
    """keras.applications' own."""
    return k.applications.EfficientNetB0(input_shape=(64, 64, 3), weights=None, classes=10)


NETWORKS: dict[str, tuple[Callable[[Any], Any], Callable[[np.random.Generator], Rows]]] = {
    "nested": (nested, picture_rows(24)),
    "squeezed": (squeezed, picture_rows(32)),
    "unet": (unet, picture_rows(32, 1)),
    "convnext": (convnext, picture_rows(32)),
    "dense_blocks": (dense_blocks, picture_rows(24)),
    "signal": (signal, signal_rows),
    "text": (text, word_rows),
    "table": (table, table_rows),
    "coder": (coder, picture_rows(16)),
    "preactivated": (preactivated, picture_rows(32)),
    "branches": (branches, picture_rows(24)),
    "siamese": (siamese, two_picture_rows),
    "mobile_v3": (mobile_v3, picture_rows(64)),
    "efficient": (efficient, picture_rows(64)),
}
HELD_BACK = ("branches", "siamese")
"""Not looked at until the rules were changed for the others."""


def built(name: str, random: np.random.Generator, keras: Any) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
    """(a model with weights and statistics as after training, rows by the names of its inputs)."""
    keras.utils.set_random_seed(int(random.integers(1 << 30)))
    make, draw = NETWORKS[name]
    model, rows = make(keras), dict(draw(random))
    fed = {one.name.partition(":")[0]: values for one, values in zip(model.inputs, rows.values(), strict=True)}
    normals = []
    for layer in leaves(model):
        values = layer.get_weights()
        if type(layer).__name__ == "BatchNormalization":
            normals.append((layer, layer.momentum))
            layer.momentum = 0.0
            count = len(values) - 2
            if layer.scale:
                values[0] = random.uniform(0.6, 1.4, values[0].shape)
            if layer.center:
                values[count - 1] = 0.2 * random.standard_normal(values[count - 1].shape)
        elif type(layer).__name__ == "LayerNormalization":
            values = [random.uniform(0.6, 1.4, values[0].shape), 0.2 * random.standard_normal(values[1].shape)]
        elif len(values) > 1 and getattr(layer, "use_bias", False):
            values[-1] = 0.1 * random.standard_normal(values[-1].shape)
        if values and type(layer).__name__ != "Normalization":
            layer.set_weights(values)
    if normals:
        model(list(fed.values()) if len(fed) > 1 else next(iter(fed.values())), training=True)
    for layer, momentum in normals:
        layer.momentum = momentum
    return model, fed
