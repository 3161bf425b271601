"""Arrays in folders by class: one .npy, one sample (spectrograms, volumes, embeddings)."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.class_folder import ClassFolder
from stethoscope.data.dataset import DataField
from stethoscope.data.streams.numpy_rows import ArrayRows
from stethoscope.data.streams.text_source import is_single
from stethoscope.data.survey import survey
from stethoscope.data.tables.field_guess import channels_first, kind_of
from stethoscope.types import ModelFile


class NpyFolderReader:
    """Reads .npy files in folders."""

    id = "npy_folder"
    title = "Arrays in folders (.npy)"
    extensions = ()
    priority = 60

    def sniff(self, file: ModelFile) -> bool:
        """Whether most files are .npy, in folders; a .npz has them at its top."""
        if file.suffix == ".npz" or is_single(file):
            return False
        found = survey(file)
        arrays = found.ending(".npy")
        return 2 * len(arrays) > len(found.names) and (file.path.is_dir() or any("/" in name for name in arrays))

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> NpyFolder:
        """Opens the folder; see `DataReader.open`."""
        return NpyFolder(self.id, self.title, file, survey(file).ending(".npy"), budget_bytes, options)


class NpyFolder(ClassFolder):
    """One array a row."""

    def read_file(self, content: bytes, where: str) -> tuple[npt.NDArray[Any], str]:
        """The array whole; pickles are refused."""
        return ArrayRows(where, io.BytesIO(content), len(content), self._budget).all(), ""

    def field_of(self, values: Sequence[npt.NDArray[Any]]) -> DataField:
        """By the first arrays."""
        first = values[0]
        ranks, shapes = {value.ndim for value in values}, {value.shape for value in values}
        shape = first.shape if len(shapes) == 1 else (None,) * first.ndim if len(ranks) == 1 else None
        alike = np.stack(values) if len(shapes) == 1 else first[None]
        kind = kind_of("x", first.shape, alike, "input")
        details: dict[str, Any] = {}
        if kind == "image":
            ahead = channels_first(first.shape)
            details = {"channels": first.shape[0] if ahead else first.shape[2] if first.ndim == 3 else 1}
            details |= {"channels_first": True} if ahead else {}
        dtype = "string" if first.dtype.kind in "US" else first.dtype.name
        return DataField("x", kind, dtype, shape, "input", details=details)


READER = NpyFolderReader()
