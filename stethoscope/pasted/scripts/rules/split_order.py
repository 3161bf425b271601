"""Parts of a split taken in another order than they come.

Why: `train_test_split(X, y)` gives X_train, X_test, y_train, y_test. Taken otherwise, rows are called labels.
Example: `X_train, y_train, X_test, y_test = train_test_split(X, y)`.
Fix: `X_train, X_test, y_train, y_test = …`.
Source: scikit-learn.org/stable/modules/generated/sklearn.model_selection.train_test_split; stackoverflow.com/questions/33833818
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule


def _run(facts: Facts) -> Iterator[Finding]:
    for node in ast.walk(facts.parsed.tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1):
            continue
        target, function = node.targets[0], node.value.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name != "train_test_split" or not isinstance(target, ast.Tuple) or len(node.value.args) != 2:
            continue
        names = [one.id.lower() if isinstance(one, ast.Name) else "" for one in target.elts]
        if len(names) != 4 or not all(names):
            continue
        a, b, c, d = names
        if a[0] == c[0] == "x" and b[0] == d[0] == "y" and "train" in a and "train" in b:
            rows = [facts.spans.text(one) for one in target.elts]
            yield facts.finding(
                node.lineno,
                Fault.LABELS,
                Severity.CRITICAL,
                0.97,
                f"train_test_split gives both parts of the rows first: {rows[1]} gets the rows of the test, and {rows[2]} the labels of the training.",
                "Take them in the order in which they come.",
                [facts.spans.replace(target.elts[1], rows[2]), facts.spans.replace(target.elts[2], rows[1])],
            )


RULE = Rule(_run)
