"""CSV, JSON and XML from strangers, as annotations come in: bounded in size, depth and elements.

One Pascal VOC annotation file as marks.

Source: the VOC devkit, http://host.robots.ox.ac.uk/pascal/VOC/voc2012/htmldoc/ (pixels count from 1, the last one included).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from stethoscope.data.dataset import Box, Mark, Polygon
from stethoscope.data.images.image_opening import Opening
from stethoscope.errors import UnreadableFile, UnsafeFile
from stethoscope.models.containers.damage import JSON

_FIELD = 1 << 20


def csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """(line number, values trimmed) of each line that is not empty; the delimiter is judged from the first line."""
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t|", key=first.count)
    csv.field_size_limit(_FIELD)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            continue
        values = [value.strip() for value in row]
        if any(values):
            yield reader.line_num, values


def head_rows(head: bytes, most: int = 20) -> list[list[str]]:
    """The first rows of a file's first bytes; the last, which may be cut off, is left out."""
    text = head.decode("utf-8-sig", "replace")
    whole = text if len(head) < 60_000 else text.rpartition("\n")[0]
    return [values for _, values in zip_first(csv_rows(whole), most)]


def zip_first(rows: Iterator[tuple[int, list[str]]], most: int) -> Iterator[tuple[int, list[str]]]:
    """At most the first `most` of them."""
    for _, row in zip(range(most), rows, strict=False):
        yield row


FILE_COLUMNS = ("filename", "file", "image", "imagepath", "path", "imagename", "img", "imageid")
"""What tools call the column of an image's name, the likeliest first; as `column` compares names."""


def column(header: Sequence[str], names: Sequence[str]) -> int | None:
    """Where a column of one of these names stands, in the order of `names`; case, spaces and underscores do not matter."""
    plain = [name.lower().replace("_", "").replace(" ", "").replace("-", "") for name in header]
    for name in names:
        if name in plain:
            return plain.index(name)
    return None


_COPIES = 10
"""Memory that parsed JSON takes, in multiples of the file."""


def read_json(opening: Opening, name: str) -> Any:
    """The value of one member.

    Raises:
        UnreadableFile: it is no valid JSON; says where.
        TooLarge: it does not fit the budget.
    """
    text = opening.text(name, opening.budget_bytes // _COPIES)
    try:
        return json.loads(text)
    except JSON as error:
        reason = " ".join(str(error).split())[:120]
        raise UnreadableFile(f"{name}: the JSON is malformed ({reason}). Export it again.") from error


_MAX_ELEMENTS = 5_000_000
_MAX_DEPTH = 64


class _Bounds(Exception):
    pass


def parse_xml(payload: bytes, where: str) -> Element:
    """Parses a document.

    Args:
        payload: the whole file, already of a bounded size.
        where: its name, for error texts.

    Raises:
        UnreadableFile: malformed; says in which line.
        UnsafeFile: it declares a document type (which could expand without end or read other files).
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate()
    depth = elements = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, elements
        depth, elements = depth + 1, elements + 1
        if depth > _MAX_DEPTH or elements > _MAX_ELEMENTS:
            raise _Bounds
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(*_: object) -> NoReturn:
        raise UnsafeFile(f"{where}: declares a document type, which annotations do not need. Remove the DOCTYPE.")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(payload, True)
        return builder.close()
    except expat.ExpatError as error:
        raise UnreadableFile(f"{where}: the XML is malformed ({error}). Export it again.") from error
    except (_Bounds, ValueError, AssertionError, LookupError) as error:
        raise UnreadableFile(
            f"{where}: the XML is nested or repeated beyond any annotation. Export it again."
        ) from error


def text(element: Element, path: str, default: str = "") -> str:
    """The trimmed text of the first element at `path`; `default` where there is none."""
    return (element.findtext(path) or default).strip()


def number(element: Element, path: str) -> float:
    """The number at `path`.

    Raises:
        ValueError: there is none, or it is no ordinary number.
    """
    written = element.findtext(path)
    if written is None:
        raise ValueError(f"<{path.rsplit('/', maxsplit=1)[-1]}> is missing")
    try:
        value = float(written)
    except ValueError:
        raise ValueError(f"<{path.rsplit('/', maxsplit=1)[-1]}> is no number ({written.strip()[:40]!r})") from None
    if not abs(value) < 1e7:
        raise ValueError(f"<{path.rsplit('/', maxsplit=1)[-1]}> is no pixel ({written.strip()[:40]!r})")
    return value


_FLAGS = ("difficult", "truncated", "occluded")


def declared_size(root: Element) -> tuple[int, int] | None:
    """(width, height) of <size>; None where it is missing or no size."""
    try:
        width, height = int(number(root, "size/width")), int(number(root, "size/height"))
    except ValueError:
        return None
    return (width, height) if width > 0 and height > 0 else None


def marks_of(root: Element, from_one: bool, problems: list[str]) -> Iterator[Mark]:
    """Every object and part with its box or outline.

    Args:
        root: <annotation>.
        from_one: whether coordinates count pixels from 1, as VOC's own, or edges from 0, as many tools write.
        problems: gets a sentence for each object that cannot be drawn.
    """
    for place, element in enumerate(root.iter("object"), 1):
        name = text(element, "name")
        if not name:
            problems.append(f"Object {place} has no <name>.")
        yield from _shapes(element, name, from_one, place, problems)
        for part in element.findall("part"):
            yield from _shapes(part, f"{name} {text(part, 'name')}".strip(), from_one, place, problems)


def starts_at_zero(root: Element) -> bool:
    """Whether some box touches 0, which pixels counted from 1 never do."""
    return any(
        (element.findtext(side) or "").strip() in ("0", "0.0", "0.00")
        for element in root.iter("bndbox")
        for side in ("xmin", "ymin")
    )


def _shapes(element: Element, name: str, from_one: bool, place: int, problems: list[str]) -> Iterator[Mark]:
    details: dict[str, Any] = {flag: True for flag in _FLAGS if text(element, flag) in ("1", "true", "True")}
    pose = text(element, "pose")
    if pose and pose.lower() not in ("unspecified", "unknown"):
        details["pose"] = pose[:100]
    try:
        if element.find("polygon") is not None:
            yield _polygon(element, name, details)
        elif element.find("robndbox") is not None:
            yield _turned(element, name, details)
        elif element.find("bndbox") is not None:
            yield _box(element, name, from_one, details)
        else:
            problems.append(f"Object {place} ({name[:80]!r}) has no <bndbox>.")
    except ValueError as error:
        problems.append(f"Object {place} ({name[:80]!r}): {error}. It is left out.")


def _box(element: Element, name: str, from_one: bool, details: dict[str, Any]) -> Box:
    x1, y1, x2, y2 = (number(element, f"bndbox/{side}") for side in ("xmin", "ymin", "xmax", "ymax"))
    shift = 1.0 if from_one else 0.0
    return Box(name, x1 - shift, y1 - shift, x2 - x1 + shift, y2 - y1 + shift, details=details)


def _turned(element: Element, name: str, details: dict[str, Any]) -> Box:
    """roLabelImg's rotated box: centre, size, radians clockwise."""
    x, y, width, height, angle = (number(element, f"robndbox/{part}") for part in ("cx", "cy", "w", "h", "angle"))
    return Box(name, x - width / 2, y - height / 2, width, height, math.degrees(angle), details)


def _polygon(element: Element, name: str, details: dict[str, Any]) -> Polygon:
    """Roboflow's outlines: <x1>, <y1>, <x2>, <y2> …"""
    points: list[tuple[float, float]] = []
    while element.find(f"polygon/x{len(points) + 1}") is not None:
        place = len(points) + 1
        points.append((number(element, f"polygon/x{place}"), number(element, f"polygon/y{place}")))
    if len(points) < 3:
        raise ValueError("its outline has fewer than three points")
    return Polygon(name, (tuple(points),), details)
