"""Images with their labels and marks, whatever annotated them: decoded one at a time, read in place.

The seam between annotation formats and the images: which images there are, and what is marked on one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import numpy as np

from stethoscope.data import dataset
from stethoscope.data.dataset import DataAbout, Mark, Sample
from stethoscope.data.images.image_decoding import Picture, decode, size_of
from stethoscope.data.images.mark_checks import complaints
from stethoscope.data.members import Members
from stethoscope.errors import BadInput, StethoscopeError, TooLarge
from stethoscope.types import Feed

if TYPE_CHECKING:
    import numpy.typing as npt


_PAPER = 236
"""Grey of the canvas that stands for an image that is not there."""
_MOST_CANVAS = 4_096


class ImageDataset:
    """Images of one data set, in the order of its `rows`."""

    def __init__(
        self,
        about: DataAbout,
        members: Members,
        rows: Sequence[ImageRow],
        source: MarkSource,
        target: Target,
        budget_bytes: int,
        closing: ExitStack,
    ) -> None:
        self.about = about
        self._members, self._rows, self._source, self._target = members, rows, source, target
        self._budget_bytes, self._closing = budget_bytes, closing
        self._all_missing = not any(row.image for row in rows)
        self._numbers = {name: number for number, name in enumerate(about.classes)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.close()

    def samples(self, places: Sequence[int]) -> list[Sample]:
        """See `Dataset.samples`. Images are given as stored; see `image_decoding`."""
        return [self._sample(place, pixels=True) for place in places if 0 <= place < len(self._rows)]

    def outlines(self, places: Sequence[int]) -> list[Sample]:
        """The same without pixels: of an image its size at most is read, and only where marks depend on it."""
        return [self._sample(place, pixels=False) for place in places if 0 <= place < len(self._rows)]

    def columns(self, start: int, stop: int, names: Sequence[str] | None = None) -> Mapping[str, Any]:
        """See `Dataset.columns`. "label" and "split" are text and cost no decoding where the format needs none for them."""
        wanted = [one.name for one in self.about.fields if names is None or one.name in names]
        places = range(max(0, start), min(stop, len(self._rows)))
        found: dict[str, list[Any]] = {name: [] for name in wanted}
        held = 0
        reads = any(name not in ("label", "split") for name in wanted)
        for place in places:
            sample = self._sample(place, pixels="image" in wanted) if reads else None
            for name in wanted:
                if name == "split":
                    found[name].append(self._rows[place].split)
                elif name == "label":
                    found[name].append(sample.label if sample else self._label(place))
                else:
                    value = sample.values.get(name) if sample else None
                    held += 0 if value is None else value.nbytes
                    found[name].append(value)
            self._within(held, place)
        return {name: _stacked(values, text=name in ("label", "split")) for name, values in found.items()}

    def feed(self, start: int, stop: int) -> Feed | Mapping[str, Any]:
        """The rows as "x" (images) and, where there is something to learn, "y"; see `Dataset.feed`.

        "y": class numbers (rows,) int64; one column a class (rows, classes) float32 where an image has several; for masks
        class numbers of each pixel. Unlabelled rows have −1. Images that cannot be read are left out of both.

        Raises:
            BadInput: none of the rows has an image.
            TooLarge: they take more than the budget.
        """
        images, targets, held = [], [], 0
        for place in range(max(0, start), min(stop, len(self._rows))):
            row = self._rows[place]
            picture, _ = self._picture(row)
            if picture is None:
                continue
            target = self._target_of(row, picture)
            if target is None and self._target == "mask":
                continue
            images.append(picture.pixels)
            targets.append(target)
            held += picture.pixels.nbytes
            self._within(held, place)
        if not images and start < stop and self._all_missing:
            raise BadInput(
                f"{self._members.subject}: holds annotations without the images they describe, so there is nothing to "
                "feed a model. Add the images to the same folder or archive."
            )
        made: dict[str, Any] = {"x": _stacked(images)}
        if self._target != "none":
            made["y"] = _stacked(targets)
        return made

    def whole(self) -> Feed | None:
        """None: images are rows of one table."""
        return None

    def _sample(self, place: int, *, pixels: bool) -> Sample:
        row = self._rows[place]
        values: dict[str, Any] = {}
        problems: list[str] = []
        remarks: tuple[str, ...] = ()
        size = None
        if pixels:
            picture, problem = self._picture(row)
            if picture is not None:
                values["image"], size = picture.pixels, (picture.pixels.shape[1], picture.pixels.shape[0])
                remarks = picture.remarks
        else:
            size, problem = (None, "") if isinstance(self._source, NoMarks) else self._size(row)
        if problem:
            problems.append(problem)
        # Masks are pixels too: without them nothing is known of an image that has one.
        marked = Marked() if not pixels and self._target == "mask" else self._marked(row, size, problems)
        declared = marked.size or row.size
        if size is not None and declared is not None and size != declared:
            problems.append(
                f"The annotation is for an image of {declared[0]} × {declared[1]} pixels, the file has "
                f"{size[0]} × {size[1]}; marks may be displaced."
            )
        canvas = size or declared or canvas_for(row, size)
        drawn = size is None and pixels and (row.image is None or bool(marked.marks))
        if drawn:
            values["image"] = _paper(canvas)
        if marked.mask is not None:
            values["mask"] = marked.mask
        values |= {name: np.asarray(value) for name, value in marked.values.items()}
        marks: tuple[Mark, ...] = marked.marks
        if len(marks) > dataset.MAX_MARKS:
            problems.append(f"Has {len(marks):,} marks; the first {dataset.MAX_MARKS:,} are shown.")
            marks = marks[: dataset.MAX_MARKS]
        problems.extend(complaints(marks, canvas, known=size is not None or declared is not None))
        labels = (*row.labels, *marked.labels) or tuple(mark.label for mark in marks)
        said = tuple(dict.fromkeys(problems))
        return Sample(place, row.name, values, in_words(labels), marks, row.split, said, remarks, drawn)

    def _marked(self, row: ImageRow, size: tuple[int, int] | None, problems: list[str]) -> Marked:
        try:
            marked = self._source.marked(row, size)
        except StethoscopeError as error:
            problems.append(str(error))
            return Marked()
        problems.extend(marked.problems)
        return marked

    def _label(self, place: int) -> str:
        row = self._rows[place]
        if row.labels or self._target == "class":
            return in_words(row.labels)
        marked = self._marked(row, None, [])
        return in_words(marked.labels or tuple(mark.label for mark in marked.marks))

    def _picture(self, row: ImageRow) -> tuple[Picture | None, str]:
        if row.image is None:
            # Said once for all of them where none is there.
            return (
                None,
                "" if self._all_missing else "Its image is not in the data; its marks are drawn on an empty canvas.",
            )
        try:
            return decode(self._members.read(row.image), row.image, self._budget_bytes), ""
        except StethoscopeError as error:
            return None, str(error)

    def _size(self, row: ImageRow) -> tuple[tuple[int, int] | None, str]:
        if row.image is None:
            return None, ""
        try:
            with self._members.open(row.image) as stream:
                return size_of(stream, row.image), ""
        except StethoscopeError as error:
            return None, str(error)

    def _target_of(self, row: ImageRow, picture: Picture) -> Any:
        if self._target == "class":
            number = self._numbers.get(row.labels[0], -1) if row.labels else -1
            return np.asarray(number, np.int64)
        if self._target == "several":
            found = np.zeros(len(self._numbers), np.float32)
            found[[self._numbers[label] for label in row.labels if label in self._numbers]] = 1.0
            return found
        if self._target == "mask":
            size = (picture.pixels.shape[1], picture.pixels.shape[0])
            return self._marked(row, size, []).mask
        return None

    def _within(self, held: int, place: int) -> None:
        if held > self._budget_bytes:
            raise TooLarge(
                f"{self._members.subject}: its images take more than the {self._budget_bytes:,} bytes allowed, at image "
                f"{place:,}. Ask for fewer at once, or make them smaller."
            )


def _stacked(values: list[Any], *, text: bool = False) -> Any:
    if text:
        return np.asarray(values, dtype=np.str_)
    present = [value for value in values if value is not None]
    if len(present) == len(values) and len({(value.shape, value.dtype) for value in present}) <= 1:
        return np.stack(present) if present else np.zeros((0,), np.uint8)
    return values


def _paper(canvas: tuple[int, int]) -> npt.NDArray[Any]:
    width, height = (max(1, min(side, _MOST_CANVAS)) for side in canvas)
    return np.full((height, width, 3), _PAPER, np.uint8)


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
