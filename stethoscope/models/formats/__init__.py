"""Model formats, one file each: recognised by content, described without executing anything, opened only in a worker."""

from __future__ import annotations

import functools
import sys

from stethoscope.discover import discover
from stethoscope.errors import UnreadableFile
from stethoscope.models.containers.archive import is_archive, open_archive
from stethoscope.models.containers.damage import is_tar, is_zip
from stethoscope.models.foreign import what_is_it
from stethoscope.models.model_format import Format
from stethoscope.types import Architecture, ModelFile


@functools.cache
def all_formats() -> dict[str, Format]:
    """Every format by its id."""
    return discover(sys.modules[__name__], "FORMAT", "id")


def format_of(architecture: Architecture) -> Format:
    """The format of a model that has been described."""
    return all_formats()[architecture.format_id]


def detect(file: ModelFile) -> Format:
    """Returns the format of `file`, by content; the suffix only breaks ties.

    Raises:
        UnsafeFile, TooLarge: an archive that breaks the rules of `archive`.
        UnreadableFile: no format recognises it; the sentence says what it looks like instead.
    """
    if file.path.is_file() and file.path.stat().st_size == 0:
        raise UnreadableFile(f"{file.name}: the file is empty (0 bytes). Save the model again or repeat the upload.")
    matches = [kind for kind in all_formats().values() if kind.sniff(file)]
    matches.sort(key=lambda kind: (not kind.only_weights, file.suffix not in kind.extensions))
    if matches:
        return next((kind for kind in matches if len(matches) == 1 or kind.holds(file)), matches[0])
    if is_archive(file.path) and (is_zip(file.path) or is_tar(file.path)):
        with open_archive(file):  # what breaks the rules of an archive is refused for that, whatever it holds
            pass
    raise UnreadableFile(f"{file.name}: {what_is_it(file)}")
