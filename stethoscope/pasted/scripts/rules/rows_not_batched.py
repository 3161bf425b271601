"""A dataset of single rows where batches are read.

Why: `fit` and `evaluate` take what a dataset yields for a batch. Rows that were not batched lack an axis: an error is raised, or the first
axis of a row is taken for the batch.
Example: `model.fit(train.batch(32), validation_data=val)` with `val` straight from `from_tensor_slices`.
Fix: `val.batch(32)`.
Source: keras.io/api/models/model_training_apis; tensorflow.org/guide/data ("Batching dataset elements").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import of_pipeline
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Element, Made, Value, number

_BATCHES = frozenset({"batch", "padded_batch", "ragged_batch", "apply", "window", "flat_map", "unbatch"})


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        for call in model.calls("fit", "evaluate"):
            name, place = ("validation_data", -1) if call.method == "fit" else ("x", 0)
            given: list[tuple[Value | None, str, int]] = [(call.argument(name, place), name, place)]
            for value, name, place in given:
                steps = of_pipeline(value).pipeline
                if not (_rows(steps) or _loaded_rows(value)) or id(call.node) in done or call.spread:
                    continue
                done.add(id(call.node))
                node = next((one.value for one in call.call_node.keywords if one.arg == name), None)
                if node is None and 0 <= place < len(call.call_node.args):
                    node = call.call_node.args[place]
                size = _size(of_pipeline(call.argument("x", 0)).pipeline) or 32
                yield facts.finding(
                    call if node is None else node.lineno,
                    Fault.DATA,
                    Severity.HIGH,
                    0.9,
                    "The dataset gives single rows, and batches are read: an axis is missing.",
                    "Batch it.",
                    [facts.spans.replace(node, f"{facts.spans.text(node)}.batch({size})")]
                    if isinstance(node, ast.Name)
                    else [],
                )


def _rows(steps: tuple[Call, ...]) -> bool:
    """Whether these steps give single rows for certain."""
    return bool(steps) and steps[-1].method == "from_tensor_slices" and not any(one.method in _BATCHES for one in steps)


def _loaded_rows(value: Value | None) -> bool:
    """Whether it comes straight from TensorFlow Datasets, which gives single rows unless told otherwise."""
    owner = value.of if isinstance(value, Element) else value
    loads = isinstance(owner, Made) and owner.call.name == "tensorflow_datasets.load"
    return loads and isinstance(owner, Made) and "batch_size" not in owner.call.keywords and not owner.call.spread


def _size(steps: tuple[Call, ...]) -> int:
    sizes = [number(one.argument("batch_size", 0)) for one in steps if one.method == "batch"]
    return int(sizes[0] or 0) if sizes else 0


RULE = Rule(_run)
