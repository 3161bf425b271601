"""Sample data that people bring, by kind. A module defines READER, or READERS."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any

from stethoscope.data.dataset import DataReader, Dataset
from stethoscope.data.members import open_members
from stethoscope.data.streams.text_source import is_gzip
from stethoscope.discover import discover
from stethoscope.errors import UnreadableFile
from stethoscope.types import ModelFile


@functools.cache
def all_readers() -> dict[str, DataReader]:
    """Every reader by its id, in the order in which they are asked."""
    found: dict[str, DataReader] = discover(sys.modules[__name__], "READER", "id")
    return dict(sorted(found.items(), key=lambda item: (item[1].priority, item[0])))


def recognise(file: ModelFile) -> DataReader:
    """Returns the reader whose data this is, by content; the suffix only breaks ties.

    Raises:
        UnreadableFile: no reader knows it; the sentence says what is taken.
        UnsafeFile, TooLarge: an archive or folder that is refused as a whole.
    """
    if file.path.is_file() and file.path.stat().st_size == 0:
        raise UnreadableFile(f"{file.name}: the file is empty (0 bytes). Save the data again or repeat the upload.")
    matches = [reader for reader in all_readers().values() if reader.sniff(file)]
    for reader in matches:
        if file.suffix in reader.extensions:
            return reader
    if matches:
        return matches[0]
    if not is_gzip(file):
        with open_members(file):
            pass  # What is wrong with an archive or a folder as a whole is said first.
    known = ", ".join(reader.title for reader in all_readers().values())
    raise UnreadableFile(f"{file.name}: expected data of a known kind ({known}), got other content. Convert it to one.")


def open_data(file: ModelFile, budget_bytes: int, options: Mapping[str, Any] | None = None) -> Dataset:
    """Opens data of any known kind; see `DataReader.open`."""
    return recognise(file).open(file, budget_bytes, options or {})
