"""Texts in folders by class (as tf.keras.utils.text_dataset_from_directory reads them): one file, one sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import dataset
from stethoscope.data.class_folder import ClassFolder, classed
from stethoscope.data.dataset import DataField
from stethoscope.data.streams.text_source import is_single
from stethoscope.data.survey import survey
from stethoscope.data.tables.csv_dialect import encoding_of
from stethoscope.data.tables.field_rows import Column, text_array
from stethoscope.types import ModelFile

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


READER = TextFolderReader()
