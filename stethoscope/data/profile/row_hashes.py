"""One 64-bit number for each row of an array: equal rows have equal numbers, others practically never."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_CHUNK_BYTES = 8 << 20


def row_hashes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Returns shape (rows,). Every 8 bytes are mixed with their place and summed, so memory stays at one chunk.

    Source: the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    """
    rows = array.shape[0]
    found = np.zeros(rows, np.uint64)
    row_bytes = array[:1].nbytes
    if not rows or not row_bytes:
        return found
    words = -(-row_bytes // 8)
    place = np.arange(words, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    step = max(1, _CHUNK_BYTES // (words * 8))
    for start in range(0, rows, step):
        part = np.ascontiguousarray(array[start : start + step]).reshape(min(step, rows - start), -1)
        content = part.view(np.uint8).reshape(len(part), -1)
        if row_bytes % 8:
            content = np.pad(content, ((0, 0), (0, words * 8 - row_bytes)))
        mixed = content.view(np.uint64) + place
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found[start : start + len(part)] = (mixed ^ (mixed >> np.uint64(31))).sum(axis=1, dtype=np.uint64)
    return found


def repeated(hashes: npt.NDArray[np.uint64]) -> int:
    """Rows that equal an earlier row."""
    ordered = np.sort(hashes)
    return int((ordered[1:] == ordered[:-1]).sum())


def conflicting(inputs: npt.NDArray[np.uint64], targets: npt.NDArray[np.uint64]) -> int:
    """Rows whose input equals an earlier row's while their target differs from that row's."""
    _, first, group = np.unique(inputs, return_index=True, return_inverse=True)
    return int((targets != targets[first][group]).sum())
