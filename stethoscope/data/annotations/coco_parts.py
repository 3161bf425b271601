"""One COCO annotation as marks: boxes, polygons, both forms of run lengths, crowds, key points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stethoscope.data.dataset import Box, Mark, Points, Polygon, Region
from stethoscope.data.images.mark_checks import finite
from stethoscope.data.images.run_lengths import bits_of

_DETAILS = ("id", "score", "area", "occluded", "truncated", "difficult")


def marks_of(annotation: Mapping[str, Any], label: str, size: tuple[int, int] | None) -> Iterator[Mark]:
    """The marks of one object; its box only where it has no outline.

    Args:
        annotation: one element of "annotations".
        label: its category's name.
        size: (width, height) of the image where known.

    Raises:
        ValueError: a part of it makes no sense; the parts before have been given.
    """
    details: dict[str, Any] = {name: annotation[name] for name in _DETAILS if _plain(annotation.get(name))}
    if annotation.get("iscrowd") in (1, True):
        details["crowd"] = True
    segmentation = annotation.get("segmentation")
    drawn = False
    if isinstance(segmentation, Mapping) and segmentation:
        bits = bits_of(segmentation)
        if size is not None and bits.shape != (size[1], size[0]):
            raise ValueError(
                f"its mask is of {bits.shape[1]} × {bits.shape[0]} pixels, the image of {size[0]} × {size[1]}"
            )
        yield Region(label, bits)
        drawn = True
    elif isinstance(segmentation, Sequence) and not isinstance(segmentation, str) and segmentation:
        rings = tuple(_ring(part) for part in (segmentation if _nested(segmentation) else [segmentation]))
        yield Polygon(label, rings, details)
        drawn = True
    bbox = annotation.get("bbox")
    if (
        isinstance(bbox, Sequence)
        and not isinstance(bbox, str)
        and len(bbox) in (4, 5)
        and (not drawn or details.get("crowd"))
    ):
        yield _box(bbox, label, details)
    elif bbox not in (None, []) and not drawn:
        raise ValueError("expected a box of [x, y, width, height]")
    points = annotation.get("keypoints")
    if isinstance(points, Sequence) and points and not isinstance(points, str):
        yield from _points(points, label)


def _box(bbox: Sequence[Any], label: str, details: Mapping[str, Any]) -> Box:
    numbers = [float(number) for number in bbox if _number(number)]
    if len(numbers) != len(bbox) or not finite(numbers):
        raise ValueError("its box has a value that is no number")
    if len(numbers) == 5:
        # The rotated form of Detectron2: centre, size, degrees counter-clockwise.
        x, y, width, height, angle = numbers
        return Box(label, x - width / 2, y - height / 2, width, height, -angle, details)
    x, y, width, height = numbers
    return Box(label, x, y, width, height, details=details)


def _ring(part: Any) -> tuple[tuple[float, float], ...]:
    if not isinstance(part, Sequence) or isinstance(part, str) or len(part) < 6 or len(part) % 2:
        raise ValueError("expected an outline of at least three points, x and y in turn")
    if not all(_number(number) for number in part) or not finite(part):
        raise ValueError("its outline has a value that is no number")
    return tuple(zip(map(float, part[::2]), map(float, part[1::2]), strict=True))


def _points(values: Sequence[Any], label: str) -> Iterator[Points]:
    if len(values) % 3 or not all(_number(number) for number in values) or not finite(values):
        raise ValueError("expected key points as x, y, visibility in turn")
    seen = [
        (float(x), float(y)) for x, y, shown in zip(values[::3], values[1::3], values[2::3], strict=True) if shown > 0
    ]
    if seen:
        yield Points(label, tuple(seen))


def _nested(segmentation: Sequence[Any]) -> bool:
    return not _number(segmentation[0])


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)
