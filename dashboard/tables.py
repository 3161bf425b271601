"""Tables by column. Cells of `st.dataframe` are plain text: nothing in them is interpreted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dashboard import escape, words
from stethoscope.compare.consistency.report import ConsistencyTest
from stethoscope.memory.prediction import Output
from stethoscope.types import TensorSpec

Columns = dict[str, list[Any]]

TEST_MEANING = {
    "same-input-bitwise": "The same input, run again, gives the same output to the last bit.",
    "same-input-tolerance": "The same input, run again, gives the same output within the tolerance.",
    "same-after-others": "The same input gives the same output after the model has seen other inputs: it keeps no state.",
    "batch-1-vs-n": "A sample gives the same output alone as within a batch.",
    "batch-sizes": "A sample gives the same output in batches of 2, 3 and more.",
    "batch-order": "A shuffled batch gives the same results, shuffled.",
    "batch-independence": "A sample keeps its output when all others in its batch are replaced.",
    "train-vs-inference": "Whether training mode changes the output: it does for dropout and batch statistics, which is "
    "expected and is why inference must run with training=False.",
    "save-reload-outputs": "The model is saved to a file and loaded from it; the copy has to answer the same.",
    "save-reload-weights": "Every weight of the loaded copy is compared with the model's, bit by bit.",
    "finite": "No NaN and no infinity in any output, on ordinary input.",
    "input-dependence": "Different inputs give different outputs: the model is not a constant.",
    "every-input-matters": "Each input is exchanged alone; one without effect is not used, or not connected.",
    "edge-nan-row": "Every number of one row is NaN: it should come out as NaN, and only in its own row.",
    "edge-inf-row": "Every number of one row is infinite: no other row may notice.",
    "edge-out-of-vocabulary": "An index that the embedding does not hold should be refused with an error.",
    "edge-negative-index": "An index of -1, as some code uses for padding.",
    "edge-zeros": "All zeros, as in padding or a blank picture.",
    "edge-extreme": "Numbers at the end of the type's range: overflow there is arithmetic, not a defect.",
    "edge-afterwards": "Ordinary input once more, after all of these.",
}
"""What a test asks, by its id."""


def ending(test: ConsistencyTest) -> str:
    """How a consistency test ended, in words."""
    if test.passed is None:
        return "worth knowing" if test.noted else "not applicable"
    return "passed" if test.passed else "failed"


def tensors(specs: Sequence[TensorSpec]) -> Columns:
    """One row per input or output."""
    return {
        "Name": [escape.clip(spec.name) for spec in specs],
        "Shape": [words.shape(spec.shape) for spec in specs],
        "Type": [spec.dtype or "not stated" for spec in specs],
    }


def outputs(arrays: Mapping[str, Output]) -> Columns:
    """One row per predicted output: name, shape, type."""
    return {
        "Output": [escape.clip(name) for name in arrays],
        "Shape": [words.shape(output.shape) for output in arrays.values()],
        "Type": [escape.clip(output.dtype) for output in arrays.values()],
    }


def preview(rows: Sequence[Sequence[Any]]) -> Columns:
    """The first rows of one output: a row per sample, a column per element, as text."""
    columns: Columns = {"Sample": list(range(len(rows)))}
    for place in range(max((len(row) for row in rows), default=0)):
        columns[str(place)] = [_cell(row[place]) if place < len(row) else "" for row in rows]
    return columns


def tests(items: Sequence[ConsistencyTest]) -> Columns:
    """One row per consistency test: what it asks, how it ended, the largest difference."""
    return {
        "Test": [escape.clip(item.name) for item in items],
        "Result": [ending(item) for item in items],
        "Largest difference": [words.difference(item.max_abs_diff) for item in items],
        "What it means": [TEST_MEANING.get(item.id, "") for item in items],
        "Detail": [escape.clip(words.readable(item.detail), 300) for item in items],
    }


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return words.count(value)
    if isinstance(value, float):
        return words.significant(value, 4)
    return escape.clip(value, 40)
