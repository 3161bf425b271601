"""Pascal VOC: one XML for each image, lists of splits, class and object masks; what labelImg, Roboflow and CVAT write too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from stethoscope.data.dataset import Region
from stethoscope.data.images.bounded_text import declared_size, marks_of, parse_xml, starts_at_zero, text
from stethoscope.data.images.image_dataset import ImageRow, Marked
from stethoscope.data.images.image_decoding import decode_numbers
from stethoscope.data.images.image_opening import Found, ImageReader, NameLookup, Opening
from stethoscope.data.images.mark_checks import MarkList
from stethoscope.data.images.mask_meaning import (
    VOC_CLASSES,
    VOID,
    MaskMeaning,
    colour_list,
    few_masks,
    meaning_of,
    packed,
)
from stethoscope.data.members import Members
from stethoscope.data.survey import split_of, survey
from stethoscope.errors import StethoscopeError
from stethoscope.types import ModelFile

_ROOT = re.compile(rb"<annotation[\s>]")
_XML_BYTES = 16 << 20
_LOOKED_INTO = 1_000
"""Annotation files read when the data is opened, to find classes and whether pixels are counted from 1."""
_MASKS_LOOKED_INTO = 12
_CLASS_MASKS, _OBJECT_MASKS = "segmentationclass", "segmentationobject"


class VocReader(ImageReader):
    """Boxes, parts, outlines and masks."""

    id = "voc"
    title = "Pascal VOC annotations"
    extensions = (".xml",)
    priority = 20

    def sniff(self, file: ModelFile) -> bool:
        """Whether an XML is an <annotation> with VOC's <size> or <bndbox>, or a folder SegmentationClass is there."""
        seen = survey(file)
        if any(is_voc(head) for _, head in seen.heads_of(".xml")):
            return True
        return any(_folder(name) == _CLASS_MASKS for name in seen.images)

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        seen = opening.seen
        masks = _Masks.of(opening, seen.images)
        pictures = [name for name in seen.images if _folder(name) not in (_CLASS_MASKS, _OBJECT_MASKS)]
        xmls = seen.ending(".xml")
        used, from_one, all_read = _looked_into(opening, xmls)
        rows = _rows(opening, xmls, pictures, masks)
        meaning = masks.meaning
        classes = _classes(used, meaning)
        notes = [
            "Boxes count pixels from 1, the last one included (VOC)."
            if from_one
            else "Boxes count from 0, as some box touches 0."
        ]
        if not xmls:
            notes = []
        if not all_read:
            notes.append(f"Class names are those of {_LOOKED_INTO:,} of {len(xmls):,} annotation files.")
        if meaning is not None:
            notes.append(meaning.in_words)
        masked = meaning is not None and all(masks.classes.beside(row.name) for row in rows)
        source = _VocMarks(opening.members, from_one, masks, opening.budget_bytes)
        return Found(rows, source, "mask" if masked else "none", classes, notes)


def is_voc(head: bytes) -> bool:
    """Whether an XML begins like VOC's."""
    return (
        _ROOT.search(head) is not None
        and b"<pt>" not in head
        and (b"<bndbox" in head or b"<size>" in head or b"<robndbox" in head)
    )


def _folder(name: str) -> str:
    return name.lower().rpartition("/")[0].rpartition("/")[2]


@dataclass(frozen=True)
class _Masks:
    classes: NameLookup
    objects: NameLookup
    meaning: MaskMeaning | None

    @classmethod
    def of(cls, opening: Opening, images: Sequence[str]) -> _Masks:
        by_class = [name for name in images if _folder(name) == _CLASS_MASKS]
        by_object = [name for name in images if _folder(name) == _OBJECT_MASKS]
        colours: dict[str, tuple[int, int, int]] = {}
        for name in opening.members.names:
            if PurePosixPath(name).name.lower() in ("labelmap.txt", "label_colors.txt", "label_map.txt"):
                colours = colour_list(opening.text(name, 4 << 20)) or colours
        few = few_masks(opening, by_class, _MASKS_LOOKED_INTO)
        names = dict(enumerate(colours)) if colours else dict(enumerate(VOC_CLASSES))
        return cls(NameLookup(by_class), NameLookup(by_object), meaning_of(few, names, colours) if few else None)


def _looked_into(opening: Opening, xmls: Sequence[str]) -> tuple[list[str], bool, bool]:
    """(class names, whether pixels are counted from 1, whether all files were read)."""
    used: dict[str, None] = {}
    from_one, step = True, max(1, len(xmls) // _LOOKED_INTO)
    for name in xmls[::step]:
        with opening.noting("xml", name):
            root = parse_xml(opening.members.read(name, _XML_BYTES), name)
            used |= {text(element, "name"): None for element in root.iter("object")}
            from_one = from_one and not starts_at_zero(root)
    return sorted(name for name in used if name), from_one, step == 1


def _classes(used: Sequence[str], meaning: MaskMeaning | None) -> tuple[str, ...]:
    if meaning is None:
        return tuple(used)
    named = [meaning.name(number) for number in range(max(meaning.names, default=-1) + 1)]
    return (*named, *(name for name in used if name not in named))


def _rows(opening: Opening, xmls: Sequence[str], pictures: Sequence[str], masks: _Masks) -> list[ImageRow]:
    lookup, xml_lookup = NameLookup(pictures), NameLookup(xmls)
    splits = _split_lists(opening)
    rows, taken = [], set()
    for xml in xmls:
        image = lookup.beside(xml) or (_named_image(opening, xml, lookup) if pictures else None)
        if image is not None:
            taken.add(image)
        stem = PurePosixPath(xml).stem
        rows.append(ImageRow(image or xml, image, None, splits.get(stem, "") or split_of(image or xml), (), xml))
    for image in pictures:
        if image not in taken and xml_lookup.beside(image) is None:
            stem = PurePosixPath(image).stem
            rows.append(ImageRow(image, image, None, splits.get(stem, "") or split_of(image), (), None))
    if not rows:
        rows = [
            ImageRow(name, None, None, split_of(name), (), None)
            for name in opening.members.names
            if masks.classes.beside(name) == name
        ]
    return rows


def _named_image(opening: Opening, xml: str, lookup: NameLookup) -> str | None:
    """The image an annotation names, where its own name does not tell."""
    try:
        root = parse_xml(opening.members.read(xml, _XML_BYTES), xml)
    except StethoscopeError:
        return None  # Reported when its row is read.
    named = text(root, "filename")
    return lookup.named(named, xml) if named else None


def _split_lists(opening: Opening) -> dict[str, str]:
    """The split of each image by its stem, from ImageSets/Main/train.txt and the like."""
    found: dict[str, str] = {}
    for name in opening.members.names:
        path = PurePosixPath(name)
        if "imagesets" not in name.lower() or path.stem not in ("train", "val", "test", "trainval"):
            continue
        for line in opening.text(name, 64 << 20).splitlines():
            words = line.split()
            if words and (path.stem != "trainval" or PurePosixPath(words[0]).name not in found):
                found[PurePosixPath(words[0]).name] = path.stem
    return found


class _VocMarks:
    def __init__(self, members: Members, from_one: bool, masks: _Masks, budget_bytes: int) -> None:
        self._members, self._from_one, self._masks, self._budget_bytes = members, from_one, masks, budget_bytes

    def marked(self, row: ImageRow, size: tuple[int, int] | None) -> Marked:
        """See `MarkSource.marked`."""
        marks = MarkList(self._budget_bytes)
        problems: list[str] = []
        declared = None
        if row.key is not None:
            try:
                root = parse_xml(self._members.read(row.key, _XML_BYTES), row.key)
                declared = declared_size(root)
                marks.extend(marks_of(root, self._from_one, problems))
            except StethoscopeError as error:
                problems.append(str(error))
        numbers = None
        path = self._masks.classes.beside(row.name) if self._masks.meaning is not None else None
        if path is not None and self._masks.meaning is not None:
            try:
                mask = decode_numbers(self._members.read(path), path, self._budget_bytes)
            except StethoscopeError as error:
                return Marked(marks.marks, (), declared, marks.said((*problems, str(error))))
            numbers, sentence = self._masks.meaning.numbers(mask)
            problems.extend([f"{path}: {sentence}"] if sentence else [])
            expected = size or declared
            if expected is not None and numbers.shape != (expected[1], expected[0]):
                problems.append(
                    f"{path}: expected a mask of {expected[0]} × {expected[1]} pixels, got {numbers.shape[1]} × "
                    f"{numbers.shape[0]}. It is not drawn."
                )
                numbers = None
            else:
                marks.extend(self._regions(row, numbers, problems))
        return Marked(marks.marks, (), declared, marks.said(problems), numbers)

    def _regions(self, row: ImageRow, numbers: Any, problems: list[str]) -> Iterator[Region]:
        """One region for each object where there is a mask of objects, else one for each class."""
        assert self._masks.meaning is not None
        path = self._masks.objects.beside(row.name)
        objects = None
        if path is not None:
            try:
                mask = decode_numbers(self._members.read(path), path, self._budget_bytes)
                objects = packed(mask) if mask.ndim == 3 else mask
            except StethoscopeError as error:
                problems.append(str(error))
        if objects is not None and objects.shape != numbers.shape:
            problems.append(f"{path}: its size differs from that of the class mask; classes are drawn instead.")
            objects = None
        if objects is None:
            yield from self._masks.meaning.regions(numbers)
            return
        for value in np.unique(objects):
            bits = (objects == value) & (numbers != 0) & (numbers != VOID)
            inside = numbers[bits]
            if value and inside.size:
                yield Region(self._masks.meaning.name(int(np.bincount(inside).argmax())), bits)


READER = VocReader()
