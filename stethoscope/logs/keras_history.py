"""Keras' History as JSON: {"loss": [...], "val_loss": [...]}, alone or under "history" beside "epoch".

Source: keras.io/api/models/model_training_apis, `History.history`; people write it with `json.dump`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stethoscope.logs.series import MAX_POINTS, MAX_TEXT_BYTES, Health, RunLog, Series, modified, name_of, restarts_of
from stethoscope.logs.walk import listing
from stethoscope.models.containers.damage import JSON


class KerasHistory:
    """Reads .json files that hold lists of numbers under names of losses."""

    id = "keras-history"
    title = "History as JSON (Keras)"

    def sniff(self, place: Path) -> bool:
        """Whether such a file is there."""
        return any(_series(path) for path in _candidates(place))

    def read(self, place: Path) -> tuple[RunLog, ...]:
        """One run per file."""
        found = []
        for path in sorted(_candidates(place), key=modified):
            series, name = _series(path), name_of(path, place)
            if series:
                health = Health(restarts=restarts_of(series))
                found.append(RunLog(name, self.id, "epoch", series, health=health, files=(name,)))
        return tuple(found)


def _candidates(place: Path) -> list[Path]:
    return [
        Path(one.path)
        for one in listing(place).files
        if one.name.lower().endswith(".json") and one.size <= MAX_TEXT_BYTES
    ]


def _series(path: Path) -> dict[str, Series]:
    """The lists by name; empty when the file is something else."""
    try:
        value = json.loads(path.read_bytes())
    except JSON:
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
            written = len(epochs) == len(numbers) and all(one.is_integer() and abs(one) < 1 << 62 for one in epochs)
            steps = np.array(epochs if written else range(len(numbers))).astype(np.int64)
            found[str(name)] = Series(str(name), steps, np.full(len(numbers), np.nan), np.array(numbers))
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
