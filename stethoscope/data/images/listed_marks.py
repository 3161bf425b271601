"""Marks that were read whole when the data was opened, image by image: what small annotation files come to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stethoscope.data import dataset
from stethoscope.data.dataset import Box, Mark, Points, Polygon
from stethoscope.data.images.image_dataset import ImageRow, Marked, canvas_for
from stethoscope.data.images.image_opening import Found, NameLookup, Opening
from stethoscope.data.survey import split_of
from stethoscope.errors import TooLarge

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
