"""The seam between annotation formats and the images: which images there are, and what is marked on one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from stethoscope.data.dataset import Mark

if TYPE_CHECKING:
    import numpy.typing as npt

Target = Literal["none", "class", "several", "mask"]
"""What a model would learn: nothing, the image's one class, several classes at once, a class for each pixel."""
CANVAS = (640, 640)
"""Width and height that marks are drawn on where neither the image nor its size is known."""


@dataclass(frozen=True)
class ImageRow:
    """One image of a data set, known by name before anything of it is read."""

    name: str
    """For people."""
    image: str | None
    """The member with its pixels; None where the data has only the annotations."""
    size: tuple[int, int] | None = None
    """(width, height) as the annotations declare it."""
    split: str = ""
    labels: tuple[str, ...] = ()
    key: Any = None
    """What its source needs to find its marks."""


@dataclass(frozen=True)
class Marked:
    """What a source says about one image."""

    marks: tuple[Mark, ...] = ()
    labels: tuple[str, ...] = ()
    """Classes of the image as a whole, beside those of the marks."""
    size: tuple[int, int] | None = None
    """(width, height) the annotation declares; None where it does not."""
    problems: tuple[str, ...] = ()
    mask: npt.NDArray[Any] | None = None
    """(height, width): a class number for each pixel."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of this row, by name: arrays, or text (captions)."""


class MarkSource(Protocol):
    """One annotation format's knowledge of its images."""

    def marked(self, row: ImageRow, size: tuple[int, int] | None) -> Marked:
        """What is marked on one image.

        Args:
            row: the image.
            size: its (width, height) in pixels; None where the image is not there or cannot be read.

        Raises:
            StethoscopeError: its annotation cannot be read; the image is shown without marks.
        """
        ...


class NoMarks:
    """Of images that have none."""

    def marked(self, row: ImageRow, size: tuple[int, int] | None) -> Marked:
        """Nothing."""
        return Marked()


def canvas_for(row: ImageRow, size: tuple[int, int] | None) -> tuple[int, int]:
    """The (width, height) that fractions are of: the image's, else the declared one, else `CANVAS`."""
    return size or row.size or CANVAS


def in_words(labels: Sequence[str], most: int = 12) -> str:
    """Distinct labels in order, joined: "cat, dog" …"""
    distinct = list(dict.fromkeys(label for label in labels if label))
    shown = ", ".join(distinct[:most])
    return f"{shown} and {len(distinct) - most} more" if len(distinct) > most else shown
