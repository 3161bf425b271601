"""Text form of TensorFlow's graph messages (.pbtxt): recognised by its first field, parsed within bounds."""

from __future__ import annotations

import re
from typing import Any

from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers import limits
from stethoscope.types import ModelFile

_HEAD_BYTES = 4096
_FIRST = re.compile(rb"\A(?:\xef\xbb\xbf)?(?:\s+|#[^\n]*(?:\n|\Z))*([a-z_]+)\s*(?::\s*[\d\"{<]|[{<])")


def first_field(file: ModelFile) -> str:
    """The name of the first field of a text message, "" for anything else."""
    with file.path.open("rb") as stream:
        return _first(stream.read(_HEAD_BYTES))


def first_field_of(view: memoryview) -> str:
    """As `first_field`, for bytes at hand."""
    return _first(bytes(view[:_HEAD_BYTES]))


def parse(file: ModelFile, view: memoryview, message: Any) -> Any:
    """Fills `message` from text; fields it does not have are skipped.

    Raises:
        UnreadableFile: no text message, or nested deeper than graphs are.
        TooLarge: more text than a graph needs.
    """
    from google.protobuf import text_format

    if len(view) > limits.MAX_CONFIG_BYTES:
        raise TooLarge(
            f"{file.name}: the text graph has {len(view):,} bytes, expected at most {limits.MAX_CONFIG_BYTES:,}. Save it as binary .pb."
        )
    try:
        text = bytes(view).decode("utf-8")
        _check_depth(text)
        return text_format.Parse(text, message, allow_unknown_field=True)
    except (text_format.ParseError, UnicodeDecodeError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UnreadableFile(
            f"{file.name}: not a readable text graph ({reason}). Save it again, or as binary .pb."
        ) from error


def _check_depth(text: str) -> None:
    depth = 0
    for character in re.findall(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[{}<>]", text):
        depth += (character in ("{", "<")) - (character in ("}", ">"))
        if depth > limits.MAX_DEPTH:
            raise ValueError(f"nested deeper than {limits.MAX_DEPTH} levels")


def _first(head: bytes) -> str:
    found = _FIRST.match(head)
    return found.group(1).decode() if found else ""
