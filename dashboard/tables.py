"""Tables by column. Cells of `st.dataframe` are plain text: nothing in them is interpreted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import escape, words
from stethoscope.types import Layer, TensorSpec

Columns = dict[str, list[Any]]

LAYER_COLUMNS = {
    "Layer": st.column_config.TextColumn("Layer", width=120),
    "Type": st.column_config.TextColumn("Type", width=85),
    "Output shape": st.column_config.TextColumn("Output shape", width=100),
    "Parameters": st.column_config.NumberColumn("Parameters", format="localized", width=72),
    "Share": st.column_config.ProgressColumn(
        "Share",
        help="Share of the model's parameters, in per cent",
        format="%.1f %%",
        min_value=0,
        max_value=100,
        width=65,
    ),
}
TEST_MEANING = {
    "same-input-bitwise": "The same input, run again, gives the same output to the last bit.",
    "same-input-tolerance": "The same input, run again, gives the same output within the tolerance.",
    "batch-1-vs-n": "A sample gives the same output alone as within a batch.",
    "train-vs-inference": "Whether training mode changes the output: it does for dropout and batch statistics, which is "
    "expected and is why inference must run with training=False.",
    "finite": "No NaN and no infinity in any output.",
}


def layers(rows: Sequence[Layer], total: int) -> Columns:
    """One row per layer or operator: name, type, output shape, parameters, share of the model's parameters in per cent."""
    return {
        "Layer": [escape.clip(layer.path, 200) for layer in rows],
        "Type": [escape.clip(layer.type) for layer in rows],
        "Output shape": [words.shape(layer.output_shape) for layer in rows],
        "Parameters": [layer.parameters for layer in rows],
        "Share": [100 * layer.parameters / total if total else 0.0 for layer in rows],
    }


def matching(rows: Sequence[Layer], text: str) -> list[Layer]:
    """Layers whose name or type contains every word of `text`, in any case."""
    wanted = text.casefold().split()
    return [layer for layer in rows if all(word in f"{layer.path} {layer.type}".casefold() for word in wanted)]


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
        "Detail": [escape.clip(item.get("detail") or "", 300) for item in items],
    }


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return words.count(value)
    if isinstance(value, float):
        return words.significant(value, 4)
    return escape.clip(value, 40)
