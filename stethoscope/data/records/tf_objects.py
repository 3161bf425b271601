"""Objects marked on the images of tf.train.Example records: boxes and masks, as the object-detection tools write them.

Source: tensorflow/models, research/object_detection/data_decoders/tf_example_decoder.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import bounds
from stethoscope.data.dataset import Box, Mark

_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_ITEM = re.compile(r"item\s*\{([^}]*)\}")
_ID = re.compile(r"\bid\s*:\s*(\d+)")
_NAME = re.compile(r"\b(?:display_name|name)\s*:\s*(?:\"([^\"]*)\"|'([^']*)')")
_RELATIVE_UP_TO = 1.5
"""Corners up to this are shares of the image's sides (they may reach a little over its edge), larger ones are pixels."""


def box_prefix(names: Sequence[str]) -> str | None:
    """What the names of the boxes' corners begin with ("image/object/bbox/"); None where there are no boxes."""
    for name in names:
        if name.endswith("xmin") and all(name[:-4] + corner in names for corner in _CORNERS):
            return name[:-4]
    return None


def boxes(
    values: Mapping[str, Any], prefix: str, height: float, width: float, classes: Mapping[int, str]
) -> tuple[Mark, ...]:
    """The boxes of one record.

    Args:
        values: its features.
        prefix: see `box_prefix`.
        height: of the image in pixels.
        width: of the image in pixels.
        classes: names by number, where a label map is there.
    """
    corners = [np.asarray(values.get(prefix + corner, ()), np.float64).reshape(-1) for corner in _CORNERS]
    count = min(len(corner) for corner in corners)
    if count == 0:
        return ()
    left, top, right, bottom = (corner[:count] for corner in corners)
    relative = max(float(np.abs(corner).max()) for corner in (left, top, right, bottom)) <= _RELATIVE_UP_TO
    across, down = (width, height) if relative else (1.0, 1.0)
    stem = prefix.rstrip("/").rpartition("/")[0]
    labels = _labels(values, stem, count, classes)
    extra = {
        name: np.asarray(values[f"{stem}/{name}"]).reshape(-1)
        for name in ("difficult", "truncated", "is_crowd")
        if f"{stem}/{name}" in values
    }
    found = []
    for at in range(min(count, bounds.MAX_MARKS)):
        edges = left[at] * across, top[at] * down, right[at] * across, bottom[at] * down
        if not np.isfinite(edges).all():
            continue
        details = {
            ("crowd" if name == "is_crowd" else name): bool(flags[at])
            for name, flags in extra.items()
            if at < len(flags)
        }
        found.append(
            Box(labels[at], edges[0], edges[1], edges[2] - edges[0], edges[3] - edges[1], details=details)
        )  # fmt: skip
    return tuple(found)


def box_problems(values: Mapping[str, Any], prefix: str) -> list[str]:
    """What is wrong with the boxes of one record, one sentence each."""
    lengths = {corner: len(np.asarray(values.get(prefix + corner, ())).reshape(-1)) for corner in _CORNERS}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{size} {corner}" for corner, size in lengths.items())
        return [f"The corners of its boxes differ in number ({said}); only whole boxes are drawn."]
    return []


def read_label_map(text: str) -> dict[int, str]:
    """Names of classes by number, of a label map in protobuf's text form ("item { id: 1 name: 'cat' }")."""
    found: dict[int, str] = {}
    for item in _ITEM.findall(text):
        number, name = _ID.search(item), _NAME.search(item)
        if number and name and len(found) < bounds.MAX_CLASSES:
            found[int(number[1])] = name[1] if name[1] is not None else name[2]
    return found


def _labels(values: Mapping[str, Any], stem: str, count: int, classes: Mapping[int, str]) -> list[str]:
    words = _flat(values.get(f"{stem}/class/text"))
    numbers = _flat(values.get(f"{stem}/class/label"))
    found = []
    for at in range(count):
        if at < len(words) and str(words[at]):
            found.append(str(words[at])[:200])
        elif at < len(numbers):
            number = int(numbers[at])
            found.append(classes.get(number, str(number)))
        else:
            found.append("")
    return found


def _flat(value: Any) -> npt.NDArray[Any]:
    return np.zeros(0) if value is None else np.asarray(value).reshape(-1)
