"""Changes to a serialised model that take one suspect away and leave its weights as they are. Standard library only.

One device against several: the curves, how far apart they are, and what accounts for it.

The programs for training on several devices, and the change against each cause of a difference.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

BATCH_NORMALISATION = frozenset({"BatchNormalization", "BatchNormalizationV1", "BatchNormalizationV2"})
_RATES = {
    **dict.fromkeys(
        ("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "AlphaDropout", "GaussianDropout"),
        ("rate",),
    ),
    "GaussianNoise": ("stddev",),
    **dict.fromkeys(("MultiHeadAttention", "GroupQueryAttention", "Attention", "AdditiveAttention"), ("dropout",)),
    **dict.fromkeys(
        ("LSTM", "GRU", "SimpleRNN", "LSTMCell", "GRUCell", "SimpleRNNCell", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"),
        ("dropout", "recurrent_dropout"),
    ),
}
"""Settings of random layers that are 0 where nothing is random."""


def unsynchronised(config: Any) -> list[str]:
    """Names of the batch normalisations that look at one replica's rows only, nested models included."""
    return [
        str(settings.get("name", kind))
        for kind, settings in _layers(config)
        if kind in BATCH_NORMALISATION and not settings.get("synchronized") and settings.get("trainable", True)
    ]


def random_layers(config: Any) -> list[str]:
    """Names of the layers that draw random numbers in training."""
    return [
        str(settings.get("name", kind))
        for kind, settings in _layers(config)
        if any(settings.get(name) for name in _RATES.get(kind, ()))
    ]


def synchronised(config: dict[str, Any]) -> dict[str, Any]:
    """A copy in which every batch normalisation computes its statistics over all replicas."""
    changed = copy.deepcopy(config)
    for kind, settings in _layers(changed):
        if kind in BATCH_NORMALISATION:
            settings["synchronized"] = True
    return changed


def without_randomness(config: dict[str, Any]) -> dict[str, Any]:
    """A copy in which nothing is drawn at random."""
    changed = copy.deepcopy(config)
    for kind, settings in _layers(changed):
        for name in _RATES.get(kind, ()):
            if settings.get(name):
                settings[name] = 0.0
    return changed


def _layers(config: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """(class name, settings) of every serialised object within, outermost first."""
    if isinstance(config, dict):
        settings = config.get("config")
        if isinstance(config.get("class_name"), str) and isinstance(settings, dict):
            yield config["class_name"].rsplit(">", 1)[-1], settings
        for value in config.values():
            yield from _layers(value)
    elif isinstance(config, list | tuple):
        for value in config:
            yield from _layers(value)


ROUNDING = 1e-4
"""Relative distance of curves that differ by the order of summation only (measured: 1e-6 over some hundred steps)."""
NOISE_FACTOR = 3.0
"""Curves agree within so many times what another order of rows, and other random numbers, change on one device."""


@dataclass(frozen=True)
class Curve:
    """The training loss of each epoch of one run."""

    id: str
    title: str
    devices: int
    batch_size: int
    """Rows of all devices together."""
    rows: int
    learning_rate_factor: float = 1.0
    losses: tuple[float, ...] = ()
    reason: str = ""
    """Why it did not run."""
    wall_s: float = 0.0


@dataclass(frozen=True)
class Suspect:
    """Something that makes several devices train differently, taken away to see what remains."""

    id: str
    """"batch-normalisation", "batch-size", "learning-rate", "reduction" or "random-layers"."""
    title: str
    gap_before: float
    gap_after: float | None
    """Relative distance of the two curves once it is taken away; None when that run failed or the time was up."""
    explains: str
    """"all", "most", "part", "nothing" or "not tried"."""
    message: str
    code: str


@dataclass(frozen=True)
class ReplicaReport:
    """A model trained on one device and on several replicas of it, from the same weights on the same rows."""

    devices: int
    batch_size: int
    global_batch_size: int
    rows: int
    epochs: int
    curves: tuple[Curve, ...] = ()
    gap: float | None = None
    """Largest distance of the two curves, as a part of the largest loss."""
    tolerance: float = ROUNDING
    agree: bool | None = None
    suspects: tuple[Suspect, ...] = ()
    sentence: str = ""
    code: str = ""
    """The multi-device program, to copy."""
    assumed: tuple[str, ...] = ()


def distance(first: Sequence[float], second: Sequence[float]) -> float:
    """The largest difference of two curves as a part of the first one's largest value; infinite where one diverges."""
    pairs = list(zip(first, second, strict=False))
    if not pairs:
        return math.inf
    if not all(math.isfinite(value) for pair in pairs for value in pair):
        same = all(math.isfinite(one) == math.isfinite(two) for one, two in pairs)
        return 0.0 if same else math.inf
    scale = max(abs(one) for one, _ in pairs) or 1.0
    return max(abs(one - two) for one, two in pairs) / scale


def explained(before: float, after: float | None, tolerance: float) -> str:
    """How much of a gap went away with a suspect."""
    if after is None:
        return "not tried"
    if after <= tolerance:
        return "all"
    if not math.isfinite(before) or after <= 0.4 * before:
        return "most"
    return "part" if after <= 0.8 * before else "nothing"


def told(report: ReplicaReport) -> str:
    """The sentence to show first."""
    if report.gap is None:
        failed = next((curve for curve in report.curves if curve.reason), None)
        return f"The trial could not be made: {failed.reason if failed else 'no run ended'}"
    size = f"{100 * report.gap:.2g} %" if math.isfinite(report.gap) else "one of them diverges"
    if report.agree:
        agreed = (
            f"One device and {report.devices} agree: their losses differ by at most {size}, within the "
            f"{100 * report.tolerance:.2g} % that rounding and random numbers change on one device."
        )
        hidden = [suspect.message for suspect in report.suspects if suspect.explains in ("all", "most", "part")]
        return " ".join([agreed, *hidden])
    start = f"One device and {report.devices} train differently: their losses differ by up to {size}."
    causes = [suspect for suspect in report.suspects if suspect.explains in ("all", "most", "part")]
    if not report.suspects:
        return f"{start} The causes we know of are not in this program."
    if not causes:
        return f"{start} None of the causes tried accounts for it."
    return f"{start} " + " ".join(suspect.message for suspect in causes)


def program(model_file: str, package: str, devices: int, batch_size: int, *, per_replica: bool) -> str:
    """The multi-device training to copy; `x` and `y` are the reader's."""
    names = ", ".join(f'"/GPU:{number}"' for number in range(devices))
    batch = (
        f"{batch_size} * strategy.num_replicas_in_sync"
        if per_replica
        else f"{batch_size}  # divided among the replicas"
    )
    imports = "".join(f"import {name}\n" for name in sorted(("tensorflow as tf", package)))
    return (
        f"{imports}\nstrategy = tf.distribute.MirroredStrategy([{names}])\n"
        f"batch_size = {batch}\n"
        "with strategy.scope():\n"
        f"    model = {package}.models.load_model({json.dumps(model_file)})  # or build_model() and compile\n"
        "model.fit(x, y, batch_size=batch_size)\n"
    )


BATCH_NORMALISATION_CODE = (
    "from keras import layers\n\n"
    "layer = layers.BatchNormalization(synchronized=True)  # in place of each BatchNormalization()\n"
)


def learning_rate(devices: int, rate: float | None) -> str:
    """The rate for a batch that is `devices` times as large.

    Source: Goyal et al. 2017, Accurate, Large Minibatch SGD (linear scaling rule and warm-up), arXiv 1706.02677.
    """
    base = "learning_rate" if rate is None else f"{rate:.6g}"
    return (
        f"# {devices} times the batch: {devices} times the rate, reached over the first epochs (for Adam often less).\n"
        f"model.optimizer.learning_rate = {base} * {devices}\n"
    )


def batch_size(size: int, devices: int) -> str:
    """The call that keeps the batch of one device."""
    return f"model.fit(x, y, batch_size={size})  # of all {devices} replicas together: {max(1, size // devices)} each\n"


REDUCTION = """import tensorflow as tf

# With `fit`: only batches that all replicas share equally.
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size, drop_remainder=True)


# In a training loop of your own: divide by the rows of all replicas, not by those of one.
def loss_of(y_true, y_pred, loss):  # `loss` made with reduction="none"
    return tf.nn.compute_average_loss(loss(y_true, y_pred), global_batch_size=batch_size)
"""

RANDOM = (
    "import keras\n\n"
    "keras.utils.set_random_seed(0)  # repeats a run on the same devices; replicas still draw numbers of their own\n"
)
