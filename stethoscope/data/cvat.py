"""CVAT's own XML, for images and for the frames of a video."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element

from stethoscope.data.annotations.cvat_shapes import SHAPES, marks_of
from stethoscope.data.annotations.xml_tree import parse_xml, text
from stethoscope.data.dataset import Dataset
from stethoscope.data.images.image_opening import Found, Opening
from stethoscope.data.images.image_rows import ImageRow, Marked
from stethoscope.data.images.listed_marks import Entry, ListedMarks, Listing, left_out
from stethoscope.data.images.mark_list import MarkList
from stethoscope.data.split_names import is_split, split_in_stem
from stethoscope.data.survey import survey
from stethoscope.errors import StethoscopeError, TooLarge
from stethoscope.types import ModelFile

_COPIES = 12
"""Memory that parsed XML takes, in multiples of the file."""
_MAX_XML_BYTES = 128 << 20
_VIDEOS = (".mp4", ".avi", ".mov", ".mkv", ".webm")


class CvatReader:
    """Boxes, outlines, lines, points, ellipses, cuboids, masks, skeletons, tags and tracks."""

    id = "cvat"
    title = "CVAT annotations"
    extensions = (".xml",)
    priority = 15

    def sniff(self, file: ModelFile) -> bool:
        """Whether an XML is an <annotations> with CVAT's <meta>, <image> or <track>."""
        return any(_is_cvat(head) for _, head in survey(file).heads_of(".xml"))

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> Dataset:
        """See `DataReader.open`."""
        seen = survey(file)
        with Opening(file, self.id, self.title, budget_bytes) as opening:
            listing = Listing(seen.images, budget_bytes, file.name)
            declared: list[str] = []
            notes: list[str] = []
            for name, head in seen.heads_of(".xml"):
                if not _is_cvat(head):
                    continue
                try:
                    root = parse_xml(opening.members.read(name, min(_MAX_XML_BYTES, budget_bytes // _COPIES)), name)
                except TooLarge:
                    raise
                except StethoscopeError as error:
                    opening.problems.add("xml", name, str(error))
                    continue
                declared.extend(text(label, "name") for label in root.iter("label") if label.find("name") is not None)
                _images(root, name, listing)
                if root.find("track") is not None:
                    _tracks(root, name, listing, seen.images)
                    notes.append("Tracks are drawn on the frames they list.")
            videos = sum(1 for name in seen.names if name.lower().endswith(_VIDEOS))
            if videos:
                notes.append(f"Videos are not decoded ({videos:,} in the data); extract their frames to see them.")
            used = (*listing.classes, *_of_masks(listing))
            for name in dict.fromkeys(declared):
                if name and name not in used:
                    opening.problems.add("empty class", name, f"The class {name!r} marks nothing.")
            classes = tuple(dict.fromkeys([*(name for name in declared if name), *used]))
            return opening.finish(
                Found(
                    listing.rows(),
                    _CvatMarks(budget_bytes),
                    "none",
                    classes,
                    [*dict.fromkeys(notes), *left_out(len(seen.images), listing)],
                )
            )


def _is_cvat(head: bytes) -> bool:
    return b"<annotations" in head and any(word in head for word in (b"<meta>", b"<image ", b"<track "))


def _images(root: Element, name: str, listing: Listing) -> None:
    for image in root.findall("image"):
        subset = image.get("subset") or ""
        reference = image.get("name") or f"image {image.get('id')}"
        wanted = f"{subset}/{reference}" if subset and not reference.startswith(f"{subset}/") else reference
        split = subset or (split_in_stem(name) if is_split(PurePosixPath(name).stem) else "")
        entry = listing.entry(wanted, name, split, part=f"{name}:{subset}")
        entry.size = _size(image.get("width"), image.get("height"))
        for element in image:
            if element.tag == "tag" and element.get("label"):
                entry.labels.append(element.get("label", ""))
            elif element.tag in SHAPES:
                _mark(listing, entry, element, element.get("label") or "", name)


def _tracks(root: Element, name: str, listing: Listing, images: Iterable[str]) -> None:
    size = _size(root.findtext(".//original_size/width"), root.findtext(".//original_size/height"))
    folder = str(PurePosixPath(name).parent)
    frames: dict[int, str] = {}
    for image in images:
        number = re.search(r"(\d+)\D*$", PurePosixPath(image).stem)
        if number and (folder == "." or image.startswith(f"{folder}/")):
            frames.setdefault(int(number[1]), image)
    for track in root.findall("track"):
        for element in track:
            if (
                element.tag not in SHAPES
                or element.get("outside") == "1"
                or not (element.get("frame") or "").isdecimal()
            ):
                continue
            frame = int(element.get("frame", "0"))
            entry = listing.entry(frames.get(frame, f"frame {frame:06d}"), name, part=name)
            entry.size = entry.size or size
            _mark(listing, entry, element, track.get("label") or element.get("label") or "", name)
    for frame in sorted(frames):
        listing.entry(frames[frame], name, part=name)


def _of_masks(listing: Listing) -> list[str]:
    return [label for row in listing.rows() for _, label, _ in row.key.extra or ()]


def _mark(listing: Listing, entry: Entry, element: Element, label: str, name: str) -> None:
    if element.tag == "mask":
        # As large as its image once drawn: read when the image is shown.
        entry.extra = [*(entry.extra or ()), (element, label, name)]
        return
    try:
        for mark in marks_of(element, label, entry.size):
            listing.mark(entry, mark)
    except ValueError as error:
        entry.problems.append(f"{name}: a {element.tag} ({label[:80]!r}): {error}. It is left out.")


class _CvatMarks(ListedMarks):
    def __init__(self, budget_bytes: int) -> None:
        self._budget_bytes = budget_bytes

    def marked(self, row: ImageRow, size: tuple[int, int] | None) -> Marked:
        """See `MarkSource.marked`."""
        plain = super().marked(row, size)
        marks, problems = MarkList(self._budget_bytes), list(plain.problems)
        marks.extend(plain.marks)
        for element, label, name in row.key.extra or ():
            try:
                if not marks.extend(marks_of(element, label, size or row.size)):
                    break
            except ValueError as error:
                problems.append(f"{name}: a mask ({label[:80]!r}): {error}. It is left out.")
        return Marked(marks.marks, plain.labels, plain.size, marks.said(problems))


def _size(width: str | None, height: str | None) -> tuple[int, int] | None:
    if (
        width
        and height
        and width.strip().isdecimal()
        and height.strip().isdecimal()
        and len(width) < 8
        and len(height) < 8
    ):
        found = int(width), int(height)
        return found if min(found) > 0 else None
    return None


READER = CvatReader()
