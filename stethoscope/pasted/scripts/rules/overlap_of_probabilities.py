"""An overlap of classes is measured on probabilities.

Why: `MeanIoU` reads class numbers. Probabilities between 0 and 1 are cut to whole numbers, which are 0: what it shows says nothing.
Example: `Conv2D(1, 1, activation="sigmoid")` and `metrics=[keras.metrics.MeanIoU(num_classes=2)]`.
Fix: `BinaryIoU(target_class_ids=[0, 1])` for a sigmoid; `MeanIoU(n, sparse_y_pred=False)` for a softmax.
Source: keras.io/api/metrics/segmentation_metrics (sparse_y_pred); stackoverflow.com/questions/60507120.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import PROBABILITIES, SIGMOID
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Head, metrics_of
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model, compiled, head, _ in facts.compiles():
        if head is None or head.activation not in PROBABILITIES or len(model.outputs) > 1:
            continue
        for value in metrics_of(compiled):
            made = value.call if isinstance(value, Made) else None
            if made is None or meaning(made.name) != "keras.metrics.MeanIoU" or id(made.node) in done:
                continue
            if "sparse_y_pred" in made.keywords or made.spread:
                continue
            done.add(id(made.node))
            yield facts.finding(
                made,
                Fault.METRIC,
                Severity.HIGH,
                0.9,
                f"MeanIoU reads class numbers, and gets what {head.activation} gives: nearly all of it is cut to 0.",
                "Take BinaryIoU." if head.activation == SIGMOID.name else "Say sparse_y_pred=False.",
                _edits(facts, made, head),
            )


def _edits(facts: Facts, made: Call, head: Head) -> list[Edit]:
    if head.activation == SIGMOID.name:
        name = facts.spans.text(made.call_node.func)
        known = name.endswith("MeanIoU") and "." in name
        return [facts.spans.replace(made.call_node, f"{name[: -len('MeanIoU')]}BinaryIoU()")] if known else []
    return [facts.spans.add_argument(made.call_node, "sparse_y_pred=False")]


RULE = Rule(_run)
