"""What a model makes of both sides: the output of one layer for each row, and its predictions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.layer_vectors import gather_vectors
from stethoscope.activations.looking import OneLayer
from stethoscope.activations.model_rows import ModelRows
from stethoscope.activations.reach import INPUT_TYPES, reachable
from stethoscope.drift.pairing import Feature
from stethoscope.drift.scores import RIGHT, feature_of
from stethoscope.errors import BadInput, BadSetting
from stethoscope.evidence.label_doubts import as_probabilities
from stethoscope.evidence.row_scores import row_scores
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Runner

MOST_ROWS = 2_000
"""Of each side whose layer is looked at, in batches evenly spread."""
MOST_PREDICTED, PREDICTED_S = 50_000, 20.0
"""Of each side that are predicted, as far as time allows."""
_BATCH_SIZE = 64
_MOST_BYTES = 256 << 20
_MOST_OUTPUTS = 8
"""Values of a prediction that is no class, which are compared one by one."""


@dataclass(frozen=True)
class ModelViews:
    """`embedding` is the layer's output of both sides, (rows, units); `features` are the predictions."""

    layer: str
    embedding: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]
    features: tuple[Feature, ...]
    notes: tuple[str, ...]
    right: Feature | None = None
    """How right the predictions are, where both sides have labels."""


@dataclass(frozen=True)
class _Seen:
    vectors: npt.NDArray[np.float32]
    predicted: int
    outputs: Feed
    targets: Feed
    """Of the rows that were predicted; without outputs whose labels are not known for all of them."""
    classes: tuple[str, ...]
    left_out: int
    rows: int


def views_of(context: TaskContext, layer: str, rows: int) -> ModelViews:
    """Runs files["model"] over files["reference"] and files["current"].

    Args:
        context: of the job.
        layer: whose output is the embedding; "" for the last before the output.
        rows: of each side, at most `MOST_ROWS` for the layer.

    Raises:
        BadInput: the data of a side does not fit the model's inputs.
        BadSetting: there is no such layer, or its output cannot be seen.
    """
    context.report("load", message="loading the model")
    architecture, opened = context.open_model()
    with opened as runner:
        context.report("activations", message="the first row")
        layer = layer or layer_before_output(architecture, runner)
        sides = [
            _seen(context, architecture, runner, role, layer, min(rows, MOST_PREDICTED))
            for role in ("reference", "current")
        ]
    notes = []
    for side, name in zip(sides, ("reference", "current data"), strict=True):
        if side.left_out:
            notes.append(
                f"{side.left_out:,} rows of the {name} give NaN or infinite values in layer {layer!r}; left out."
            )
        if len(side.vectors) < side.rows - side.left_out:
            notes.append(f"The layer was looked at on {len(side.vectors):,} of {side.rows:,} rows of the {name}.")
        if side.predicted < side.rows:
            notes.append(f"{side.predicted:,} of {side.rows:,} rows of the {name} were predicted, evenly spread.")
    if sides[0].vectors.shape[1] != sides[1].vectors.shape[1]:
        raise BadInput(
            f"Layer {layer!r}: its output has {sides[0].vectors.shape[1]:,} values for the reference and "
            f"{sides[1].vectors.shape[1]:,} for the current data. Choose a later layer, or add the step Resize or Pad."
        )
    right, said = _right(sides[0], sides[1])
    return ModelViews(
        layer, (sides[0].vectors, sides[1].vectors), tuple(_features(sides[0], sides[1])), (*notes, *said), right
    )


def layer_before_output(architecture: Architecture, runner: Runner) -> str:
    """The path of the last layer before the one that makes the output (its activation counts with it).

    Raises:
        BadSetting: none can be seen.
    """
    seen = reachable(architecture, runner)
    layers = {layer.path: layer for layer in architecture.layers}
    ends = [path for path in architecture.output_layers if path in layers] or [
        layer.path for layer in architecture.layers[-1:]
    ]
    at = ends[0] if ends else ""
    head = False
    for _ in range(len(layers)):
        one = layers.get(at)
        if one is None:
            break
        if head and not seen.get(at) and one.type not in INPUT_TYPES:
            return at
        head = head or one.parameters > 0
        at = next((path for path in one.inputs if path in layers), "")
    visible = [
        layer.path
        for layer in architecture.layers
        if not seen.get(layer.path) and layer.type not in INPUT_TYPES and layer.path not in ends
    ]
    if visible or ends:
        return visible[-1] if visible else ends[0]
    raise BadSetting("The model: expected a layer whose output can be seen, got none. Leave out --model.")


def _seen(context: TaskContext, architecture: Architecture, runner: Runner, role: str, layer: str, rows: int) -> _Seen:
    own = replace(
        context, files={**context.files, "data": context.files[role]}, params={**context.params, "layer": layer}
    )
    context.report(f"activations of the {role}", 0.0, "the first rows")
    one = OneLayer(own, architecture, runner)
    size = one.batch_size(_BATCH_SIZE)
    with ModelRows(own, architecture, runner) as given:
        found = gather_vectors(
            given,
            one.output,
            one.layout(one.rank),
            min(rows, MOST_ROWS),
            size,
            lambda done, text: context.report(f"activations of the {role}", done, text),
            one.path,
        )
        few = min(rows, MOST_ROWS, given.rows)
        began = time.monotonic()
        outputs, targets, predicted = _predicted(runner, given, few, size)
        # All rows, or as many as there is time for at the pace of the first ones: spread evenly either way.
        each_s = (time.monotonic() - began) / max(1, predicted)
        most = int(min(rows, given.rows, max(few, PREDICTED_S / max(each_s, 1e-9))))
        if most > few and sum(array.nbytes for array in outputs.values()) * most / few < _MOST_BYTES:
            context.report(f"predictions of the {role}", 0.0, f"{most:,} rows")
            outputs, targets, predicted = _predicted(runner, given, most, size)
        return _Seen(found.vectors, predicted, outputs, targets, given.classes, found.left_out, given.rows)


def _predicted(runner: Runner, given: ModelRows, rows: int, size: int) -> tuple[Feed, Feed, int]:
    """Outputs, labels, and how many rows they are of."""
    outputs: dict[str, list[npt.NDArray[Any]]] = {}
    targets: dict[str, list[npt.NDArray[Any]]] = {}
    places: list[npt.NDArray[np.int64]] = []
    for at, feed in given.batches(rows, size):
        known = np.unique(at, return_index=True)[1]
        places.append(at[known])
        for name, array in runner.predict(feed).items():
            outputs.setdefault(name, []).append(array[known] if array.ndim and len(array) == len(at) else array)
        for name, array in given.targets(at[known]).items():
            targets.setdefault(name, []).append(array)
    count = sum(len(one) for one in places)
    return _joined(outputs, count), _joined(targets, count), count


def _joined(parts: Mapping[str, list[npt.NDArray[Any]]], count: int) -> Feed:
    """What has one entry of one shape for each row."""
    return {
        name: np.concatenate(arrays)
        for name, arrays in parts.items()
        if sum(len(one) if one.ndim else 0 for one in arrays) == count and len({one.shape[1:] for one in arrays}) == 1
    }


def _right(reference: _Seen, current: _Seen) -> tuple[Feature | None, list[str]]:
    """How right predictions are on both sides, by the first output with labels that fit; and what to know of it."""
    for name, truth in reference.targets.items():
        sides = [(seen.outputs.get(name), seen.targets.get(name)) for seen in (reference, current)]
        (first, _), (second, later) = sides
        if first is None or second is None or later is None:
            continue
        if first.shape[1:] != second.shape[1:] or truth.shape[1:] != later.shape[1:]:
            continue
        scores = row_scores(np.concatenate([first, second]), np.concatenate([truth, later]))
        if scores is None:
            continue
        made = feature_of(scores, len(first))
        notes = []
        if scores.whole and len(made.reference):
            commonest = _commonest_share(truth)
            if float((made.reference == RIGHT).mean()) <= commonest:
                notes.append(
                    f"On the reference the model is right no more often than its commonest class is ({commonest:.3f}): see whether "
                    "labels have the order of the model's units."
                )
        return made, notes
    if reference.targets and current.targets:
        return None, ["The labels are not of a kind that the model's output can be held against: no accuracy."]
    return None, []


def _commonest_share(truth: npt.NDArray[Any]) -> float:
    labels = truth.argmax(axis=-1) if truth.ndim > 1 and truth.shape[-1] > 1 else truth
    return float(np.unique(labels, return_counts=True)[1].max() / max(1, labels.size))


def _features(reference: _Seen, current: _Seen) -> list[Feature]:
    found: list[Feature] = []
    several = len(reference.outputs) > 1
    for name, first in reference.outputs.items():
        second = current.outputs.get(name)
        if second is None or first.dtype.kind not in "fiub" or first.shape[1:] != second.shape[1:]:
            continue
        label = f"prediction {name}" if several else "prediction"
        sides = [values.reshape(len(values), -1).astype(np.float64) for values in (first, second)]
        rows = [np.isfinite(side).all(axis=1) for side in sides]
        if (~rows[0]).any() or (~rows[1]).any():
            names = np.array(["finite", "not finite"], object)
            found.append(_feature(f"{label} (not finite)", "category", *(names[(~good).astype(int)] for good in rows)))
        sides = [side[good] for side, good in zip(sides, rows, strict=True)]
        if not len(sides[0]) or not len(sides[1]):
            continue
        if first.ndim == 2 and _classifies(np.concatenate(sides)):
            found += _of_classes(label, sides, reference.classes)
        else:
            found += _of_values(label, sides)
    return found


def _classifies(values: npt.NDArray[np.float64]) -> bool:
    """Whether these are probabilities (one of two classes, or a row that sums to 1) or scores of several classes."""
    bounded = bool(values.min() >= -1e-6 and values.max() <= 1 + 1e-6)
    return (
        values.shape[1] > 1
        if not bounded
        else values.shape[1] == 1 or bool(np.allclose(values.sum(axis=1), 1, atol=0.02))
    )


def _of_classes(label: str, sides: list[npt.NDArray[np.float64]], classes: tuple[str, ...]) -> list[Feature]:
    kinds, sure, entropy = [], [], []
    for side in sides:
        chances, _ = as_probabilities(side)
        most = chances.argmax(axis=1)
        kinds.append(np.array([classes[one] if one < len(classes) else str(one) for one in most], object))
        sure.append(chances.max(axis=1))
        entropy.append(-(chances * np.log(np.clip(chances, 1e-12, 1))).sum(axis=1))
    return [
        _feature(f"{label}: class", "category", *kinds),
        _feature(f"{label}: confidence", "number", *sure),
        _feature(f"{label}: entropy", "number", *entropy),
    ]


def _of_values(label: str, sides: list[npt.NDArray[np.float64]]) -> list[Feature]:
    if sides[0].shape[1] > _MOST_OUTPUTS:
        return [
            _feature(f"{label}: mean", "number", *(side.mean(axis=1) for side in sides)),
            _feature(f"{label}: spread", "number", *(side.std(axis=1) for side in sides)),
        ]
    width = sides[0].shape[1]
    return [
        _feature(label if width == 1 else f"{label}[{at}]", "number", *(side[:, at] for side in sides))
        for at in range(width)
    ]


def _feature(name: str, kind: Any, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> Feature:
    return Feature(
        name, kind, "confidence" if name.endswith(("confidence", "entropy")) else "prediction", first, second
    )
