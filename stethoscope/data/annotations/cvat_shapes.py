"""One shape of CVAT's XML as a mark.

Source: https://docs.cvat.ai/docs/dataset_management/formats/format-cvat/
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from stethoscope.data import bounds
from stethoscope.data.dataset import Box, Mark, Points, Polygon, Region
from stethoscope.data.images.mark_checks import finite

SHAPES = ("box", "polygon", "polyline", "points", "cuboid", "ellipse", "mask", "skeleton")
_ELLIPSE_POINTS = 48


def marks_of(element: Element, label: str, size: tuple[int, int] | None) -> Iterator[Mark]:
    """The marks of one shape.

    Args:
        element: <box>, <polygon>, …
        label: its name.
        size: (width, height) of the image; masks need it.

    Raises:
        ValueError: a coordinate is missing or no number.
    """
    details = {"occluded": True} if element.get("occluded") == "1" else {}
    kind = element.tag
    if kind == "box":
        left, top, right, bottom = _numbers(element, "xtl", "ytl", "xbr", "ybr")
        (angle,) = _numbers(element, "rotation", default=0.0)
        yield Box(label, left, top, right - left, bottom - top, angle, details)
    elif kind == "polygon":
        yield Polygon(label, (points_of(element),), details)
    elif kind in ("polyline", "points"):
        yield Points(label, points_of(element), joined=kind == "polyline")
    elif kind == "ellipse":
        yield Polygon(label, (_ellipse(element),), details)
    elif kind == "cuboid":
        for face in ("tl1 bl1 br1 tr1", "tl2 bl2 br2 tr2"):
            corners = tuple(_pair(element, f"x{corner}", f"y{corner}") for corner in face.split())
            yield Polygon(label, (corners,), details)
    elif kind == "mask":
        yield _mask(element, label, size)
    elif kind == "skeleton":
        found = tuple(
            point for one in element.findall("points") if one.get("outside") != "1" for point in points_of(one)
        )
        if found:
            yield Points(label, found)


def points_of(element: Element) -> tuple[tuple[float, float], ...]:
    """The points of "x,y;x,y".

    Raises:
        ValueError: there are none, or one is no pair of numbers.
    """
    found = []
    for pair in (element.get("points") or "").split(";"):
        try:
            x, y = (float(number) for number in pair.split(","))
        except ValueError:
            raise ValueError(f"expected points as x,y;x,y, got {pair[:40]!r}") from None
        found.append((x, y))
    if not finite(number for point in found for number in point):
        raise ValueError("a point has no ordinary numbers")
    return tuple(found)


def _numbers(element: Element, *names: str, default: float | None = None) -> list[float]:
    found = []
    for name in names:
        written = element.get(name)
        if written is None and default is not None:
            found.append(default)
            continue
        try:
            found.append(float(written or ""))
        except ValueError:
            raise ValueError(f"{name!r} is no number ({(written or 'missing')[:40]})") from None
    if not finite(found):
        raise ValueError("a coordinate is no ordinary number")
    return found


def _pair(element: Element, x: str, y: str) -> tuple[float, float]:
    first, second = _numbers(element, x, y)
    return first, second


def _ellipse(element: Element) -> tuple[tuple[float, float], ...]:
    x, y, wide, high = _numbers(element, "cx", "cy", "rx", "ry")
    (turned,) = _numbers(element, "rotation", default=0.0)
    cosine, sine = math.cos(math.radians(turned)), math.sin(math.radians(turned))
    found = []
    for step in range(_ELLIPSE_POINTS):
        along = 2 * math.pi * step / _ELLIPSE_POINTS
        right, down = wide * math.cos(along), high * math.sin(along)
        found.append((x + right * cosine - down * sine, y + right * sine + down * cosine))
    return tuple(found)


def _mask(element: Element, label: str, size: tuple[int, int] | None) -> Region:
    """Run lengths along the rows of the mask's own rectangle, background first."""
    left, top, width, height = (int(number) for number in _numbers(element, "left", "top", "width", "height"))
    try:
        runs = [int(run) for run in (element.get("rle") or "").split(",")]
    except ValueError:
        raise ValueError("its run lengths are no whole numbers") from None
    if (
        width <= 0
        or height <= 0
        or width * height > bounds.MAX_PIXELS
        or any(run < 0 for run in runs)
        or sum(runs) != width * height
    ):
        raise ValueError(f"its run lengths do not fill {width} × {height} pixels")
    if size is None or left < 0 or top < 0 or left + width > size[0] or top + height > size[1]:
        raise ValueError("its mask does not lie within the image")
    bits = np.zeros((size[1], size[0]), bool)
    lengths = np.asarray(runs, np.int64)
    bits[top : top + height, left : left + width] = np.repeat(np.arange(len(runs)) % 2 == 1, lengths).reshape(
        height, width
    )
    return Region(label, bits)
