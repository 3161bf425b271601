"""LabelMe's XML (the MIT web tool): outlines, boxes, and masks in files of their own.

Source: https://github.com/CSAILVision/LabelMeAnnotationTool (Annotations, Images, Masks, Scribbles).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

from stethoscope.data.annotations.bounded_text import number, parse_xml, text
from stethoscope.data.dataset import Box, Mark, Polygon, Region
from stethoscope.data.images.image_dataset import ImageRow, Marked
from stethoscope.data.images.image_decoding import decode_numbers
from stethoscope.data.images.image_opening import Found, ImageReader, NameLookup, Opening
from stethoscope.data.images.mark_checks import MarkList
from stethoscope.data.members import Members
from stethoscope.data.survey import split_of, survey
from stethoscope.errors import StethoscopeError
from stethoscope.types import ModelFile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_XML_BYTES = 16 << 20
_LOOKED_INTO = 1_000
_OWN_FOLDERS = ("masks", "scribbles")


class LabelMeXmlReader(ImageReader):
    """Annotations, Images and Masks side by side; deleted objects are left out."""

    id = "labelme_xml"
    title = "LabelMe annotations"
    extensions = (".xml",)
    priority = 14

    def sniff(self, file: ModelFile) -> bool:
        """Whether an XML is an <annotation> with points or <segm>."""
        return any(_is_labelme(head) for _, head in survey(file).heads_of(".xml"))

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
        source = _LabelMeMarks(opening.members, NameLookup(masks), opening.budget_bytes)
        return Found(rows, source, "none", _used(opening, rows), notes)


def _is_labelme(head: bytes) -> bool:
    return b"<annotation>" in head and (b"<pt>" in head or b"<segm>" in head or b"<imagesize>" in head)


def _used(opening: Opening, rows: list[ImageRow]) -> tuple[str, ...]:
    files = [row.key for row in rows if row.key]
    used: set[str] = set()
    for name in files[:: max(1, len(files) // _LOOKED_INTO)]:
        with opening.noting("xml", name):
            root = parse_xml(opening.members.read(name, _XML_BYTES), name)
            used |= {text(one, "name") for one in _objects(root)}
    return tuple(sorted(name for name in used if name))


def _objects(root: Element) -> Iterator[Element]:
    return (one for one in root.iter("object") if text(one, "deleted") != "1")


class _LabelMeMarks:
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


READER = LabelMeXmlReader()
