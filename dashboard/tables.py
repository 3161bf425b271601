"""Tables by column. Cells of `st.dataframe` are plain text: nothing in them is interpreted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dashboard import escape, words
from stethoscope.types import TensorSpec

Columns = dict[str, list[Any]]

TEST_MEANING = {
    "same-input-bitwise": "The same input, run again, gives the same output to the last bit.",
    "same-input-tolerance": "The same input, run again, gives the same output within the tolerance.",
    "batch-1-vs-n": "A sample gives the same output alone as within a batch.",
    "train-vs-inference": "Whether training mode changes the output: it does for dropout and batch statistics, which is "
    "expected and is why inference must run with training=False.",
    "finite": "No NaN and no infinity in any output.",
}


def tensors(specs: Sequence[TensorSpec]) -> Columns:
    """One row per input or output."""
    return {
        "Name": [escape.clip(spec.name) for spec in specs],
        "Shape": [words.shape(spec.shape) for spec in specs],
        "Type": [spec.dtype or "not stated" for spec in specs],
    }


def outputs(values: Mapping[str, Mapping[str, Any]]) -> Columns:
    """One row per predicted output: name, shape, type."""
    return {
        "Output": [escape.clip(name) for name in values],
        "Shape": [words.shape(item["shape"]) for item in values.values()],
        "Type": [escape.clip(item["dtype"]) for item in values.values()],
    }


def preview(rows: Any, limit: int = 64) -> Columns:
    """The first rows of one output: a row per sample, a column per element (at most `limit`), as text."""

    def flat(value: Any) -> list[Any]:
        return [item for part in value for item in flat(part)] if isinstance(value, list) else [value]

    cells = [flat(row)[:limit] for row in rows]
    columns: Columns = {"Sample": list(range(len(cells)))}
    for place in range(max((len(row) for row in cells), default=0)):
        columns[str(place)] = [_cell(row[place]) if place < len(row) else "" for row in cells]
    return columns


def tests(items: Sequence[Mapping[str, Any]]) -> Columns:
    """One row per consistency test: what it asks, how it ended, the largest difference."""
    ended = {True: "passed", False: "failed", None: "not applicable"}
    return {
        "Test": [escape.clip(item["name"]) for item in items],
        "Result": [ended[item["passed"]] for item in items],
        "Largest difference": [words.difference(item.get("max_abs_diff")) for item in items],
        "What it means": [TEST_MEANING.get(str(item.get("id")), "") for item in items],
        "Detail": [escape.clip(words.readable(item.get("detail") or ""), 300) for item in items],
    }


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return words.count(value)
    if isinstance(value, float):
        return words.significant(value, 4)
    return escape.clip(value, 40)
