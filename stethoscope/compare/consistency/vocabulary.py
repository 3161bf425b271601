"""What becomes of an index that the vocabulary does not hold, when the model takes it without an error."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from stethoscope.compare.consistency.edge_inputs import Edge
from stethoscope.compare.consistency.subject import Refused, Subject, picked
from stethoscope.compare.consistency.trial import Origin, Trial
from stethoscope.types import Feed


def judge_index(subject: Subject, edge: Edge, found: Feed, values: dict[str, Any]) -> Trial:
    """Says whether such an index is read as another word, as a zero vector, or in some other way."""
    row = edge.row or 0
    read_as = _read_as(subject, edge, found)
    origin = _zero_vector(subject, edge)
    negative = edge.id == "edge-negative-index"
    if read_as is not None:
        how, values = f"it is read as index {read_as}", {**values, "read_as": read_as}
    elif origin is not None:
        how, values = "it is looked up as a vector of zeros", {**values, "read_as": "zeros"}
    else:
        how = "it gives ordinary numbers"
    said = f"Taken without an error where {edge.about}: {how}."
    if negative:
        # Python's convention, and ONNX's: -1 is the last one. Keras follows it for every embedding.
        detail = f"{said} A padding value of -1 would be mistaken for a word."
        return Trial(edge.id, "robustness", edge.name, None, detail, noted=True, origin=origin, values=values)
    detail = f"{said} Words that the vocabulary does not hold go unnoticed."
    values = {**values, "row": row}
    return Trial(edge.id, "robustness", edge.name, False, detail, origin=origin, values=values)


def _read_as(subject: Subject, edge: Edge, found: Feed) -> int | None:
    """The index inside the vocabulary that gives the same answer, if one of the usual suspects does."""
    if edge.vocabulary is None or not subject.steady:
        return None
    row, rows = edge.row or 0, subject.batching.rows(edge.feed)
    mine = subject.by_row(found, rows)
    if not mine:
        return None
    for index in (edge.vocabulary - 1, 0):
        changed = {
            name: _with(array, row, index) if _strange(array, row, edge.vocabulary) else array
            for name, array in edge.feed.items()
        }
        try:
            again = subject.answer(changed)
        except Refused:
            continue
        part = slice(row, row + 1)
        gap = subject.gap(picked(mine, part), picked(subject.by_row(again, rows), part))
        if gap is None or not gap.beyond:
            return index
    return None


def _strange(array: npt.NDArray[Any], row: int, vocabulary: int) -> bool:
    if array.dtype.kind not in "iuf" or not array.ndim or array.shape[0] <= row:
        return False
    return bool(((array[row] < 0) | (array[row] >= vocabulary)).all())


def _with(array: npt.NDArray[Any], row: int, value: int) -> npt.NDArray[Any]:
    copy = array.copy()
    copy[row] = value
    return copy


def _zero_vector(subject: Subject, edge: Edge) -> Origin | None:
    """The embedding that answers with zeros."""
    lookups = [path for path, layer in subject.layers.items() if layer.type == "Embedding" or "ather" in layer.type]
    if not lookups:
        return None
    seen = subject.activations(edge.feed) or {}
    rows, row = subject.batching.rows(edge.feed), edge.row or 0
    for path in lookups:
        array = seen.get(path)
        if array is not None and array.ndim > 1 and array.shape[0] == rows and not array[row].any():
            return Origin(path, f"{path} ({subject.kind(path)}) gives zeros for an index it does not hold.")
    return None
