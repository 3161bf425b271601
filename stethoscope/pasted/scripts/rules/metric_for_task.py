"""A metric that says nothing about this task.

Why: accuracy counts predictions that are equal to their target. Numbers are never equal, so it is 0 whatever is learned.
Example: `model.compile(loss="mse", metrics=["accuracy"])` for prices.
Fix: `mae`, or `RootMeanSquaredError`.
Source: stackoverflow.com/questions/45632549; NeuraLint (TOSEM 2021).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stethoscope.architecture.activations import LINEAR, RELU
from stethoscope.architecture.losses import REGRESSION_LOSSES
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import metrics_of
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Function, text

_DISTANCES = re.compile(r"contrastive|triplet", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    for model in facts.models:
        for call in model.compiled:
            yield from _of_distance(facts, call)
    for model, call, head, loss in facts.compiles():
        names = [text(value) for value in metrics_of(call)]
        if (
            loss is None
            or loss.name not in REGRESSION_LOSSES
            or head is None
            or len(model.outputs) > 1
            or head.activation not in (LINEAR.name, RELU.name)
        ):
            continue
        if head.units == 1 and any(name in ("accuracy", "acc") for name in names):
            node = next((one.value for one in call.call_node.keywords if one.arg == "metrics"), None)
            edits = []
            if node is not None and len(names) == 1 and facts.spans.text(node).strip("[]'\" ") in ("accuracy", "acc"):
                edits = [facts.spans.replace(node, '["mae"]')]
            yield facts.finding(
                call if node is None else node.lineno,
                Fault.METRIC,
                Severity.MEDIUM,
                0.9,
                f"accuracy beside {loss.name}: a number is never exactly its target, so it stays 0 whatever is learned.",
                "Measure mae.",
                edits,
            )


def _of_distance(facts: Facts, call: Call) -> Iterator[Finding]:
    """accuracy beside a loss over distances: the nearer two are, the more it takes them for different."""
    loss = call.argument("loss", 1)
    name = loss.name if isinstance(loss, Function) else ""
    names = [text(value) for value in metrics_of(call)]
    if not _DISTANCES.search(name) or not any(one in ("accuracy", "acc") for one in names):
        return
    node = next((one.value for one in call.call_node.keywords if one.arg == "metrics"), None)
    yield facts.finding(
        call if node is None else node.lineno,
        Fault.METRIC,
        Severity.MEDIUM,
        0.85,
        f"accuracy beside {name}: the output is a distance, small for equal pairs, and is taken for the chance of a 1.",
        "Measure how often the distance is below a threshold.",
    )


RULE = Rule(_run, same_as=frozenset({"metric-for-task"}))
