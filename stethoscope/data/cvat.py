"""CVAT's own XML, for images and for the frames of a video.

One shape of CVAT's XML as a mark.

Source: https://docs.cvat.ai/docs/dataset_management/formats/format-cvat/
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from stethoscope.data import dataset
from stethoscope.data.dataset import Box, Mark, Points, Polygon, Region
from stethoscope.data.images.bounded_text import parse_xml, text
from stethoscope.data.images.image_dataset import ImageRow, Marked
from stethoscope.data.images.image_opening import Found, ImageReader, Opening
from stethoscope.data.images.listed_marks import Entry, ListedMarks, Listing, ellipse
from stethoscope.data.images.mark_checks import MarkList, finite
from stethoscope.data.survey import is_split, split_in_stem, survey
from stethoscope.errors import TooLarge
from stethoscope.types import ModelFile

_COPIES = 12
"""Memory that parsed XML takes, in multiples of the file."""
_MAX_XML_BYTES = 128 << 20
_VIDEOS = (".mp4", ".avi", ".mov", ".mkv", ".webm")


class CvatReader(ImageReader):
    """Boxes, outlines, lines, points, ellipses, cuboids, masks, skeletons, tags and tracks."""

    id = "cvat"
    title = "CVAT annotations"
    extensions = (".xml",)
    priority = 15

    def sniff(self, file: ModelFile) -> bool:
        """Whether an XML is an <annotations> with CVAT's <meta>, <image> or <track>."""
        return any(_is_cvat(head) for _, head in survey(file).heads_of(".xml"))

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        seen = opening.seen
        listing = Listing(opening)
        declared: list[str] = []
        notes: list[str] = []
        for name, head in seen.heads_of(".xml"):
            if not _is_cvat(head):
                continue
            with opening.noting("xml", name, unless=TooLarge):
                root = parse_xml(opening.members.read(name, min(_MAX_XML_BYTES, opening.budget_bytes // _COPIES)), name)
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
        return Found(
            listing.rows(),
            _CvatMarks(opening.budget_bytes),
            "none",
            classes,
            [*dict.fromkeys(notes), *listing.left_out()],
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


SHAPES = ("box", "polygon", "polyline", "points", "cuboid", "ellipse", "mask", "skeleton")


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
    (turned,) = _numbers(element, "rotation", default=0.0)
    x, y, wide, high = _numbers(element, "cx", "cy", "rx", "ry")
    return ellipse(x, y, wide, high, math.radians(turned))


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
        or width * height > dataset.MAX_PIXELS
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
