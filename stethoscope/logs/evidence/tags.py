"""The tags a recording uses beside Keras' own `epoch_…`: what each measures. Imports nothing, so readers can ask too."""

from __future__ import annotations

GRADIENT_NORM = "gradient_norm"
UPDATE_RATIO = "update_ratio"
ZERO_FRACTION = "zero_fraction"
DEAD_FRACTION = "dead_fraction"
SATURATED_FRACTION = "saturated_fraction"
ACTIVATION_STD = "activation_std"
WEIGHTS = "weights"
MEMORY = "memory"
TIME = "time"

LAYER_KINDS = {
    GRADIENT_NORM: "Root mean square of the gradient over the layer's weights",
    UPDATE_RATIO: "Norm of one update over norm of the weights",
    ZERO_FRACTION: "Share of outputs that are zero",
    DEAD_FRACTION: "Share of units that are zero on every row of the batch",
    SATURATED_FRACTION: "Share of outputs where the activation is nearly flat",
    ACTIVATION_STD: "Standard deviation of the outputs",
}
"""Tags `<kind>/<layer path>`: measured in single training steps, at the step's number."""

INSTRUMENTS = (*LAYER_KINDS, WEIGHTS, MEMORY, TIME)
"""First parts of every tag that is no loss, metric or learning rate."""


def of_layer(kind: str, layer: str) -> str:
    """The tag of one measurement of one layer."""
    return f"{kind}/{layer}"


def is_instrument(tag: str) -> bool:
    """Whether a tag of a recording measures the training's insides: never its loss or metric. "train/" may precede it."""
    kind, _, rest = tag.removeprefix("train/").partition("/")
    return bool(rest) and kind in INSTRUMENTS


def layer_of(tag: str) -> tuple[str, str] | None:
    """(kind, layer path) of a layer's tag, with or without "train/" before it; None for any other."""
    kind, _, layer = tag.removeprefix("train/").partition("/")
    return (kind, layer) if layer and kind in LAYER_KINDS else None
