"""Boxes as lines of text: KITTI's file for each image, a named object a line; CSV files, a box a line.

Source: the development kit's readme, https://www.cvlibs.net/datasets/kitti/eval_object.php (pixels from 0).

Boxes in CSV files, a line each: what TensorFlow's object detection scripts, Roboflow, keras-retinanet and Kaggle write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from stethoscope.data import dataset
from stethoscope.data.dataset import Box, Mark
from stethoscope.data.images.bounded_text import FILE_COLUMNS, column, csv_rows, head_rows
from stethoscope.data.images.image_dataset import ImageRow, Marked
from stethoscope.data.images.image_opening import Found, ImageReader, NameLookup, Opening
from stethoscope.data.images.listed_marks import Entry, Listing
from stethoscope.data.images.mark_checks import finite, is_number
from stethoscope.data.members import Members, is_image
from stethoscope.data.survey import Survey, split_in_stem, split_of, survey
from stethoscope.types import ModelFile

_LINE = re.compile(rb"\s*[A-Za-z][A-Za-z_-]*(\s+-?\d+(\.\d+)?([eE][-+]?\d+)?){14,15}\s*(\n|\r|$)")
_LABEL_BYTES = 4 << 20
_LOOKED_INTO = 1_000


class KittiReader(ImageReader):
    """Boxes in the left colour camera's images; three-dimensional boxes are not drawn."""

    id = "kitti"
    title = "KITTI labels"
    extensions = (".txt",)
    priority = 25

    def sniff(self, file: ModelFile) -> bool:
        """Whether text files hold lines of a name and fourteen numbers."""
        heads = [head for _, head in survey(file).heads_of(".txt") if head.strip()]
        good = sum(1 for head in heads if _LINE.match(head))
        return good > 0 and good * 2 >= len(heads)

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        seen = opening.seen
        labels = NameLookup(seen.ending(".txt") or opening.members.names)
        # The right camera has no labels of its own.
        pictures = [name for name in seen.images if PurePosixPath(name).parent.name != "image_3"]
        taken = set()
        rows = []
        for image in pictures:
            label = labels.beside(image)
            taken.add(label)
            rows.append(ImageRow(image, image, None, split_of(image), (), label))
        alone = [name for name in seen.ending(".txt") if name not in taken and "label" in name.lower()]
        if not pictures and not alone:
            alone = list(opening.members.names)
        rows.extend(ImageRow(name, None, (1242, 375), split_of(name), (), name) for name in alone)
        classes = _used(opening, rows)
        notes = [] if pictures else ["Image sizes are not in the data: drawn on KITTI's usual 1242 × 375 pixels."]
        return Found(rows, _KittiMarks(opening.members), "none", classes, notes)


def parse(line: str) -> Box | None:
    """Reads one line; None where it is empty.

    Raises:
        ValueError: it is no KITTI label.
    """
    words = line.split()
    if not words:
        return None
    if len(words) not in (15, 16):
        raise ValueError(f"expected a name and 14 numbers, got {len(words)} words")
    try:
        numbers = [float(word) for word in words[1:]]
    except ValueError:
        raise ValueError("expected a name and 14 numbers, got other words") from None
    if not finite(numbers):
        raise ValueError("expected ordinary numbers, got infinity or NaN")
    left, top, right, bottom = numbers[3:7]
    details: dict[str, Any] = {"truncated": numbers[0], "occluded": int(numbers[1])}
    if len(words) == 16:
        details["score"] = numbers[14]
    return Box(words[0], left, top, right - left, bottom - top, details=details)


def _used(opening: Opening, rows: list[ImageRow]) -> tuple[str, ...]:
    files = [row.key for row in rows if row.key]
    used: set[str] = set()
    for name in files[:: max(1, len(files) // _LOOKED_INTO)]:
        with opening.noting("label", name):
            for one in _lines(opening.text(name, _LABEL_BYTES)):
                if isinstance(one, Box):
                    used.add(one.label)
                else:
                    opening.problems.add("line", name, one)
    return tuple(sorted(used))


def _lines(text: str) -> Iterator[Box | str]:
    for count, line in enumerate(text.splitlines(), 1):
        try:
            box = parse(line)
        except ValueError as error:
            yield f"Line {count}: {error}. It is left out."
            continue
        if box is not None:
            yield box


class _KittiMarks:
    def __init__(self, members: Members) -> None:
        self._members = members

    def marked(self, row: ImageRow, size: tuple[int, int] | None) -> Marked:
        """See `MarkSource.marked`."""
        if row.key is None:
            return Marked()
        marks: list[Mark] = []
        problems = []
        for one in _lines(self._members.read(row.key, _LABEL_BYTES).decode("utf-8", "replace")):
            if isinstance(one, Box):
                marks.append(one)
            else:
                problems.append(f"{row.key}: {one}")
        return Marked(tuple(marks), problems=tuple(problems))


_FILES = (*FILE_COLUMNS, "imagefilename", "frame", "imgpath")
_CLASSES = ("class", "label", "classname", "name", "category", "labelname", "object", "classid", "categoryid", "type")
_CORNERS = (
    ("xmin", "x1", "left", "xtl", "bboxxmin"),
    ("ymin", "y1", "top", "ytl", "bboxymin"),
    ("xmax", "x2", "right", "xbr", "bboxxmax"),
    ("ymax", "y2", "bottom", "ybr", "bboxymax"),
)
_SIZED = (
    ("x", "bboxx"),
    ("y", "bboxy"),
    ("w", "bboxwidth", "bboxw", "boxwidth"),
    ("h", "bboxheight", "bboxh", "boxheight"),
)
_RECORDS = (".record", ".tfrecord", ".tfrecords")


@dataclass(frozen=True)
class Layout:
    """Which column is what."""

    header: bool
    file: int
    label: int | None
    box: tuple[int, ...]
    """Four columns, or one that holds "[x, y, width, height]"."""
    sized: bool
    """The last two are width and height rather than the far corner."""
    image_size: tuple[int, int] | None


class BoxTableReader(ImageReader):
    """File, class and corners of each box; several files are splits."""

    id = "box_table"
    title = "Boxes in a CSV table"
    extensions = (".csv", ".tsv")
    priority = 35

    def sniff(self, file: ModelFile) -> bool:
        """Whether a CSV has columns for a file and a box; TFRecords beside it, which hold the images too, come first."""
        seen = survey(file)
        if not seen.images and seen.ending(*_RECORDS):
            return False
        return any(layout_of(head_rows(head, 3)) for _, head in _tables(seen))

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        listing = Listing(opening)
        # A file that names a split is read first: another may list all of them once more.
        tables = sorted(_tables(opening.seen), key=lambda item: (not split_in_stem(item[0]), item[0]))
        known: dict[int, dict[str, set[tuple[str, tuple[float, ...]]]]] = {}
        for name, head in tables:
            layout = layout_of(head_rows(head, 3))
            if layout is not None:
                with opening.noting("csv", name):
                    _read(opening, name, layout, listing, known)
        fractions = any(row.key.fractions for row in listing.rows())
        return listing.found(["Boxes are given as fractions of the image."] if fractions else [])


def layout_of(rows: Sequence[Sequence[str]]) -> Layout | None:
    """Judges by the header, or by the first line where there is none; None for a table of another kind."""
    if not rows:
        return None
    first = rows[0]
    file = column(first, _FILES)
    if file is None:
        # keras-retinanet: path, x1, y1, x2, y2, class.
        if len(first) == 6 and is_image(first[0]) and all(is_number(value) or not value for value in first[1:5]):
            return Layout(False, 0, 5, (1, 2, 3, 4), False, None)
        return None
    label = column(first, _CLASSES)
    wide, high = (
        column(first, ("width", "imagewidth", "imgwidth")),
        column(first, ("height", "imageheight", "imgheight")),
    )
    size = (wide, high) if wide is not None and high is not None else None
    corners = [column(first, names) for names in _CORNERS]
    if all(place is not None for place in corners):
        return Layout(True, file, label, tuple(place for place in corners if place is not None), False, size)
    sized = [column(first, names) for names in _SIZED]
    if sized[0] is not None and sized[1] is not None and sized[2] is None and size is not None:
        sized, size = [sized[0], sized[1], *size], None
    if all(place is not None for place in sized):
        return Layout(True, file, label, tuple(place for place in sized if place is not None), True, size)
    one = column(first, ("bbox", "box"))
    if one is not None and len(rows) > 1 and len(_listed(rows[1][one] if one < len(rows[1]) else "")) == 4:
        return Layout(True, file, label, (one,), True, size)
    return None


def _tables(seen: Survey) -> list[tuple[str, bytes]]:
    return list(seen.heads_of(".csv", ".tsv"))


def _read(opening: Opening, name: str, layout: Layout, listing: Listing, known: dict[int, Any]) -> None:
    entries: list[tuple[Entry, str, tuple[float, ...]]] = []
    largest = 0.0
    for line, values in csv_rows(opening.text(name, dataset.MAX_ANNOTATION_BYTES)):
        if layout.header and not entries and line == 1:
            continue
        reference = values[layout.file] if layout.file < len(values) else ""
        if not reference:
            opening.problems.add("line", name, f"Line {line} names no image. It is left out.")
            continue
        entry = listing.entry(reference, name, split_in_stem(name))
        entry.size = entry.size or _size(values, layout)
        written = [values[place] for place in layout.box if place < len(values)]
        if not any(written):
            continue  # An image without objects.
        box = _box(written, layout)
        if box is None:
            opening.problems.add(
                "line", name, f"Line {line}: expected four numbers of a box, got {', '.join(written)[:80]!r}."
            )
            continue
        largest = max(largest, *map(abs, box))
        label = values[layout.label] if layout.label is not None and layout.label < len(values) else ""
        entries.append((entry, label, box))
    fractions = 0 < largest <= 1.0
    for entry, label, box in entries:
        seen = known.setdefault(id(entry), {})
        if any((label, box) in boxes for table, boxes in seen.items() if table != name):
            continue
        seen.setdefault(name, set()).add((label, box))
        entry.fractions = fractions
        x, y, width, height = box
        listing.mark(entry, Box(label, x, y, width, height))


def _box(written: Sequence[str], layout: Layout) -> tuple[float, ...] | None:
    numbers = _listed(written[0]) if len(layout.box) == 1 else [float(value) for value in written if is_number(value)]
    if len(numbers) != 4 or not finite(numbers):
        return None
    x, y, wide, high = numbers
    return (x, y, wide, high) if layout.sized else (x, y, wide - x, high - y)


def _listed(value: str) -> list[float]:
    parts = value.strip("[]() ").replace(",", " ").split()
    return [float(part) for part in parts if is_number(part)]


def _size(values: Sequence[str], layout: Layout) -> tuple[int, int] | None:
    if layout.image_size is None or max(layout.image_size) >= len(values):
        return None
    wide, high = (values[place] for place in layout.image_size)
    return (
        (int(wide), int(high))
        if wide.isdecimal() and high.isdecimal() and 0 < int(wide) < 10**6 and 0 < int(high) < 10**6
        else None
    )


READERS = (KittiReader(), BoxTableReader())
