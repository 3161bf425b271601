"""Finding the image that an annotation speaks of, and the annotation that stands beside an image."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stethoscope.data.images.image_decoding import is_image

_NEUTRAL = frozenset(
    [
        "images",
        "image",
        "imgs",
        "img",
        "pictures",
        "photos",
        "jpegimages",
        "jpeg",
        "jpg",
        "png",
        "labels",
        "label",
        "labeltxt",
        "labels_obb",
        "annotations",
        "annotation",
        "annots",
        "ann",
        "xml",
        "xmls",
        "json",
        "jsons",
        "txt",
        "txts",
        "masks",
        "mask",
        "image_2",
        "image_3",
        "label_2",
        "segmentationclass",
        "segmentationobject",
        "data",
    ]
)
"""Folders that say what kind of file is in them, not which part of the data."""
_MOST_CANDIDATES = 64
_WORDS = re.compile(r"[a-z]+\d*|\d+")


class NameLookup:
    """Files by their stem: the nearest one to a name, where folders and suffixes may differ."""

    def __init__(self, names: Iterable[str]) -> None:
        self._exact: set[str] = set()
        self._keys: dict[tuple[str, ...], str] = {}
        self._stems: dict[str, list[str]] = {}
        for name in names:
            self._exact.add(name)
            self._keys.setdefault(_key(name), name)
            self._stems.setdefault(_stem(name), []).append(name)

    def __len__(self) -> int:
        return len(self._exact)

    def beside(self, name: str) -> str | None:
        """The file that goes with `name` (same stem; "labels/train/a.txt" ↔ "images/train/a.jpg"), or None."""
        found = self._keys.get(_key(name))
        return found or self._nearest(self._stems.get(_stem(name), ()), name, "")

    def named(self, reference: str, near: str) -> str | None:
        """The file that an annotation calls `reference`.

        Args:
            reference: a name or path as annotators write it: absolute, with backslashes, without a suffix …
            near: the annotation file it stands in, which settles which of several is meant.
        """
        plain = reference.replace("\\", "/").strip().removeprefix("./")
        folder = near.rpartition("/")[0]
        for candidate in (f"{folder}/{plain}" if folder else plain, plain):
            if candidate in self._exact:
                return candidate
        last = plain.rpartition("/")[2].lower()
        stem = _stem(plain) if is_image(plain) else last
        candidates = self._stems.get(stem) or self._stems.get(_stem(plain), [])
        same = [name for name in candidates if name.lower().endswith(last)]
        return self._nearest(same or candidates, near, plain)

    def _nearest(self, candidates: Iterable[str], near: str, reference: str) -> str | None:
        few = list(candidates)[:_MOST_CANDIDATES]
        if len(few) < 2:
            return few[0] if few else None
        return max(few, key=lambda name: (_same_tail(name, reference), _shared(name, near), -len(name)))


def _stem(name: str) -> str:
    last = name.rsplit("/", 1)[-1].lower()
    stem, dot, _ = last.rpartition(".")
    return stem if dot and stem else last


def _key(name: str) -> tuple[str, ...]:
    folders = [part for part in name.lower().split("/")[:-1] if part not in _NEUTRAL]
    return (*folders, _stem(name))


def _same_tail(name: str, reference: str) -> int:
    count = 0
    for one, other in zip(reversed(name.lower().split("/")), reversed(reference.lower().split("/")), strict=False):
        if one != other:
            break
        count += 1
    return count


def _shared(name: str, near: str) -> int:
    mine, other = set(_WORDS.findall(name.lower().rpartition("/")[0])), set(_WORDS.findall(near.lower()))
    return len(mine & other)
