"""Networks for `met_divergences`: three to develop on, three that are only scored."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.unmet_rows import ROWS, Rows

WIDTH = 32


def digits(k: Any) -> Any:
    """A small network of the old kind: tanh, mean pooling with padding, PReLU, two dense layers."""
    image = k.Input((20, 20, 3), name="image")
    x = k.layers.Rescaling(1 / 255, name="unit")(image)
    x = k.layers.Conv2D(8, 5, activation="tanh", name="c1")(x)
    x = k.layers.AveragePooling2D(3, strides=2, padding="same", name="s2")(x)
    x = k.layers.Conv2D(12, 3, name="c3")(x)
    x = k.layers.PReLU(shared_axes=[1, 2], alpha_initializer=k.initializers.RandomUniform(0.1, 0.4), name="p3")(x)
    x = k.layers.Flatten(name="flat")(x)
    x = k.layers.Dense(24, activation="tanh", name="f4")(x)
    return k.Model(image, k.layers.Dense(10, activation="softmax", name="digit")(x), name="digits")


def line(k: Any) -> Any:
    """Reads a line of text: convolutions, columns as steps, LSTM forwards and backwards."""
    image = k.Input((8, 32, 1), name="line")
    x = k.layers.Conv2D(8, 3, padding="same", use_bias=False, name="stroke")(image)
    x = k.layers.BatchNormalization(name="stroke_bn")(x)
    x = k.layers.ReLU(name="stroke_relu")(x)
    x = k.layers.MaxPooling2D((2, 2), name="halve")(x)
    x = k.layers.Permute((2, 1, 3), name="columns")(x)
    x = k.layers.Reshape((16, 32), name="steps")(x)
    x = k.layers.Dropout(0.2, name="drop")(x)
    x = k.layers.LSTM(12, return_sequences=True, name="forth")(x)
    x = k.layers.LSTM(10, return_sequences=True, go_backwards=True, name="back")(x)
    return k.Model(image, k.layers.Dense(9, activation="softmax", name="letters")(x), name="line")


def writer(k: Any) -> Any:
    """A decoder of one block: words, attention that looks back, a wide layer with GELU."""
    words = k.Input((12,), dtype="int32", name="words")
    x = k.layers.Embedding(40, WIDTH, name="words_table")(words)
    x = k.layers.LayerNormalization(epsilon=1e-3, name="first_norm")(x)
    y = k.layers.MultiHeadAttention(4, 8, name="looks_back")(x, x, use_causal_mask=True)
    x = k.layers.Add(name="after_look")([x, y])
    y = k.layers.Dense(64, name="wide")(x)
    y = k.layers.Activation("gelu", name="bend")(y)
    y = k.layers.Dense(WIDTH, name="narrow")(y)
    x = k.layers.Add(name="after_wide")([x, y])
    return k.Model(words, k.layers.Dense(40, name="next_word")(x), name="writer")


def finder(k: Any) -> Any:
    """A detector: strides, BatchNormalization, leaky and bounded ReLU, a coarse map enlarged and joined with a finer one."""
    image = k.Input((24, 24, 3), name="image")
    x = k.layers.Rescaling(1 / 255, name="unit")(image)
    x = k.layers.Conv2D(8, 3, strides=2, padding="same", use_bias=False, name="down1")(x)
    x = k.layers.BatchNormalization(name="down1_bn")(x)
    fine = k.layers.LeakyReLU(0.1, name="down1_leaky")(x)
    x = k.layers.Conv2D(12, 3, strides=2, padding="same", name="down2")(fine)
    x = k.layers.ReLU(6.0, name="down2_relu6")(x)
    x = k.layers.UpSampling2D(2, interpolation="nearest", name="larger")(x)
    x = k.layers.Concatenate(name="route")([x, fine])
    x = k.layers.Conv2D(10, 3, padding="same", name="mixed")(x)
    return k.Model(image, k.layers.Conv2D(5, 1, name="boxes")(x), name="finder")


def speaker(k: Any) -> Any:
    """Sound: dilated and depthwise convolutions in one dimension, RMSNormalization, two GRUs."""
    sound = k.Input((40, 6), name="sound")
    x = k.layers.Conv1D(12, 3, padding="causal", dilation_rate=2, activation="relu", name="dilated")(sound)
    x = k.layers.DepthwiseConv1D(3, padding="same", depth_multiplier=2, name="each")(x)
    x = k.layers.RMSNormalization(name="level")(x)
    x = k.layers.GRU(12, return_sequences=True, name="slow")(x)
    x = k.layers.GRU(10, return_sequences=True, recurrent_activation="hard_sigmoid", use_bias=False, name="quick")(x)
    x = k.layers.GlobalAveragePooling1D(name="whole")(x)
    return k.Model(sound, k.layers.Dense(6, activation="softmax", name="who")(x), name="speaker")


def patches(k: Any) -> Any:
    """A vision transformer of one block."""
    image = k.Input((24, 24, 3), name="image")
    x = k.layers.Rescaling(1 / 127.5, -1, name="unit")(image)
    x = k.layers.Conv2D(WIDTH, 6, strides=6, name="cut")(x)
    x = k.layers.Reshape((16, WIDTH), name="tokens")(x)
    y = k.layers.LayerNormalization(epsilon=1e-6, name="norm1")(x)
    y = k.layers.MultiHeadAttention(4, 8, name="looks")(y, y)
    x = k.layers.Add(name="add1")([x, y])
    y = k.layers.LayerNormalization(epsilon=1e-6, name="norm2")(x)
    y = k.layers.Dense(WIDTH, name="up")(y)
    y = k.layers.Activation("gelu", name="bend")(y)
    y = k.layers.Dense(WIDTH, name="down")(y)
    x = k.layers.Add(name="add2")([x, y])
    x = k.layers.GlobalAveragePooling1D(name="mean")(x)
    return k.Model(image, k.layers.Dense(7, activation="softmax", name="kinds")(x), name="patches")


NETWORKS = {one.__name__: one for one in (digits, line, writer, finder, speaker, patches)}


def built(name: str, random: np.random.Generator, keras: Any) -> tuple[Any, dict[str, Any]]:
    """(a model with weights and statistics as after training, rows by the names of its inputs)."""
    keras.utils.set_random_seed(int(random.integers(1 << 30)))
    model = NETWORKS[name](keras)
    (put,) = model.inputs
    rows = dict(_rows(put, random))
    for layer in model.layers:
        values = layer.get_weights()
        kind = type(layer).__name__
        if kind == "BatchNormalization":
            # Small variances, as behind small weights: there epsilon tells.
            shape = values[0].shape
            values = [
                random.uniform(0.6, 1.4, shape),
                0.2 * random.standard_normal(shape),
                0.05 * random.standard_normal(shape),
                random.uniform(0.004, 0.05, shape),
            ]
        elif kind in ("LayerNormalization", "RMSNormalization"):
            values = [
                random.uniform(0.6, 1.4, values[0].shape),
                *(0.2 * random.standard_normal(v.shape) for v in values[1:]),
            ]
        elif kind in ("Conv2D", "Conv1D", "Dense", "DepthwiseConv1D", "LSTM", "GRU", "MultiHeadAttention"):
            biases = [place for place, weight in enumerate(layer.weights) if "bias" in weight.path]
            for place in biases:
                values[place] = values[place] + 0.1 * random.standard_normal(values[place].shape)
        if values:
            layer.set_weights(values)
    return model, rows


def _rows(put: Any, random: np.random.Generator) -> Rows:
    shape = (ROWS, *put.shape[1:])
    name = str(put.name)
    if str(put.dtype).startswith("int"):
        return {name: random.integers(1, 39, shape).astype(np.int32)}
    if name == "image":
        coarse = random.random((ROWS, shape[1] // 4, shape[2] // 4, shape[3])).repeat(4, 1).repeat(4, 2)
        return {name: (255 * (0.8 * coarse + 0.2 * random.random(shape))).astype(np.float32)}
    return {name: random.standard_normal(shape).astype(np.float32)}
