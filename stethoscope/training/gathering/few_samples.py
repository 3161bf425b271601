"""A few rows to overfit, and a model with nothing in the way of doing so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.activations import GATES, NEVER_NEGATIVE, PROBABILITIES, SIGNED, SOFTMAX
from stethoscope.architecture.losses import canonical_loss
from stethoscope.errors import CannotRun
from stethoscope.evidence.heads import heads_of
from stethoscope.program.model_config import Entry, structure, walk
from stethoscope.program.setup import Setup
from stethoscope.training.skill import Scorer, TargetScale
from stethoscope.types import Architecture, Feed

Array = npt.NDArray[Any]
TOLERANCE = 0.05
"""A number is right within this share of the spread of the chosen targets."""
EXPLAINED = 0.99
"""Numbers with this R² are all right: what is left is a tenth of their standard deviation."""
_SEED = 0
_RATES = ("rate", "dropout", "recurrent_dropout", "stddev")
_NOISE = ("Dropout", "Noise")
_PENALTIES = (
    "kernel_regularizer",
    "bias_regularizer",
    "activity_regularizer",
    "recurrent_regularizer",
    "embeddings_regularizer",
    "depthwise_regularizer",
    "pointwise_regularizer",
    "gamma_regularizer",
    "beta_regularizer",
)


def few(setup: Setup, samples: int) -> Setup:
    """A copy trained on at most `samples` rows in one batch: finite, with different inputs, as many of each class as possible."""
    rows = np.random.default_rng(_SEED).permutation(setup.rows)
    finite = _finite(setup)
    ordered = [*rows[finite[rows]], *rows[~finite[rows]]]
    chosen = _balanced(_classes(setup), _different(setup, ordered), samples)
    index = np.sort(np.array(chosen, np.intp))
    return setup.with_changes(
        x={name: array[index] for name, array in setup.x.items()},
        y=tuple(array[index] for array in setup.y),
        x_val={},
        y_val=(),
        batch_size=len(index),
        shuffle=False,
        class_weight=None,
        sample_weight=None,
    )


def unregularised(setup: Setup) -> tuple[Setup, tuple[str, ...]]:
    """Returns a copy without dropout, noise and weight penalties, and what was switched off; the same setup where that cannot be."""
    try:
        config = structure(setup)
    except CannotRun:
        return setup, ()
    found: list[str] = []
    for path, entry in walk(config):
        found += _switched_off(path, entry)
    return (setup.with_changes(config=config), tuple(found)) if found else (setup, ())


def random_targets(architecture: Architecture, outputs: Feed, loss: str | None) -> Feed:
    """Labels drawn at random that fit each output of the model.

    Args:
        architecture: tells heads and losses.
        outputs: what the model predicts for the rows, by output name.
        loss: the loss the user named, if any.
    """
    from stethoscope.evidence.fit import FitSettings

    random = np.random.default_rng(_SEED)
    heads = {head.output: head for head in heads_of(architecture, FitSettings(loss=loss), None)}
    targets: Feed = {}
    for name, array in outputs.items():
        head = heads.get(name)
        said, activation = (head.loss, head.activation) if head else ("", "")
        units = array.shape[-1] if array.ndim > 1 else 1
        if said.startswith("sparse_"):
            targets[name] = random.integers(0, max(1, units), array.shape[:-1])
        elif said in ("categorical_crossentropy", "categorical_focal_crossentropy") or (
            not said and activation == SOFTMAX.name
        ):
            targets[name] = np.eye(units, dtype=np.float32)[random.integers(0, units, array.shape[:-1])]
        elif said.startswith("binary_") or activation in PROBABILITIES | GATES:
            targets[name] = random.integers(0, 2, array.shape).astype(np.float32)
        elif activation in SIGNED:
            targets[name] = random.uniform(-0.9, 0.9, array.shape).astype(np.float32)
        else:
            drawn = random.standard_normal(array.shape)
            targets[name] = (np.abs(drawn) if activation in NEVER_NEGATIVE else drawn).astype(np.float32)
    return targets


def lowest_loss(setup: Setup) -> float:
    """The lowest loss these targets allow: the entropy of soft labels for cross-entropies, else 0.

    Source: cross-entropy H(y, p) = H(y) + KL(y‖p) ≥ H(y).
    """
    floor = 0.0
    weights = setup.loss_weights or (1.0,) * len(setup.y)
    for y, loss, weight in zip(setup.y, setup.losses, weights, strict=False):
        name, config = canonical_loss(loss)
        if "crossentropy" not in name or name.startswith("sparse_") or y.dtype.kind not in "biuf":
            continue
        soft = y.astype(np.float64)
        smoothing = float(config.get("label_smoothing") or 0.0)
        binary = name.startswith("binary_")
        width = 2 if binary or y.ndim < 2 else y.shape[-1]
        soft = soft * (1.0 - smoothing) + smoothing / width
        if not (np.isfinite(soft).all() and soft.min() >= 0 and soft.max() <= 1):
            continue
        parts = _plogp(soft) + _plogp(1.0 - soft) if binary else _plogp(soft).sum(axis=-1)
        floor += weight * float(np.mean(parts))
    return floor


def fitted_fraction(setup: Setup, outputs: Sequence[Array]) -> float:
    """Share of the targets that predictions get right: the class, or the number within `TOLERANCE` of the spread (all, from R² `EXPLAINED`); 0 … 1."""
    scales = Scorer.of(setup).scales
    found = [
        _fitted(scale, y, p) for scale, y, p in zip(scales, setup.y, outputs, strict=False) if scale.kind != "none"
    ]
    return float(np.mean(found)) if found else 0.0


def guessing_fraction(setup: Setup) -> float:
    """What always the same answer gets right."""
    chances = [scale.chance for scale in Scorer.of(setup).scales if scale.kind != "none"]
    return float(np.mean(chances)) if chances else 0.0


def _fitted(scale: TargetScale, y: Array, p: Array) -> float:
    if scale.kind != "numbers":
        score = Scorer((scale,)).scores([y], [p]).score
        return float(score) if np.isfinite(score) else 0.0
    y, p = y.astype(np.float64), p.astype(np.float64)
    if p.size != y.size or not np.isfinite(p).all():
        return 0.0
    if Scorer((scale,)).scores([y], [p]).score >= EXPLAINED:
        return 1.0
    y, p = y.reshape(len(y), -1), p.reshape(len(y), -1)
    spread = np.ptp(y, axis=0)
    allowed = TOLERANCE * np.where(spread > 0, spread, np.maximum(np.abs(y).max(axis=0), 1e-3))
    return float(np.mean(np.abs(p - y) <= allowed))


def _switched_off(path: str, entry: Entry) -> list[str]:
    found: list[str] = []
    kind, config = str(entry["class_name"]), entry["config"]
    noisy = any(word in kind for word in _NOISE)
    for holder in [
        config,
        *(config[key]["config"] for key in ("layer", "backward_layer") if isinstance(config.get(key), dict)),
    ]:
        for key in _RATES:
            value = holder.get(key)
            if isinstance(value, int | float) and value > 0 and (noisy or "dropout" in key):
                holder[key] = 0.0
                found.append(f"{key} {value:g} of {path}")
        for key in _PENALTIES:
            if holder.get(key) is not None:
                holder[key] = None
                found.append(f"{key.replace('_', ' ')} of {path}")
    if kind == "ActivityRegularization":
        config["l1"] = config["l2"] = 0.0
        found.append(f"activity penalty of {path}")
    return found


def _classes(setup: Setup) -> Array:
    """A class for each row where the targets that stand for the network are classes; one class for all otherwise."""
    scorer = Scorer.of(setup)
    if scorer.scale.kind not in ("two-values", "class-numbers", "one-hot"):
        return np.zeros(setup.rows, np.int64)
    targets = setup.y[scorer.head]
    flat = targets.reshape(len(targets), -1)
    if scorer.scale.kind == "one-hot" and targets.ndim == 2:
        return np.asarray(flat.argmax(axis=1))
    return np.unique(flat[:, 0], return_inverse=True)[1].reshape(-1)


def _different(setup: Setup, order: Sequence[int], most: int = 4_000) -> list[int]:
    """The rows in this order, those with the input of an earlier one last: they may ask for two answers."""
    arrays = list(setup.x.values())
    seen: set[bytes] = set()
    first: list[int] = []
    later: list[int] = []
    for row in order[:most]:
        key = b"\0".join(np.ascontiguousarray(array[row]).tobytes() for array in arrays)
        (later if key in seen else first).append(int(row))
        seen.add(key)
    return first or later


def _balanced(classes: Array, order: Sequence[int], samples: int) -> list[int]:
    """Takes rows from each class in turn, until there are enough."""
    waiting: dict[int, list[int]] = {}
    for row in order:
        waiting.setdefault(int(classes[row]), []).append(row)
    chosen: list[int] = []
    queues = [list(reversed(rows)) for _, rows in sorted(waiting.items())]
    while len(chosen) < samples and any(queues):
        for queue in queues:
            if queue and len(chosen) < samples:
                chosen.append(queue.pop())
    return chosen


def _finite(setup: Setup) -> npt.NDArray[np.bool_]:
    keep = np.ones(setup.rows, bool)
    for array in (*setup.x.values(), *setup.y):
        if array.dtype.kind == "f" and len(array) == setup.rows:
            keep &= np.isfinite(array).reshape(len(array), -1).all(axis=1)
    return keep


def _plogp(p: Array) -> Array:
    return -np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0)
