"""KITTI's object labels: one text file for each image, a named object a line.

Source: the development kit's readme, https://www.cvlibs.net/datasets/kitti/eval_object.php (pixels from 0).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from stethoscope.data.dataset import Box, Mark
from stethoscope.data.images.image_dataset import ImageRow, Marked
from stethoscope.data.images.image_opening import Found, ImageReader, NameLookup, Opening
from stethoscope.data.images.mark_checks import finite
from stethoscope.data.members import Members
from stethoscope.data.survey import split_of, survey
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


READER = KittiReader()
