"""The loss taken for the accuracy.

Why: `evaluate` gives the loss first, then the metrics in their order. With the names turned round the loss is reported as accuracy.
Example: `accuracy, loss = model.evaluate(x_test, y_test)`.
Fix: `loss, accuracy = model.evaluate(…)`, or `return_dict=True`.
Source: keras.io/api/models/model_training_apis (evaluate).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_METRICS = ("acc", "auc", "precision", "recall", "f1")


def _run(facts: Facts) -> Iterator[Finding]:
    for node in ast.walk(facts.parsed.tree):
        if (
            not isinstance(node, ast.Assign)
            or not isinstance(node.value, ast.Call)
            or not isinstance(node.value.func, ast.Attribute)
        ):
            continue
        target = node.targets[0]
        if node.value.func.attr != "evaluate" or not isinstance(target, ast.Tuple) or len(target.elts) < 2:
            continue
        names = [facts.spans.text(one).lower() for one in target.elts]
        wrong = (
            any(word in names[0] for word in _METRICS)
            and "loss" not in names[0]
            and any("loss" in name for name in names[1:])
        )
        if wrong and len(target.elts) == 2:
            first, second = (facts.spans.text(one) for one in target.elts)
            yield facts.finding(
                node.lineno,
                Fault.METRIC,
                Severity.HIGH,
                0.95,
                f"evaluate gives the loss first: {first} gets the loss, and {second} the metric.",
                "Turn the two round.",
                [facts.spans.replace(target.elts[0], second), facts.spans.replace(target.elts[1], first)],
            )


RULE = Rule(_run)
