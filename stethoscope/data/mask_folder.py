"""Images with masks beside them: a class number, a colour, or object and background for each pixel.

Which image is the mask of which: by folder and by the ending of its name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from stethoscope.data.dataset import Region
from stethoscope.data.images.image_dataset import ImageRow, Marked
from stethoscope.data.images.image_decoding import decode_numbers
from stethoscope.data.images.image_opening import Found, ImageReader, NameLookup, Opening
from stethoscope.data.images.mark_checks import MarkList
from stethoscope.data.images.mask_meaning import MaskMeaning, colour_list, few_masks, meaning_of
from stethoscope.data.members import Members, open_members
from stethoscope.data.survey import split_of, survey
from stethoscope.errors import StethoscopeError
from stethoscope.types import ModelFile

_LOOKED_INTO = 16
"""Masks that are decoded to judge what their pixels stand for, spread evenly."""
_LISTS = ("classes.txt", "labels.txt", "class_names.txt", "codes.txt", "names.txt")
_COLOUR_LISTS = ("labelmap.txt", "label_colors.txt", "class_dict.csv", "label_map.txt", "colors.txt")


class MaskFolderReader(ImageReader):
    """Images and their masks, paired by folder and name."""

    id = "masks"
    title = "Images with masks"
    extensions = ()
    priority = 50

    def sniff(self, file: ModelFile) -> bool:
        """Whether half of the masks-to-be pair with images and do not look like photographs."""
        seen = survey(file)
        pairs = pairs_of(seen.images)
        if not pairs or 3 * (len(pairs) + sum(len(masks) for masks in pairs.values())) < 2 * len(seen.images):
            return False
        try:
            with open_members(file) as members:
                few = [masks[0] for masks in list(pairs.values())[:: max(1, len(pairs) // 3)][:3]]
                return (
                    meaning_of([decode_numbers(members.read(name), name, 1 << 30) for name in few], {}, {}) is not None
                )
        except StethoscopeError:
            return True

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        seen = opening.seen
        pairs = pairs_of(seen.images)
        taken = {mask for masks in pairs.values() for mask in masks}
        rows = [
            ImageRow(name, name, None, split_of(name), (), pairs.get(name, []))
            for name in seen.images
            if name not in taken and (name in pairs or _beside(name, pairs))
        ]
        for row in rows:
            if not row.key:
                opening.problems.add("no mask", row.name, "Has no mask; it is shown without.")
        names, colours = _lists(opening)
        meaning = _meaning(opening, [mask for masks in pairs.values() for mask in masks], names, colours)
        objects = any(len(masks) > 1 for masks in pairs.values())
        notes = ["Each mask file is one object."] if objects else [meaning.in_words]
        classes = ("background", "object") if objects else _classes(meaning)
        source = _MaskMarks(opening.members, meaning, objects, opening.budget_bytes)
        return Found(rows, source, "mask", classes, notes)


def _beside(name: str, pairs: Mapping[str, Any]) -> bool:
    """Whether an image without a mask lies in a folder of images that have some."""
    folder = PurePosixPath(name).parent
    return any(PurePosixPath(other).parent == folder for other in list(pairs)[:1_000])


def _lists(opening: Opening) -> tuple[dict[int, str], dict[str, tuple[int, int, int]]]:
    """Class names by number, and colours by name, from lists beside the masks."""
    names: dict[int, str] = {}
    colours: dict[str, tuple[int, int, int]] = {}
    for member in opening.members.names:
        last = PurePosixPath(member).name.lower()
        if last in _LISTS:
            names = {
                number: line.strip()
                for number, line in enumerate(opening.text(member, 1 << 20).splitlines())
                if line.strip()
            }
        elif last in _COLOUR_LISTS:
            text = opening.text(member, 1 << 20)
            colours = colour_list(text) or _csv_colours(text) or colours
    return names, colours


def _csv_colours(text: str) -> dict[str, tuple[int, int, int]]:
    """CamVid's class_dict.csv: name, r, g, b."""
    found: dict[str, tuple[int, int, int]] = {}
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) >= 4 and all(part.isdecimal() and int(part) < 256 for part in parts[1:4]):
            found[parts[0]] = (int(parts[1]), int(parts[2]), int(parts[3]))
    return found


def _meaning(
    opening: Opening, masks: Sequence[str], names: Mapping[int, str], colours: Mapping[str, tuple[int, int, int]]
) -> MaskMeaning:
    few = few_masks(opening, masks, _LOOKED_INTO)
    found = meaning_of(few, names, colours) if few else None
    return found or MaskMeaning("numbers", names, None, "Each pixel of a mask holds its class number.")


def _classes(meaning: MaskMeaning) -> tuple[str, ...]:
    if meaning.kind == "binary" and not meaning.names:
        return ("background", "object")
    names = dict(meaning.names)
    if not names:
        return ()
    names.setdefault(0, "background")
    return tuple(
        meaning.names.get(number) or names.get(number) or f"class {number}" for number in range(max(names) + 1)
    )


class _MaskMarks:
    def __init__(self, members: Members, meaning: MaskMeaning, objects: bool, budget_bytes: int) -> None:
        self._members, self._meaning, self._objects, self._budget_bytes = members, meaning, objects, budget_bytes

    def marked(self, row: ImageRow, size: tuple[int, int] | None) -> Marked:
        """See `MarkSource.marked`."""
        marks = MarkList(self._budget_bytes)
        problems: list[str] = []
        total = None
        for path in row.key or ():
            try:
                mask = decode_numbers(self._members.read(path), path, self._budget_bytes)
            except StethoscopeError as error:
                problems.append(str(error))
                continue
            if size is not None and mask.shape[:2] != (size[1], size[0]):
                problems.append(
                    f"{path}: expected a mask of {size[0]} × {size[1]} pixels, got {mask.shape[1]} × {mask.shape[0]}. "
                    "It is not drawn."
                )
                continue
            if self._objects:
                bits = (mask if mask.ndim == 2 else mask.max(axis=2)) > 0
                if not marks.extend([Region("object", bits)]):
                    break
                total = bits if total is None else total | bits
                continue
            numbers, sentence = self._meaning.numbers(mask)
            problems.extend([f"{path}: {sentence}"] if sentence else [])
            marks.extend(self._meaning.regions(numbers))
            return Marked(marks.marks, problems=marks.said(problems), mask=numbers)
        whole = None if total is None else total.astype(np.int64)
        return Marked(marks.marks, problems=marks.said(problems), mask=whole)


READER = MaskFolderReader()


_FOLDERS = re.compile(
    r"(masks?|labels?|annotations?|annots?|gts?|gt_?fine|groundtruths?|ground_?truth|segmentations?|segs?|segmaps?|trimaps?|targets?|"
    r"seg_?masks?|label_?masks?|png_?masks|y|manual|mask_?images?|labels?_?images?|train_?masks?|val_?masks?|test_?masks?|"
    r"train_?labels?|val_?labels?|test_?labels?|trainannot|valannot|testannot|labelids)",
    re.I,
)
_ENDING = re.compile(
    r"[_\-. ](masks?|gt|label|labels|seg|segmentation|annotation|groundtruth|l|p|manual\d?|trimap|gtfine_labelids|labelids|"
    r"gtfine_labeltrainids|labeltrainids)$",
    re.I,
)
_IMAGE_ENDING = re.compile(r"[_\-. ](leftimg8bit|img|image|rgb|sat|raw|training|test)$", re.I)
_SKIPPED = re.compile(r"(instanceids|_color|_polygons|gtfine_instanceids|_instance)$", re.I)


def pairs_of(images: Sequence[str]) -> dict[str, list[str]]:
    """The masks of each image, both by member name; {} where these are no images with masks.

    Knows: images/ beside masks/ (or labels, annotations, gt, …), train_images beside train_masks, a.jpg beside a_mask.png,
    Cityscapes' leftImg8bit beside gtFine, and one folder for each image with many masks of single objects.
    """
    masks = [name for name in images if _is_mask(name) and not _SKIPPED.search(PurePosixPath(name).stem)]
    if not masks:
        return {}
    set_aside = {name for name in images if _is_mask(name)}
    pictures = [name for name in images if name not in set_aside]
    lookup = NameLookup(_plain(name, _IMAGE_ENDING) for name in pictures)
    back = {_plain(name, _IMAGE_ENDING): name for name in pictures}
    found: dict[str, list[str]] = {}
    for mask in masks:
        near = _without_folder(_plain(mask, _ENDING))
        image = lookup.beside(near)
        if image is not None:
            found.setdefault(back[image], []).append(mask)
    return found or _single_objects(masks, pictures)


def _single_objects(masks: Iterable[str], pictures: Iterable[str]) -> dict[str, list[str]]:
    """Masks of single objects: <id>/masks/*.png beside <id>/images/<id>.png."""
    alone: dict[str, list[str]] = {}
    for name in pictures:
        alone.setdefault(str(PurePosixPath(name).parent.parent), []).append(name)
    found: dict[str, list[str]] = {}
    for mask in masks:
        group = alone.get(str(PurePosixPath(mask).parent.parent), ())
        if len(group) == 1:
            found.setdefault(group[0], []).append(mask)
    return found


def _is_mask(name: str) -> bool:
    folder, _, last = name.rpartition("/")
    return _in_masks(folder) or _ENDING.search(last.rpartition(".")[0]) is not None


@functools.lru_cache(4_096)
def _in_masks(folder: str) -> bool:
    return any(_FOLDERS.fullmatch(part) for part in folder.split("/"))


def _plain(name: str, ending: re.Pattern[str]) -> str:
    """The name without the ending that tells an image from its mask."""
    path = PurePosixPath(name)
    return str(path.with_name(ending.sub("", path.stem) + path.suffix))


def _without_folder(name: str) -> str:
    path = PurePosixPath(name)
    return str(PurePosixPath(*[part for part in path.parts[:-1] if not _FOLDERS.fullmatch(part)], path.name))
