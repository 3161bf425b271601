"""XML from strangers: no document types and no entities, bounded in size, depth and elements."""

from __future__ import annotations

from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from stethoscope.errors import UnreadableFile, UnsafeFile

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
