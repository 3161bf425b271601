"""Networks over series and volumes with the rarer layers, for `planted_models`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.planted_models import Builder

MEAN, VARIANCE = [0.1 * place for place in range(12)], [0.3 + 0.2 * place for place in range(12)]


def made(b: Builder, x: Any, name: str, usual: str, *settings: Any, **others: Any) -> Any:
    """A layer; the plant may give it other settings, or another in its place."""
    told = dict(b.told(name))
    kind = told.pop("layer", "")
    if kind:
        return getattr(b.layers, kind)(**told, name=name)(x)
    return getattr(b.layers, usual)(*settings, **{**others, **told}, name=name)(x)


def signal(b: Builder) -> Any:
    """A series through one-dimensional layers, normalisations, activations and merges."""
    series = b.keras.Input((16, 12), name="signal")
    x = made(b, series, "featurewise", "Normalization", mean=MEAN, variance=VARIANCE)
    x = made(b, x, "pad", "ZeroPadding1D", padding=(2, 1))
    x = made(b, x, "front", "Conv1D", 16, 3, padding="causal", dilation_rate=2)
    x = made(b, x, "leaky", "LeakyReLU", negative_slope=0.1)
    x = made(b, x, "groups", "GroupNormalization", groups=4)
    x = made(b, x, "depthwise", "DepthwiseConv1D", 3, padding="same")
    x = made(b, x, "separable", "SeparableConv1D", 16, 3, padding="same")
    x = made(b, x, "elu", "ELU", alpha=0.7)
    x = made(b, x, "grow", "Conv1DTranspose", 12, 3, strides=2, padding="same")
    x = made(b, x, "prelu", "PReLU", shared_axes=[1], alpha_initializer="ones")
    x = made(b, x, "longer", "UpSampling1D", 2)
    x = made(b, x, "cut", "Cropping1D", cropping=(3, 1))
    x = made(b, x, "both_axes", "LayerNormalization", axis=[1, 2], center=False, scale=False)
    y = b.dense(x, 12, "other")
    gap = b.layers.Subtract(name="gap")([x, y])
    most = made(b, [x, gap], "most", "Maximum")
    mean = made(b, [most, y], "mean", "Average")
    unit = made(b, mean, "unit", "UnitNormalization")
    shares = made(b, b.dense(mean, 12, "scores"), "shares", "Softmax")
    met = made(b, [unit, shares], "met", "Dot", axes=1)
    x = _cut_up(b, met)
    x = b.layers.GlobalAveragePooling1D(name="pooled")(x)
    x = _again(b, x)
    x = b.layers.Flatten(name="flat")(b.dense(x, 6, "hidden", activation="tanh"))
    return b.keras.Model(series, b.dense(x, 4, "answer"), name="signal")


def _cut_up(b: Builder, x: Any) -> Any:
    if b.told("cut_up").get("turned"):
        x = b.keras.ops.transpose(x, (0, 2, 1))
    return b.layers.Reshape((18, 8), name="cut_up")(x)


def _again(b: Builder, x: Any) -> Any:
    if b.told("again").get("each"):
        return b.layers.Reshape((3, 8), name="again")(b.keras.ops.repeat(x, 3, axis=1))
    return b.layers.RepeatVector(3, name="again")(x)


def volume(b: Builder) -> Any:
    """A small volume through three-dimensional layers."""
    scan = b.keras.Input((5, 6, 7, 2), name="scan")
    x = made(b, scan, "pad", "ZeroPadding3D", padding=((1, 0), (0, 1), (1, 0)))
    x = made(b, x, "solid", "Conv3D", 6, 3, activation="relu")
    x = made(b, x, "grow", "Conv3DTranspose", 6, 3, strides=2, padding="same")
    x = made(b, x, "cut", "Cropping3D", cropping=((1, 0), (0, 1), (1, 1)))
    x = made(b, x, "normal", "LayerNormalization", epsilon=1e-3)
    x = made(b, x, "pooled", "GlobalAveragePooling3D")
    return b.keras.Model(scan, b.dense(x, 4, "answer"), name="volume")
