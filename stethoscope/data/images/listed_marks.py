"""Marks that were read whole when the data was opened, image by image: what small annotation files come to.

One COCO annotation as marks: boxes, polygons, both forms of run lengths, crowds, key points.

Masks as run lengths, as COCO writes them: counts of background and object pixels, down the columns.

Source: https://github.com/cocodataset/cocoapi/blob/master/common/maskApi.c (rleFrString, rleDecode).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stethoscope.data import dataset
from stethoscope.data.dataset import Box, Mark, Points, Polygon, Region
from stethoscope.data.images.image_dataset import ImageRow, Marked, canvas_for
from stethoscope.data.images.image_opening import Found, NameLookup, Opening
from stethoscope.data.images.mark_checks import finite
from stethoscope.data.survey import split_of
from stethoscope.errors import TooLarge

if TYPE_CHECKING:
    import numpy.typing as npt


_OUTLINE_POINTS = 48
_MARK_BYTES = 600
"""Memory of one mark of few numbers, about."""


@dataclass
class Entry:
    """One image and what was read about it."""

    reference: str
    """The image as the annotation calls it."""
    image: str | None
    size: tuple[int, int] | None = None
    split: str = ""
    labels: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    fractions: bool = False
    """The marks' numbers are fractions of the image."""
    problems: list[str] = field(default_factory=list)
    extra: Any = None


class Listing:
    """Entries by image, in the order in which they were first named."""

    def __init__(self, opening: Opening, images: Iterable[str] | None = None) -> None:
        """`images`: those to look among; else all that are there."""
        self._lookup = NameLookup(opening.seen.images if images is None else images)
        self._entries: dict[str, Entry] = {}
        self._budget_bytes, self._subject = opening.budget_bytes, opening.file.name
        self._marks = 0

    def has_image(self, reference: str, near: str) -> bool:
        """Whether the image that an annotation names is in the data."""
        return self._lookup.named(reference, near) is not None

    def entry(self, reference: str, near: str, split: str = "", part: str = "") -> Entry:
        """The entry of an image, made when it is named first.

        Args:
            reference: the image as the annotation calls it.
            near: the annotation file.
            split: where the annotation says so; else the image's folders tell.
            part: tells images of one name apart where they are not in the data.
        """
        image = self._lookup.named(reference, near)
        known = image or f"{part or split}:{reference}"
        found = self._entries.get(known)
        if found is None:
            found = Entry(reference, image, split=split or split_of(image or reference))
            self._entries[known] = found
            if len(self._entries) > dataset.MAX_MEMBERS:
                raise TooLarge(f"{self._subject}: names more than {dataset.MAX_MEMBERS:,} images. Give a part of it.")
        return found

    def mark(self, entry: Entry, mark: Mark) -> None:
        """Adds a mark.

        Raises:
            TooLarge: all marks together take more than the budget.
        """
        entry.marks.append(mark)
        self._marks += 1
        if self._marks * _MARK_BYTES > self._budget_bytes:
            raise TooLarge(
                f"{self._subject}: its {self._marks:,} marks and more take over {self._budget_bytes:,} bytes. Give a part of it."
            )

    def rows(self) -> list[ImageRow]:
        """A row for each entry, whose key is the entry."""
        return [
            ImageRow(one.image or one.reference, one.image, one.size, one.split, tuple(one.labels), one)
            for one in self._entries.values()
        ]

    @property
    def classes(self) -> tuple[str, ...]:
        """Every label that occurs, sorted."""
        found: set[str] = set()
        for one in self._entries.values():
            found.update(one.labels)
            found.update(mark.label for mark in one.marks)
        return tuple(sorted(label for label in found if label))

    def left_out(self) -> list[str]:
        """A note about images that no annotation names."""
        others = len(self._lookup) - sum(1 for one in self._entries.values() if one.image)
        return [f"{others:,} images are in the data but in no annotation; they are left out."] if others > 0 else []

    def found(self, notes: Iterable[str] = ()) -> Found:
        """What a reader found that read nothing else."""
        return Found(self.rows(), ListedMarks(), "none", self.classes, [*self.left_out(), *notes])


class ListedMarks:
    """Gives what a `Listing` holds."""

    def marked(self, row: ImageRow, size: tuple[int, int] | None) -> Marked:
        """See `MarkSource.marked`."""
        entry = row.key
        if not isinstance(entry, Entry):
            return Marked()
        marks: Sequence[Mark] = entry.marks
        if entry.fractions:
            marks = [scaled(mark, *canvas_for(row, size)) for mark in marks]
        return Marked(tuple(marks), (), entry.size, tuple(entry.problems))


def ellipse(x: float, y: float, wide: float, high: float, angle: float = 0.0) -> tuple[tuple[float, float], ...]:
    """The outline of an ellipse about (x, y) with these half axes, turned by `angle` in radians."""
    cosine, sine = math.cos(angle), math.sin(angle)
    found = []
    for step in range(_OUTLINE_POINTS):
        along = 2 * math.pi * step / _OUTLINE_POINTS
        right, down = wide * math.cos(along), high * math.sin(along)
        found.append((x + right * cosine - down * sine, y + right * sine + down * cosine))
    return tuple(found)


def scaled(mark: Mark, width: float, height: float) -> Mark:
    """A mark in fractions of an image, in its pixels."""
    if isinstance(mark, Box):
        return replace(mark, x=mark.x * width, y=mark.y * height, width=mark.width * width, height=mark.height * height)
    if isinstance(mark, Polygon):
        return replace(mark, rings=tuple(tuple((x * width, y * height) for x, y in ring) for ring in mark.rings))
    if isinstance(mark, Points):
        return replace(mark, points=tuple((x * width, y * height) for x, y in mark.points))
    return mark


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


def from_string(packed: str) -> list[int]:
    """Counts from COCO's compressed text: 5 bits a character from "0", counts after the second as differences to the one two before.

    Raises:
        ValueError: it ends within a number, or has characters that cannot occur.
    """
    counts: list[int] = []
    value = shift = 0
    for character in packed:
        piece = ord(character) - 48
        if not 0 <= piece < 64:
            raise ValueError(f"the character {character!r} cannot occur")
        value |= (piece & 0x1F) << shift
        shift += 5
        if shift > 60:
            raise ValueError("a count has more digits than any image needs")
        if piece & 0x20:
            continue
        if piece & 0x10:
            value |= -1 << shift
        counts.append(value + counts[-2] if len(counts) > 2 else value)
        value = shift = 0
    if shift:
        raise ValueError("it ends within a number")
    return counts


def bits_of(segmentation: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
    """The mask of {"size": [height, width], "counts": list or text}.

    Returns:
        (height, width) bool.

    Raises:
        ValueError: size or counts are missing, make no sense, or do not fill the image.
    """
    size, counts = segmentation.get("size"), segmentation.get("counts")
    if not (isinstance(size, Sequence) and len(size) == 2 and all(isinstance(side, int) and side > 0 for side in size)):
        raise ValueError("expected a size of [height, width]")
    height, width = size
    if height * width > dataset.MAX_PIXELS:
        raise ValueError(f"declares {height:,} × {width:,} pixels, more than any image here may have")
    if isinstance(counts, str):
        runs = from_string(counts)
    elif isinstance(counts, list) and all(isinstance(count, int) and not isinstance(count, bool) for count in counts):
        runs = counts
    else:
        raise ValueError("expected counts as a list of whole numbers or as text")
    if any(run < 0 for run in runs) or sum(runs) != height * width:
        raise ValueError(f"its counts fill {sum(runs):,} of {height * width:,} pixels")
    lengths = np.asarray(runs, np.int64)
    flat = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)
    return flat.reshape(width, height).T
