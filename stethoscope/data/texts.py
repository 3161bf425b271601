"""Texts: one sample a line (words, token ids separated by blanks, labels as fastText marks them), or one a file in folders by class.

Texts in folders by class (as tf.keras.utils.text_dataset_from_directory reads them): one file, one sample.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import dataset
from stethoscope.data.class_folder import ClassFolder, classed
from stethoscope.data.dataset import DataField
from stethoscope.data.streams.text_source import head_of, is_single, text_of
from stethoscope.data.survey import ProblemList, survey
from stethoscope.data.tables.field_rows import Column, stacked, text_array
from stethoscope.data.tables.table_fields import ColumnTable
from stethoscope.data.tables.table_guesses import delimiter_of, encoding_of
from stethoscope.errors import StethoscopeError, UnreadableFile
from stethoscope.types import ModelFile

_MOST_BYTES = 128 << 20
_MEMORY_FACTOR = 8
_LABEL = re.compile(r"((?:__label__\S+\s+)+)(.*)", re.S)
_IDS = re.compile(r"\d{1,18}(?:[ ,\t]+\d{1,18})*")
_LOOKED_AT = 2_000
_MARKUP = (b"<", b"{", b"[", b"%PDF")


class TextReader:
    """Reads lines of text."""

    id = "text"
    title = "Lines of text"
    extensions = (".txt", ".text")
    priority = 95

    def sniff(self, file: ModelFile) -> bool:
        """Whether it is named like text and is some, and no table."""
        if not is_single(file) or not file.name.lower().removesuffix(".gz").endswith(self.extensions):
            return False
        head = head_of(file)
        try:
            encoding = encoding_of(file.name, head, whole=False)
        except StethoscopeError:
            return False
        if delimiter_of(head.decode(encoding, "replace"), whole=False) in ("\t", ";", "|"):
            return False
        text = head[:4096].decode(encoding, "replace")
        return bool(head) and not head.lstrip().startswith(_MARKUP) and not any(ord(one) < 9 for one in text)

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> ColumnTable:
        """Reads the lines; see `DataReader.open`. options: {"encoding"}; empty lines are no rows."""
        limit = max(1 << 20, min(_MOST_BYTES, budget_bytes // _MEMORY_FACTOR))
        encoding = str(options.get("encoding") or "") or encoding_of(file.name, head_of(file), whole=False)
        problems = ProblemList()
        text, source = text_of(file, file.name, encoding, limit)
        cut = source.read_bytes > limit
        if source.damage:
            problems.add("end", file.name, f"Ends early ({source.damage}); the lines before are shown.")
        if source.replaced:
            problems.add("encoding", file.name, f"Some characters are not {encoding}; they are shown as �.")
        lines = [line.strip() for line in text.splitlines()]
        rows = [line for line in lines if line]
        if cut:
            rows = rows[:-1]
        if not rows:
            raise UnreadableFile(f"{file.name}: expected lines of text, got none. Save it again.")
        notes = [f"Only the first {len(rows):,} lines are read: more do not fit the memory allowed."] if cut else []
        columns, details = _columns(rows)
        return ColumnTable(
            self.id, self.title, file.name, columns, options, problems, notes=notes, exact=not cut, details=details
        )


def _columns(rows: Sequence[str]) -> tuple[dict[str, Column], dict[str, dict[str, Any]]]:
    first = rows[:_LOOKED_AT]
    if all(_IDS.fullmatch(row) for row in first) and any(len(row.split()) > 1 for row in first):
        return {"tokens": stacked([_ids(row) for row in rows])}, {"tokens": {"kind": "tokens"}}
    marked = [_LABEL.match(row) for row in rows]
    if sum(match is not None for match in marked[:_LOOKED_AT]) > len(first) // 2:
        labels = ["" if match is None else ", ".join(match[1].replace("__label__", " ").split()) for match in marked]
        texts = [row if match is None else match[2] for row, match in zip(rows, marked, strict=True)]
        return {"text": _texts(texts), "label": text_array(labels)}, {"text": {"kind": "text"}}
    return {"text": _texts(rows)}, {"text": {"kind": "text"}}


def _texts(rows: Sequence[str]) -> Column:
    return text_array([row[: dataset.MAX_TEXT] for row in rows])


def _ids(row: str) -> Any:
    parts = row.replace(",", " ").split()
    try:
        return np.array([int(part) for part in parts], np.int64)
    except ValueError:
        return None


_SUFFIXES = (".txt", ".text")


class TextFolderReader:
    """Reads text files in folders."""

    id = "text_folder"
    title = "Texts in folders"
    extensions = ()
    priority = 92

    def sniff(self, file: ModelFile) -> bool:
        """Whether most files are texts, and none is an image."""
        if is_single(file):
            return False
        found = survey(file)
        return not found.images and 2 * len(found.ending(*_SUFFIXES)) > len(found.names)

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> TextFolder:
        """Opens the folder; see `DataReader.open`. A text beside the folders of classes (a readme) is left out."""
        names = survey(file).ending(*_SUFFIXES)
        files = classed(names)
        labelled = [one.name for one in files if one.label]
        return TextFolder(self.id, self.title, file, labelled or names, budget_bytes, options)


class TextFolder(ClassFolder):
    """One text a row."""

    def read_file(self, content: bytes, where: str) -> tuple[npt.NDArray[Any], str]:
        """The whole text, up to `bounds.MAX_TEXT` characters."""
        encoding = encoding_of(where, content, whole=True)
        text = content.decode(encoding, "replace")
        if len(text) > dataset.MAX_TEXT:
            return np.array(
                text[: dataset.MAX_TEXT]
            ), f"Only the first {dataset.MAX_TEXT:,} of {len(text):,} characters are read."
        return np.array(text), ""

    def field_of(self, values: Sequence[npt.NDArray[Any]]) -> DataField:
        """Text."""
        return DataField("text", "text", "string", (), "input")

    def columns(self, start: int, stop: int, names: Sequence[str] | None = None) -> Mapping[str, Column]:
        """See `Dataset.columns`; texts of any length in one array."""
        found = dict(super().columns(start, stop, names))
        if isinstance(found.get("text"), list) and all(value is not None for value in found["text"]):
            found["text"] = text_array([str(value[()]) for value in found["text"]])
        return found


READERS = (TextReader(), TextFolderReader())
