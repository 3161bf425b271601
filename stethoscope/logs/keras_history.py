"""Keras' History as JSON: {"loss": [...], "val_loss": [...]}, alone or under "history" beside "epoch".

Source: keras.io/api/models/model_training_apis, `History.history`; people write it with `json.dump`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stethoscope.evidence.curves import CurveEvidence
from stethoscope.logs.named_columns import Column, as_curve
from stethoscope.logs.tracker import MAX_POINTS, MAX_TEXT_BYTES, files_in, modified


class KerasHistory:
    """Reads .json files that hold lists of numbers under names of losses."""

    id = "keras-history"
    title = "History as JSON (Keras)"

    def sniff(self, place: Path) -> bool:
        """Whether such a file is there."""
        return any(_columns(path) for path in _candidates(place))

    def read(self, place: Path) -> tuple[CurveEvidence, ...]:
        """One run per file."""
        found = [as_curve(path.name, "epoch", _columns(path)) for path in sorted(_candidates(place), key=modified)]
        return tuple(one for one in found if one is not None)


def _candidates(place: Path) -> list[Path]:
    return [
        path for path in files_in(place) if path.suffix.lower() == ".json" and path.stat().st_size <= MAX_TEXT_BYTES
    ]


def _columns(path: Path) -> dict[str, Column]:
    """The lists by name; empty when the file is something else."""
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, Mapping):
        return {}
    inner = value.get("history", value)
    if not isinstance(inner, Mapping):
        return {}
    epochs = _numbers(value.get("epoch", inner.get("epoch")))
    found = {}
    for name, items in inner.items():
        numbers = _numbers(items)
        if numbers and name != "epoch":
            steps = epochs if epochs and len(epochs) == len(numbers) else tuple(float(at) for at in range(len(numbers)))
            found[str(name)] = Column(steps, numbers)
    return found if any("loss" in name.lower() for name in found) else {}


def _numbers(items: Any) -> tuple[float, ...]:
    """A list of numbers (null is NaN, text such as "nan" what it names); empty for anything else.

    pandas writes columns as {"0": …, "1": …}; that is a list too.
    """
    if isinstance(items, Mapping):
        items = list(items.values())
    if not isinstance(items, list) or not items or len(items) > MAX_POINTS:
        return ()
    try:
        return tuple(float("nan") if item is None else float(item) for item in items)
    except (TypeError, ValueError, OverflowError):
        return ()


TRACKER = KerasHistory()
