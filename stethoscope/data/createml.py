"""Apple's Create ML: a JSON list of images with boxes.

Source: https://developer.apple.com/documentation/createml/building-an-object-detector-data-source (x and y are the centre).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from stethoscope.data.annotations.bounded_text import read_json
from stethoscope.data.dataset import Box
from stethoscope.data.images.image_opening import Found, ImageReader, Opening
from stethoscope.data.images.listed_marks import Listing
from stethoscope.data.images.mark_checks import finite
from stethoscope.data.survey import split_in_stem, survey
from stethoscope.types import ModelFile

_BEGINS = re.compile(rb"^\s*\[\s*\{")
_WORDS = re.compile(rb'"(image|imagefilename)"\s*:')


class CreateMlReader(ImageReader):
    """Boxes by centre and size."""

    id = "createml"
    title = "Create ML annotations"
    extensions = (".json",)
    priority = 12

    def sniff(self, file: ModelFile) -> bool:
        """Whether a JSON list begins with an image, its annotations and their coordinates."""
        return any(_is_createml(head) for _, head in survey(file).heads_of(".json"))

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        listing = Listing(opening)
        objects = []
        for name, head in opening.seen.heads_of(".json"):
            if _is_createml(head):
                with opening.noting("json", name):
                    objects.extend(list(_objects(opening, name, listing)))
        corners = any(x < width / 2 - 1 or y < height / 2 - 1 for _, _, (x, y, width, height) in objects)
        for entry, label, (x, y, width, height) in objects:
            shift = 0.0 if corners else 0.5
            listing.mark(entry, Box(label, x - width * shift, y - height * shift, width, height))
        corner = "x and y are read as the upper left corner: as centres, boxes would lie outside their images."
        return listing.found([corner] if corners else [])


def _is_createml(head: bytes) -> bool:
    return (
        _BEGINS.match(head.lstrip(b"\xef\xbb\xbf")) is not None
        and _WORDS.search(head) is not None
        and b'"annotation' in head
    )


def _objects(opening: Opening, name: str, listing: Listing) -> Iterator[tuple[Any, str, tuple[float, ...]]]:
    value = read_json(opening, name)
    for place, image in enumerate(value if isinstance(value, list) else ()):
        reference = (image.get("image") or image.get("imagefilename")) if isinstance(image, Mapping) else None
        if not isinstance(reference, str):
            opening.problems.add(
                "entry", name, f'Entry {place}: expected an image\'s name under "image". It is left out.'
            )
            continue
        entry = listing.entry(reference, name, split_in_stem(name))
        objects = image.get("annotations", image.get("annotation"))
        for one in objects if isinstance(objects, list) else ():
            box = one.get("coordinates") if isinstance(one, Mapping) else None
            try:
                numbers = tuple(float(box[part]) for part in ("x", "y", "width", "height")) if box else ()
            except (KeyError, TypeError, ValueError):
                numbers = ()
            if len(numbers) != 4 or not finite(numbers):
                entry.problems.append(f"{name}: an object has no x, y, width and height. It is left out.")
                continue
            yield entry, str(one.get("label", "")), numbers


READER = CreateMlReader()
