"""Open Images: boxes, masks and labels of whole images in CSV files, classes by their codes.

Source: https://storage.googleapis.com/openimages/web/download_v7.html (data formats; coordinates are fractions).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from stethoscope.data.dataset import Box, Region
from stethoscope.data.images.image_dataset import ImageRow, Marked
from stethoscope.data.images.image_decoding import decode_numbers
from stethoscope.data.images.image_opening import Found, ImageReader, NameLookup, Opening
from stethoscope.data.images.listed_marks import Entry, ListedMarks, Listing
from stethoscope.data.images.mark_checks import MarkList, finite, is_number
from stethoscope.data.survey import Survey, split_in_stem, survey
from stethoscope.errors import StethoscopeError
from stethoscope.types import ModelFile

_FLAGS = {
    "IsOccluded": "occluded",
    "IsTruncated": "truncated",
    "IsGroupOf": "crowd",
    "IsDepiction": "depiction",
    "IsInside": "inside",
}
_BOX = ("XMin", "XMax", "YMin", "YMax")
_MASK_BOX = tuple(f"Box{name}" for name in _BOX)
_MOST_LINES = 5_000_000
_SURE = 0.5


class OpenImagesReader(ImageReader):
    """Boxes, object masks, verified labels."""

    id = "open_images"
    title = "Open Images annotations"
    extensions = (".csv",)
    priority = 18

    def sniff(self, file: ModelFile) -> bool:
        """Whether a CSV begins with Open Images' columns."""
        return bool(_tables(survey(file)))

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        seen = opening.seen
        masks = [name for name in seen.images if "mask" in name.lower().rpartition("/")[0]]
        pictures = [name for name in seen.images if name not in set(masks)]
        listing = Listing(opening, pictures)
        reading = _Reading(opening, listing, _names(opening, seen), bool(pictures))
        for name in _tables(seen):
            reading.table(name)
        for name in pictures:
            listing.entry(name, name)
        if reading.elsewhere:
            reading.notes.append(
                f"{reading.elsewhere:,} lines speak of images that are not in the data; they are left out."
            )
        source = _OpenImagesMarks(opening, NameLookup(masks), opening.budget_bytes)
        return Found(listing.rows(), source, "none", listing.classes, reading.notes)


def _tables(seen: Survey) -> list[str]:
    found = []
    for name, head in seen.heads_of(".csv"):
        header = {word.strip() for word in head.split(b"\n", 1)[0].removeprefix(b"\xef\xbb\xbf").split(b",")}
        if b"ImageID" in header and ({b"LabelName", b"Subset"} & header):
            found.append(name)
    return found


def _names(opening: Opening, seen: Survey) -> dict[str, str]:
    """Class names by code, from a table of two columns whose codes begin with a slash."""
    found: dict[str, str] = {}
    for name, head in seen.heads_of(".csv"):
        lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        if lines[0].startswith(b"/") or (lines[0].strip() == b"LabelName,DisplayName"):
            for row in csv.reader(io.StringIO(opening.text(name))):
                if len(row) >= 2 and row[0].startswith("/"):
                    found[row[0]] = row[1]
    return found


class _Reading:
    def __init__(self, opening: Opening, listing: Listing, names: Mapping[str, str], only_present: bool) -> None:
        self._opening, self._listing, self._names, self._only_present = opening, listing, names, only_present
        self.elsewhere = 0
        self.notes: list[str] = []

    def table(self, name: str) -> None:
        split = split_in_stem(name)
        try:
            for line, row in self._lines(name):
                reference = row.get("ImageID") or ""
                if not reference:
                    continue
                if self._only_present and not self._listing.has_image(reference, name):
                    self.elsewhere += 1
                    continue
                entry = self._listing.entry(reference, name, row.get("Subset") or split)
                self._line(entry, row, name, line)
        except (StethoscopeError, csv.Error) as error:
            self._opening.problems.add("csv", name, str(error))

    def _lines(self, name: str) -> Iterator[tuple[int, dict[str, str]]]:
        with self._opening.members.open(name) as stream:
            lines = csv.DictReader(io.TextIOWrapper(stream, "utf-8-sig", "replace"), restval="")
            for line, row in enumerate(lines, 2):
                if line > _MOST_LINES:
                    self.notes.append(f"Only the first {_MOST_LINES:,} lines of {name} are read.")
                    return
                yield line, row

    def _line(self, entry: Entry, row: Mapping[str, str], name: str, line: int) -> None:
        code = row.get("LabelName") or ""
        label = self._names.get(code, code)
        columns = _MASK_BOX if "MaskPath" in row else _BOX
        if columns[0] not in row:
            if (
                code
                and is_number(row.get("Confidence", ""))
                and float(row["Confidence"]) >= _SURE
                and label not in entry.labels
            ):
                entry.labels.append(label)
            return
        values = [float(row[column]) for column in columns if is_number(row.get(column, ""))]
        if len(values) != 4 or not finite(values):
            self._opening.problems.add("line", name, f"Line {line}: expected four fractions of a box. It is left out.")
            return
        left, right, top, bottom = values
        details = {word: True for column, word in _FLAGS.items() if row.get(column) == "1"}
        entry.fractions = True
        box = Box(label, left, top, right - left, bottom - top, details=details)
        if row.get("MaskPath"):
            entry.extra = [*(entry.extra or ()), (row["MaskPath"], label, box)]
        else:
            self._listing.mark(entry, box)


class _OpenImagesMarks(ListedMarks):
    def __init__(self, opening: Opening, masks: NameLookup, budget_bytes: int) -> None:
        self._members, self._masks, self._budget_bytes = opening.members, masks, budget_bytes

    def marked(self, row: ImageRow, size: tuple[int, int] | None) -> Marked:
        """See `MarkSource.marked`."""
        plain = super().marked(row, size)
        marks = MarkList(self._budget_bytes)
        marks.extend(plain.marks)
        problems = list(plain.problems)
        for path, label, _ in row.key.extra or ():
            member = self._masks.named(path, row.name)
            if member is None:
                problems.append(f"The mask {path!r} is not in the data.")
                continue
            try:
                mask = decode_numbers(self._members.read(member), member, self._budget_bytes)
            except StethoscopeError as error:
                problems.append(str(error))
                continue
            bits = (mask if mask.ndim == 2 else mask.max(axis=2)) > 0
            if size is not None and bits.shape != (size[1], size[0]):
                bits = _resized(bits, size)
            if not marks.extend([Region(label, bits)]):
                break
        return Marked(marks.marks, plain.labels, plain.size, marks.said(problems))


def _resized(bits: Any, size: tuple[int, int]) -> Any:
    """Masks come at a size of their own: the nearest pixel of it for each of the image's."""
    rows = (np.arange(size[1]) * bits.shape[0] // size[1]).clip(0, bits.shape[0] - 1)
    columns = (np.arange(size[0]) * bits.shape[1] // size[0]).clip(0, bits.shape[1] - 1)
    return bits[rows][:, columns]


READER = OpenImagesReader()
