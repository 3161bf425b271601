"""What a model does with edge-case inputs: finite numbers, a clear refusal, or something to know about.

What becomes of an index that the vocabulary does not hold, when the model takes it without an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.compare.consistency import layer_search
from stethoscope.compare.consistency.edge_inputs import Edge, edges, ordinary
from stethoscope.compare.consistency.subject import (
    Origin,
    Refused,
    Subject,
    Trial,
    first_values,
    floats,
    non_finite,
    number,
    picked,
)
from stethoscope.models.formats import format_of
from stethoscope.types import Feed

_ON_PURPOSE = ("IsNan", "IsNaN", "NanToNum", "IsFinite", "Imput", "Masking", "NormalizeNan")

_FUSED = " Layer by layer NaN stays NaN: the operations that the runtime fuses, such as a matrix product with its ReLU, drop it."


def trials(subject: Subject, before_each: Callable[[Edge], None]) -> Iterator[Trial]:
    """Yields one trial for each edge case; `before_each` is told what is tried next, should the process not survive it."""
    if not subject.feed:
        yield _trial("edge-zeros", "Edge-case inputs", None, "The model has no inputs.")
        return
    base = ordinary(subject)
    try:
        usual = subject.answer(base)
    except Refused as error:
        yield _trial(
            "edge-zeros", "Edge-case inputs", None, f"Not tried: it does not run on {len(base)} rows: {error}."
        )
        return
    search = _Search(subject, base)
    for edge in edges(subject):
        if subject.out_of_time:
            yield _trial(edge.id, edge.name, None, "Not tried: most of the time limit was used up.")
            continue
        if edge.kind in ("nan", "infinity") and not subject.independent:
            yield _trial(edge.id, edge.name, None, "Not meaningful: rows already influence each other.")
            continue
        before_each(edge)
        try:
            found = subject.answer(edge.feed)
        except Refused as error:
            yield _refused(subject, edge, str(error))
            continue
        yield _judge(subject, edge, base, usual, found, search)
    yield _afterwards(subject)


class _Search:
    """Looks for layers at most a few times, and for the ordinary input once."""

    def __init__(self, subject: Subject, base: Feed) -> None:
        self._subject, self._base = subject, base
        self._usual: frozenset[str] | None = None

    def non_finite(self, feed: Feed) -> Origin | None:
        return layer_search.first_non_finite(self._subject, feed, self._ordinary)

    def _ordinary(self) -> frozenset[str]:
        if self._usual is None:
            self._usual = layer_search.non_finite_layers(self._subject, self._base)
        return self._usual


def _trial(id_: str, name: str, passed: bool | None, detail: str, **more: Any) -> Trial:
    return Trial(id_, "robustness", name, passed, detail, **more)


def _refused(subject: Subject, edge: Edge, said: str) -> Trial:
    values = {"refused": True, "error": said}
    if edge.kind == "vocabulary":
        gpu = " On a GPU TensorFlow looks up zeros instead, without a word." if _is_tensorflow(subject) else ""
        return _trial(edge.id, edge.name, True, f"Refused with an error, as it should be: {said}.{gpu}", values=values)
    if edge.kind in ("unknown", "empty"):
        return _trial(edge.id, edge.name, True, f"Refused with an error: {said}.", values=values)
    real = any(array.dtype.kind == "f" for array in edge.feed.values())
    detail = f"The model fails where {edge.about}: {said}."
    return _trial(edge.id, edge.name, False if real else None, detail, noted=not real, values=values)


def _is_tensorflow(subject: Subject) -> bool:
    return format_of(subject.architecture).runtime == "tensorflow"


def _judge(subject: Subject, edge: Edge, base: Feed, usual: Feed, found: Feed, search: _Search) -> Trial:
    already = non_finite(usual)
    bad = {name: count for name, count in non_finite(found).items() if name not in already}
    values = {"non_finite": bad, "output": first_values(found, edge.row or 0)}
    if edge.kind == "nan":
        return _nan(subject, edge, usual, found, values)
    if edge.kind == "infinity":
        return _infinity(subject, edge, usual, found, values)
    if bad:
        return _not_finite(edge, bad, values, search.non_finite(edge.feed))
    if edge.kind == "vocabulary":
        return judge_index(subject, edge, found, values)
    return _trial(edge.id, edge.name, True, f"Every output is finite{_range(found)}.", values=values)


def _not_finite(edge: Edge, bad: dict[str, int], values: dict[str, Any], origin: Origin | None) -> Trial:
    listed = ", ".join(f"{count:,} in {name}" for name, count in bad.items())
    where = f" It begins in {origin.layer}." if origin else ""
    if edge.kind in ("arithmetic", "empty"):
        why = (
            "sums of such numbers leave the type's range, in any model"
            if edge.kind == "arithmetic"
            else "a mean or maximum over no steps has no value"
        )
        detail = f"NaN or infinite values ({listed}): {why}.{where}"
        return _trial(edge.id, edge.name, None, detail, noted=True, origin=origin, values=values)
    detail = f"NaN or infinite values ({listed}) where {edge.about}.{where}"
    return _trial(edge.id, edge.name, False, detail, origin=origin, values=values)


def _nan(subject: Subject, edge: Edge, usual: Feed, found: Feed, values: dict[str, Any]) -> Trial:
    row, rows = edge.row or 0, subject.batching.rows(edge.feed)
    leak = _leak(subject, edge, usual, found, values)
    if leak is not None:
        return leak
    mine = floats(subject.by_row(found, rows)) or floats(found)
    if not mine:
        detail = "Outputs are whole numbers, which cannot show NaN: a row of NaN looks like any other."
        return _trial(edge.id, edge.name, None, detail, noted=True, values=values)
    silent = [
        name
        for name, array in mine.items()
        if np.isfinite(array[row] if array.ndim and array.shape[0] == rows else array).all()
    ]
    stays = " and stays in its row" if rows > 1 and subject.by_row(found, rows) else ""
    if not silent:
        return _trial(edge.id, edge.name, True, f"NaN comes out as NaN{stays}.", values=values)
    origin = layer_search.where_nan_ends(subject, edge.feed, row)
    values = {**values, "silent_outputs": silent}
    said = number(first_values({silent[0]: mine[silent[0]]}, row, 1)[0])
    detail = f"A row of NaN gives ordinary numbers ({silent[0]} begins with {said})"
    meant = [path for path, layer in subject.layers.items() if any(word in layer.type for word in _ON_PURPOSE)]
    if meant:
        detail += f": {meant[0]} replaces or masks NaN."
    else:
        where = f" {origin.layer} ({subject.kind(origin.layer)}) drops NaN." if origin else _FUSED
        detail += f", so missing values go unnoticed. Check inputs for NaN before predicting.{where}"
    # ReLU and max pooling drop NaN in most kernels for CPUs: known to the user it must be, a defect of the model it is not.
    return _trial(edge.id, edge.name, None, detail, noted=True, origin=origin, values=values)


def _infinity(subject: Subject, edge: Edge, usual: Feed, found: Feed, values: dict[str, Any]) -> Trial:
    leak = _leak(subject, edge, usual, found, values)
    if leak is not None:
        return leak
    if values["non_finite"]:
        return _trial(edge.id, edge.name, True, "Infinity comes out as NaN or infinity, in its own row.", values=values)
    detail = "A row of infinities is taken for very large numbers: every output is finite."
    return _trial(edge.id, edge.name, True, detail, values=values)


def _leak(subject: Subject, edge: Edge, usual: Feed, found: Feed, values: dict[str, Any]) -> Trial | None:
    """A trial that failed when the special row changes other rows; None when it does not, or that cannot be told."""
    row, rows = edge.row or 0, subject.batching.rows(edge.feed)
    others = np.array([place for place in range(rows) if place != row], dtype=np.intp)
    if not subject.steady or not others.size:
        return None
    gap = subject.gap(picked(subject.by_row(usual, rows), others), picked(subject.by_row(found, rows), others))
    if gap is None or not gap.beyond:
        return None
    origin = layer_search.between_rows(subject, ordinary(subject), edge.feed, others, others)
    where = f" It spreads in {origin.layer}." if origin else ""
    detail = f"One such row spoils others: another row gives {number(gap.values[1])} instead of {number(gap.values[0])}.{where}"
    return _trial(edge.id, edge.name, False, detail, max_abs_diff=gap.max_abs_diff, origin=origin, values=values)


def _afterwards(subject: Subject) -> Trial:
    """The ordinary input again, after all of them."""
    id_, name = "edge-afterwards", "Ordinary input afterwards"
    if not subject.steady:
        return _trial(id_, name, None, "Not meaningful: the output already changes from run to run.")
    try:
        gap = subject.gap(subject.reference, subject.answer(subject.feed))
    except Refused as error:
        return _trial(id_, name, False, f"After the edge cases the model no longer runs on ordinary input: {error}.")
    size = gap.max_abs_diff if gap else 0.0
    if gap is None or not gap.beyond:
        return _trial(id_, name, True, "It gives what it gave before the edge cases.", max_abs_diff=size)
    detail = f"After the edge cases ordinary input gives {number(gap.values[1])} where it gave {number(gap.values[0])}."
    return _trial(id_, name, False, detail, max_abs_diff=size)


def _range(found: Feed) -> str:
    numeric = [array for array in found.values() if array.dtype.kind in "fiu" and array.size]
    if not numeric:
        return ""
    low, high = float(min(array.min() for array in numeric)), float(max(array.max() for array in numeric))
    return f": {low:.4g} everywhere" if low == high else f": {low:.4g} to {high:.4g}"


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
