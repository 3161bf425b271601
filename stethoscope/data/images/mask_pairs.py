"""Which image is the mask of which: by folder and by the ending of its name."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from stethoscope.data.images.image_lookup import NameLookup

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
