"""labelme's JSON (the desktop tool): one file for each image, which may hold the image itself; LabelMe's XML (the MIT web tool).

Source: https://github.com/wkentaro/labelme (label_file.py, shape.py).

LabelMe's XML (the MIT web tool): outlines, boxes, and masks in files of their own.

Source: https://github.com/CSAILVision/LabelMeAnnotationTool (Annotations, Images, Masks, Scribbles).
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

import numpy as np

from stethoscope.data.dataset import Box, Mark, Points, Polygon, Region
from stethoscope.data.images.bounded_text import number, parse_xml, text
from stethoscope.data.images.image_dataset import ImageRow, Marked
from stethoscope.data.images.image_decoding import decode, decode_numbers
from stethoscope.data.images.image_opening import Found, ImageReader, NameLookup, Opening, decoded
from stethoscope.data.images.mark_checks import MarkList, finite
from stethoscope.data.members import Members
from stethoscope.data.survey import split_of, survey
from stethoscope.errors import StethoscopeError, UnreadableFile
from stethoscope.models.containers.damage import JSON
from stethoscope.types import ModelFile

if TYPE_CHECKING:
    import numpy.typing as npt


_JSON_BYTES = 128 << 20
_JSON_LOOKED_INTO = 300
_CIRCLE_POINTS = 48


class LabelMeJsonReader(ImageReader):
    """Polygons, rectangles, circles, lines, points and masks."""

    id = "labelme_json"
    title = "labelme JSON"
    extensions = (".json",)
    priority = 13

    def sniff(self, file: ModelFile) -> bool:
        """Whether a JSON has labelme's "shapes" and its image's name or size."""
        return any(_is_labelme_json(head) for _, head in survey(file).heads_of(".json"))

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        seen = opening.seen
        lookup = NameLookup(seen.images)
        files = seen.ending(".json")
        rows, taken = [], set()
        used: set[str] = set()
        for place, name in enumerate(files):
            image = lookup.beside(name)
            if place % max(1, len(files) // _JSON_LOOKED_INTO) == 0 or image is None:
                try:
                    value = _value(opening.members, name)
                except StethoscopeError as error:
                    opening.problems.add("json", name, str(error))
                    if image is None:
                        continue
                    value = {}
                used |= {str(one.get("label", "")) for one in _shapes(value)}
                image = image or (lookup.named(str(value["imagePath"]), name) if value.get("imagePath") else None)
            taken.add(image)
            rows.append(ImageRow(image or name, image, None, split_of(image or name), (), name))
        rows.extend(ImageRow(name, name, None, split_of(name)) for name in seen.images if name not in taken)
        classes = tuple(sorted(name for name in used if name))
        return Found(rows, _JsonMarks(opening.members, opening.budget_bytes), "none", classes)


def _is_labelme_json(head: bytes) -> bool:
    return b'"shapes"' in head and (b'"imagePath"' in head or b'"shape_type"' in head or b'"flags"' in head)


def _value(members: Members, name: str) -> dict[str, Any]:
    try:
        value = json.loads(decoded(members.read(name, _JSON_BYTES)))
    except JSON as error:
        reason = " ".join(str(error).split())[:120]
        raise UnreadableFile(f"{name}: the JSON is malformed ({reason}). Export it again.") from error
    if not isinstance(value, dict):
        raise UnreadableFile(
            f"{name}: expected a JSON object with shapes, got {type(value).__name__}. Export it again."
        )
    return value


def _shapes(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    shapes = value.get("shapes")
    return [one for one in shapes if isinstance(one, Mapping)] if isinstance(shapes, list) else []


class _JsonMarks:
    def __init__(self, members: Members, budget_bytes: int) -> None:
        self._members, self._budget_bytes = members, budget_bytes

    def marked(self, row: ImageRow, size: tuple[int, int] | None) -> Marked:
        """See `MarkSource.marked`."""
        if row.key is None:
            return Marked()
        value = _value(self._members, row.key)
        width, height = value.get("imageWidth"), value.get("imageHeight")
        declared = (
            (width, height) if isinstance(width, int) and isinstance(height, int) and min(width, height) > 0 else None
        )
        values: dict[str, Any] = {}
        problems = []
        if size is None and isinstance(value.get("imageData"), str):
            try:
                values["image"] = decode(
                    _unpacked(value["imageData"]), f"{row.key}: imageData", self._budget_bytes
                ).pixels
            except (StethoscopeError, ValueError) as error:
                problems.append(str(error))
        marks = MarkList(self._budget_bytes)
        for place, one in enumerate(_shapes(value), 1):
            try:
                if not marks.extend([self._mark(one, size or declared)]):
                    break
            except (ValueError, StethoscopeError) as error:
                problems.append(f"{row.key}: shape {place} ({str(one.get('label'))[:80]!r}): {error}. It is left out.")
        return Marked(marks.marks, (), declared, marks.said(problems), values=values)

    def _mark(self, one: Mapping[str, Any], size: tuple[int, int] | None) -> Mark:
        label, kind = str(one.get("label", "")), one.get("shape_type") or "polygon"
        points = _points(one.get("points"))
        if kind == "mask":
            return self._region(label, one, points, size)
        if kind in ("rectangle", "oriented_rectangle", "rotation") and len(points) in (2, 4):
            if len(points) == 4 and kind != "rectangle":
                return Polygon(label, (points,))
            across, down = [x for x, _ in points], [y for _, y in points]
            return Box(label, min(across), min(down), max(across) - min(across), max(down) - min(down))
        if kind == "circle" and len(points) == 2:
            return Polygon(label, (_circle(*points),))
        if kind in ("point", "points", "line", "linestrip"):
            return Points(label, points, joined=kind.startswith("line"))
        if len(points) < 3:
            raise ValueError(f"expected a {str(kind)[:40]} of at least three points, got {len(points)}")
        return Polygon(label, (points,))

    def _region(
        self, label: str, one: Mapping[str, Any], points: tuple[tuple[float, float], ...], size: tuple[int, int] | None
    ) -> Region:
        if size is None or not points:
            raise ValueError("its mask needs the image's size and a corner")
        part = decode_numbers(_unpacked(str(one.get("mask", ""))), "its mask", self._budget_bytes)
        left, top = int(points[0][0]), int(points[0][1])
        bits = np.zeros((size[1], size[0]), bool)
        height, width = part.shape[:2]
        if left < 0 or top < 0 or left + width > size[0] or top + height > size[1]:
            raise ValueError("its mask does not lie within the image")
        bits[top : top + height, left : left + width] = (part if part.ndim == 2 else part.max(axis=2)) > 0
        return Region(label, bits)


def _points(value: Any) -> tuple[tuple[float, float], ...]:
    try:
        points = tuple((float(x), float(y)) for x, y in value)
    except (TypeError, ValueError):
        raise ValueError("expected points as [x, y]") from None
    if not points or not finite(number for point in points for number in point):
        raise ValueError("expected points of ordinary numbers")
    return points


def _circle(centre: tuple[float, float], edge: tuple[float, float]) -> tuple[tuple[float, float], ...]:
    radius = math.dist(centre, edge)
    turns = (2 * math.pi * step / _CIRCLE_POINTS for step in range(_CIRCLE_POINTS))
    return tuple((centre[0] + radius * math.cos(turn), centre[1] + radius * math.sin(turn)) for turn in turns)


def _unpacked(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        raise ValueError("its embedded image is no base64 text") from None


_XML_BYTES = 16 << 20
_XML_LOOKED_INTO = 1_000
_OWN_FOLDERS = ("masks", "scribbles")


class LabelMeXmlReader(ImageReader):
    """Annotations, Images and Masks side by side; deleted objects are left out."""

    id = "labelme_xml"
    title = "LabelMe annotations"
    extensions = (".xml",)
    priority = 14

    def sniff(self, file: ModelFile) -> bool:
        """Whether an XML is an <annotation> with points or <segm>."""
        return any(_is_labelme_xml(head) for _, head in survey(file).heads_of(".xml"))

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        seen = opening.seen
        masks = [name for name in seen.images if any(part.lower() in _OWN_FOLDERS for part in name.split("/")[:-1])]
        pictures = [name for name in seen.images if name not in set(masks)]
        lookup = NameLookup(pictures)
        rows, taken = [], set()
        for xml in seen.ending(".xml"):
            image = lookup.beside(xml)
            taken.add(image)
            rows.append(ImageRow(image or xml, image, None, split_of(image or xml), (), xml))
        rows.extend(ImageRow(name, name, None, split_of(name)) for name in pictures if name not in taken)
        notes = ["Scribbles are not drawn."] if any("scribbles/" in name.lower() for name in masks) else []
        source = _XmlMarks(opening.members, NameLookup(masks), opening.budget_bytes)
        return Found(rows, source, "none", _used(opening, rows), notes)


def _is_labelme_xml(head: bytes) -> bool:
    return b"<annotation>" in head and (b"<pt>" in head or b"<segm>" in head or b"<imagesize>" in head)


def _used(opening: Opening, rows: list[ImageRow]) -> tuple[str, ...]:
    files = [row.key for row in rows if row.key]
    used: set[str] = set()
    for name in files[:: max(1, len(files) // _XML_LOOKED_INTO)]:
        with opening.noting("xml", name):
            root = parse_xml(opening.members.read(name, _XML_BYTES), name)
            used |= {text(one, "name") for one in _objects(root)}
    return tuple(sorted(name for name in used if name))


def _objects(root: Element) -> Iterator[Element]:
    return (one for one in root.iter("object") if text(one, "deleted") != "1")


class _XmlMarks:
    def __init__(self, members: Members, masks: NameLookup, budget_bytes: int) -> None:
        self._members, self._masks, self._budget_bytes = members, masks, budget_bytes

    def marked(self, row: ImageRow, size: tuple[int, int] | None) -> Marked:
        """See `MarkSource.marked`."""
        if row.key is None:
            return Marked()
        root = parse_xml(self._members.read(row.key, _XML_BYTES), row.key)
        declared = _declared(root)
        marks = MarkList(self._budget_bytes)
        problems = []
        for place, one in enumerate(_objects(root), 1):
            try:
                if not marks.extend([self._mark(one, row.key, size or declared)]):
                    break
            except (ValueError, StethoscopeError) as error:
                problems.append(f"{row.key}: object {place} ({text(one, 'name')[:80]!r}): {error} It is left out.")
        return Marked(marks.marks, (), declared, marks.said(problems))

    def _mark(self, one: Element, xml: str, size: tuple[int, int] | None) -> Mark:
        name = text(one, "name")
        details = {"occluded": True} if text(one, "occluded") == "yes" else {}
        segment = one.find("segm")
        if segment is not None:
            path = self._masks.named(text(segment, "mask"), xml) if text(segment, "mask") else None
            if path is not None:
                bits = self._bits(path)
                if size is not None and bits.shape != (size[1], size[0]):
                    raise ValueError(f"its mask {path!r} is of another size than the image.")
                return Region(name, bits)
            left, top, right, bottom = (number(segment, f"box/{side}") for side in ("xmin", "ymin", "xmax", "ymax"))
            return Box(name, left, top, right - left, bottom - top, details=details)
        points = tuple((number(point, "x"), number(point, "y")) for point in one.findall("polygon/pt"))
        if len(points) < 3:
            raise ValueError("its outline has fewer than three points.")
        if text(one, "type") == "bounding_box":
            across, down = [x for x, _ in points], [y for _, y in points]
            return Box(name, min(across), min(down), max(across) - min(across), max(down) - min(down), details=details)
        return Polygon(name, (points,), details)

    def _bits(self, path: str) -> npt.NDArray[np.bool_]:
        mask = decode_numbers(self._members.read(path), path, self._budget_bytes)
        bits: npt.NDArray[np.bool_] = (mask if mask.ndim == 2 else mask.max(axis=2)) > 0
        return bits


def _declared(root: Element) -> tuple[int, int] | None:
    try:
        width, height = int(number(root, "imagesize/ncols")), int(number(root, "imagesize/nrows"))
    except ValueError:
        return None
    return (width, height) if width > 0 and height > 0 else None


READERS = (LabelMeJsonReader(), LabelMeXmlReader())
