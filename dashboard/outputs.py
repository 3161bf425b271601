"""Output arrays of a run: opened without pickle and without reading them whole, downloaded as .npy, .npz or CSV."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from dashboard import escape, words
from dashboard.routes.replies import base_path
from stethoscope.memory.prediction import Output
from stethoscope.types import JobResult

IN_MEMORY_BYTES = 64 << 20
"""Larger files are sent by our streaming route instead of through the page."""
CSV_VALUES = 2_000_000


def load(path: Path) -> npt.NDArray[Any] | None:
    """Maps a `.npy` that a worker left; None when it is not one. Nothing is unpickled."""
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return array
    except (OSError, ValueError):
        return None


def downloads(result: JobResult, name: str, arrays: Mapping[str, Output]) -> None:
    """Buttons for one of the outputs (.npy, CSV) and for all of them together (.npz)."""
    path = result.files.get(arrays[name].path)
    if path is None:
        return
    stem, size = escape.file_name(name, "output"), path.stat().st_size
    with st.container(horizontal=True):
        if size > IN_MEMORY_BYTES:
            st.link_button(
                f"Download .npy ({words.size(size)})",
                f"{base_path()}/api/jobs/{path.parent.parent.name}/files/{path.name}",
            )
        else:
            st.download_button(
                "Download .npy",
                path.read_bytes,
                f"{stem}.npy",
                "application/octet-stream",
                key="npy",
                on_click="ignore",
            )
            if size // 4 <= CSV_VALUES:
                st.download_button("CSV", lambda: as_csv(path), f"{stem}.csv", "text/csv", key="csv", on_click="ignore")
        paths = {key: result.files[output.path] for key, output in arrays.items() if output.path in result.files}
        if len(paths) > 1 and sum(item.stat().st_size for item in paths.values()) <= IN_MEMORY_BYTES:
            st.download_button(
                "All as .npz", lambda: as_npz(paths), "outputs.npz", "application/zip", key="npz", on_click="ignore"
            )


def as_csv(path: Path) -> bytes:
    """One row per sample, one column per element; text cells never start a spreadsheet formula."""
    array = np.load(path, allow_pickle=False)
    flat = array.reshape(array.shape[0], -1) if array.ndim > 1 else array.reshape(-1, 1)
    out = io.StringIO()
    out.write(",".join(["sample", *(f"value_{index}" for index in range(flat.shape[1]))]) + "\n")
    for place, row in enumerate(flat):
        out.write(",".join([str(place), *(_csv_cell(item) for item in row.tolist())]) + "\n")
    return out.getvalue().encode()


def as_npz(paths: Mapping[str, Path]) -> bytes:
    """All outputs in one archive, under the names the model gives them."""
    out = io.BytesIO()
    arrays = {
        escape.file_name(name, f"output_{place}"): np.load(path, allow_pickle=False)
        for place, (name, path) in enumerate(paths.items())
    }
    np.savez(out, **arrays)
    return out.getvalue()


def _csv_cell(value: Any) -> str:
    if not isinstance(value, str):
        return repr(value)
    text = value if value[:1] not in "=+-@\t\r" else f"'{value}"
    return '"' + text.replace('"', '""') + '"'
