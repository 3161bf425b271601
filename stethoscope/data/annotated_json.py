"""Marks on images as one JSON: VGG Image Annotator's projects of version 2 and lists of regions, Apple's Create ML.

Source: https://www.robots.ox.ac.uk/~vgg/software/via/ (via-2.x, region shapes).

Apple's Create ML: a JSON list of images with boxes.

Source: https://developer.apple.com/documentation/createml/building-an-object-detector-data-source (x and y are the centre).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from stethoscope.data.dataset import Box, Mark, Points, Polygon
from stethoscope.data.images.bounded_text import read_json
from stethoscope.data.images.image_opening import Found, ImageReader, Opening
from stethoscope.data.images.listed_marks import Listing, ellipse
from stethoscope.data.images.mark_checks import finite
from stethoscope.data.survey import split_in_stem, survey
from stethoscope.types import ModelFile

_VIA_WORDS = re.compile(rb'"(shape_attributes|_via_img_metadata|region_attributes)"')


class ViaReader(ImageReader):
    """Rectangles, circles, ellipses, polygons, polylines and points."""

    id = "via"
    title = "VGG Image Annotator"
    extensions = (".json",)
    priority = 11

    def sniff(self, file: ModelFile) -> bool:
        """Whether a JSON has VIA's region words."""
        return any(_VIA_WORDS.search(head) for _, head in survey(file).heads_of(".json"))

    def found(self, opening: Opening, options: Mapping[str, Any]) -> Found:
        """See `ImageReader.found`."""
        listing = Listing(opening)
        for name, head in opening.seen.heads_of(".json"):
            if _VIA_WORDS.search(head):
                with opening.noting("json", name):
                    _read(opening, name, listing)
        return listing.found()


def _read(opening: Opening, name: str, listing: Listing) -> None:
    value = read_json(opening, name)
    if isinstance(value, Mapping):
        value = value.get("_via_img_metadata", value)
    for image in value.values() if isinstance(value, Mapping) else ():
        if not isinstance(image, Mapping) or not isinstance(image.get("filename"), str):
            opening.problems.add("entry", name, "An entry names no file. It is left out.")
            continue
        entry = listing.entry(image["filename"], name, split_in_stem(name))
        for region in _regions(image.get("regions")):
            try:
                listing.mark(entry, _mark(region))
            except (ValueError, KeyError, TypeError) as error:
                entry.problems.append(f"{name}: a region cannot be read ({error}). It is left out.")


def _regions(value: Any) -> Iterator[Mapping[str, Any]]:
    found = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return (one for one in found if isinstance(one, Mapping))


def _mark(region: Mapping[str, Any]) -> Mark:
    shape, attributes = region["shape_attributes"], region.get("region_attributes") or {}
    label = _label(attributes)
    kind = shape["name"]
    if kind == "rect":
        left, top, width, height = _numbers(shape, "x", "y", "width", "height")
        return Box(label, left, top, width, height)
    if kind in ("circle", "ellipse"):
        x, y = _numbers(shape, "cx", "cy")
        wide, high = _numbers(shape, "r", "r") if kind == "circle" else _numbers(shape, "rx", "ry")
        (theta,) = _numbers({"theta": shape.get("theta", 0.0)}, "theta")
        return Polygon(label, (ellipse(x, y, wide, high, theta),))
    if kind == "point":
        x, y = _numbers(shape, "cx", "cy")
        return Points(label, ((x, y),))
    points = tuple((float(x), float(y)) for x, y in zip(shape["all_points_x"], shape["all_points_y"], strict=True))
    if not finite(number for point in points for number in point):
        raise ValueError("its points are no ordinary numbers")
    return Points(label, points, joined=True) if kind == "polyline" else Polygon(label, (points,))


def _label(attributes: Any) -> str:
    """The first attribute in words; a set of check marks as the marked ones."""
    for value in attributes.values() if isinstance(attributes, Mapping) else ():
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, Mapping):
            return ", ".join(str(name) for name, on in value.items() if on)
    return ""


def _numbers(shape: Mapping[str, Any], *names: str) -> list[float]:
    found = [float(shape[name]) for name in names]
    if not finite(found):
        raise ValueError("its numbers are no pixels")
    return found


_BEGINS = re.compile(rb"^\s*\[\s*\{")
_CREATEML_WORDS = re.compile(rb'"(image|imagefilename)"\s*:')


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
        and _CREATEML_WORDS.search(head) is not None
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


READERS = (ViaReader(), CreateMlReader())
