"""Lines of YOLO label files: boxes, outlines, oriented boxes, poses, as fractions of the image; DOTA's named corners in pixels.

Source: https://docs.ultralytics.com/datasets/ (detect, segment, obb, pose) and https://captain-whu.github.io/DOTA/.

What a YOLO data set says about itself: data.yaml, classes.txt, obj.names, Darknet's obj.data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from stethoscope.data import dataset
from stethoscope.data.dataset import Box, Mark, Points, Polygon
from stethoscope.data.images.mark_checks import finite, is_number
from stethoscope.models.containers import damage

_WILD = 2.0
"""Fractions beyond this are pixels."""


@dataclass(frozen=True)
class Line:
    """One object."""

    number: int | None
    """Its class; None where the line names it instead."""
    name: str
    marks: tuple[Mark, ...]
    """Labelled with `name`."""


def parse(line: str, size: tuple[int, int], names: Mapping[int, str], keypoints: tuple[int, int] | None) -> Line | None:
    """Reads one line.

    Args:
        line: as in the file.
        size: (width, height) that fractions are of, in pixels.
        names: classes by number.
        keypoints: (points, values a point) where the data set is one of poses.

    Returns:
        The object; None for an empty or comment line.

    Raises:
        ValueError: it is no line of a label file; says why.
    """
    words = line.replace(",", " ").split()
    if not words or words[0].startswith("#") or words[0].rstrip(":") in ("imagesource", "gsd") or ":" in words[0]:
        return None
    corners = _named_corners(words)
    if corners is not None:
        points, name, difficult = corners
        return Line(None, name, (Polygon(name, (points,), {"difficult": True} if difficult else {}),))
    try:
        values = [float(word) for word in words]
    except ValueError:
        raise ValueError(f"expected numbers, got {line.strip()[:60]!r}") from None
    if not finite(values):
        raise ValueError("expected ordinary numbers, got infinity or NaN")
    if values[0] != int(values[0]) or values[0] < 0:
        raise ValueError(f"expected a class number first, got {words[0]!r}")
    number = int(values[0])
    name = names.get(number, f"class {number}")
    marks = _marks(values[1:], name, size, keypoints)
    return Line(number, name, marks)


def _marks(
    values: Sequence[float], name: str, size: tuple[int, int], keypoints: tuple[int, int] | None
) -> tuple[Mark, ...]:
    if len(values) < 4:
        raise ValueError(f"expected a class and at least four numbers, got {len(values) + 1}")
    width, height = size
    pose = _pose(values, keypoints)
    if pose is None and len(values) > 5:
        outline = values[:-1] if len(values) % 2 else values
        _check_fractions(outline)
        ring = tuple((x * width, y * height) for x, y in zip(outline[::2], outline[1::2], strict=True))
        return (Polygon(name, (ring,), {"score": values[-1]} if len(values) % 2 else {}),)
    x, y, wide, high = values[:4]
    _check_fractions((x, y, wide, high))
    details: dict[str, Any] = {"score": values[4]} if len(values) == 5 else {}
    box = Box(name, (x - wide / 2) * width, (y - high / 2) * height, wide * width, high * height, details=details)
    if not pose:
        return (box,)
    _check_fractions([part for point in pose for part in point])
    return box, Points(name, tuple((x * width, y * height) for x, y in pose))


def _pose(values: Sequence[float], keypoints: tuple[int, int] | None) -> list[tuple[float, float]] | None:
    """The visible key points after a box; None where the line is no pose."""
    rest = values[4:]
    if keypoints is not None:
        count, width = keypoints
        if len(rest) != count * width:
            return None
    elif len(rest) >= 3 and len(rest) % 3 == 0 and all(value in (0.0, 1.0, 2.0) for value in rest[2::3]):
        width = 3
    else:
        return None
    points = [tuple(rest[at : at + width]) for at in range(0, len(rest), width)]
    # Key points that are not marked stand at the origin.
    return [(p[0], p[1]) for p in points if (p[2] > 0 if width == 3 else (p[0] or p[1]))]


def _check_fractions(values: Sequence[float]) -> None:
    worst = max(values, key=abs)
    if abs(worst) > _WILD:
        raise ValueError(f"expected fractions of the image (0 … 1), got {worst:g}, which looks like pixels")
    if any(value < -_WILD for value in values):
        raise ValueError(f"expected fractions of the image (0 … 1), got {min(values):g}")


def _named_corners(words: Sequence[str]) -> tuple[tuple[tuple[float, float], ...], str, bool] | None:
    """Corners in pixels with the class in words: "x1 y1 … x4 y4 plane 0", with or without a number before."""
    tail = len(words)
    difficult = False
    if tail >= 10 and words[-1] in ("0", "1", "2") and not is_number(words[-2]):
        difficult, tail = words[-1] != "0", tail - 1
    if tail < 9 or is_number(words[tail - 1]):
        return None
    start = 0
    while start < tail and is_number(words[start]):
        start += 1
    numbers = [float(word) for word in words[:start]]
    if len(numbers) == 9:
        numbers = numbers[1:]
    if len(numbers) != 8 or not finite(numbers):
        return None
    points = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    return points, " ".join(words[start:tail]), difficult


_YAML_BYTES = 1 << 20
_NAMES_FILES = (
    "classes.txt",
    "obj.names",
    "class.names",
    "classes.names",
    "coco.names",
    "labels.txt",
    "_darknet.labels",
    "predefined_classes.txt",
)
_ALIASES = re.compile(r"(?m)(^|[\s\[{,:])[&*][A-Za-z0-9_]+")


@dataclass(frozen=True)
class Settings:
    """Names by class number, and the form of key points."""

    names: Mapping[int, str] = field(default_factory=dict)
    keypoints: tuple[int, int] | None = None
    source: str = ""
    """The file they came from."""


def is_settings_file(name: str) -> bool:
    """Whether a text file names classes rather than marking an image."""
    last = PurePosixPath(name).name.lower()
    return last in _NAMES_FILES or last.endswith(".names")


def from_yaml(text: str, source: str) -> Settings | None:
    """Reads data.yaml; None where it is YAML of another kind.

    Raises:
        ValueError: it is damaged, or uses anchors, which could expand without end.
    """
    if len(text) > _YAML_BYTES:
        raise ValueError("it is larger than any list of classes")
    if _ALIASES.search(text):
        raise ValueError("it uses anchors or aliases; write the values out")
    import yaml

    try:
        value = yaml.safe_load(text)
    except damage.yaml() as error:
        raise ValueError("it is no valid YAML: " + " ".join(str(error).split())[:120]) from error
    if not isinstance(value, Mapping) or not ({"names", "nc"} & set(value)):
        return None
    return Settings(_names(value), _keypoints(value.get("kpt_shape")), source)


def from_lines(text: str, source: str) -> Settings:
    """Reads one class name a line."""
    lines = [line.strip() for line in text.splitlines()]
    return Settings({number: line for number, line in enumerate(lines[: dataset.MAX_CLASSES]) if line}, None, source)


def looks_like_settings(heads: Iterable[tuple[str, bytes]]) -> bool:
    """Whether some YAML begins like a data.yaml."""
    return any(re.search(rb"(?m)^\s*(names|nc)\s*:", head) for _, head in heads)


def _names(value: Mapping[Any, Any]) -> dict[int, str]:
    names = value.get("names")
    found: dict[int, str] = {}
    if isinstance(names, Mapping):
        for number, name in list(names.items())[: dataset.MAX_CLASSES]:
            if isinstance(number, int) or (isinstance(number, str) and number.isdecimal()):
                found[int(number)] = str(name)
    elif isinstance(names, list):
        found = {number: str(name) for number, name in enumerate(names[: dataset.MAX_CLASSES])}
    if not found and isinstance(value.get("nc"), int):
        found = {number: f"class {number}" for number in range(min(value["nc"], dataset.MAX_CLASSES))}
    return found


def _keypoints(value: Any) -> tuple[int, int] | None:
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int) for part in value):
        count, width = value
        if 0 < count < 10_000 and width in (2, 3):
            return count, width
    return None
