"""Two inputs are given the same column.

Why: a model with two inputs compares them. Given one column twice, it compares each row with itself.
Example: `model.fit([pairs[:, 0], pairs[:, 0]], y)`.
Fix: `model.fit([pairs[:, 0], pairs[:, 1]], y)`.
Source: keras.io/examples/vision/siamese_contrastive; Humbatova et al. (ICSE 2020): wrong input data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_READS = ("fit", "evaluate", "predict", "train_on_batch")


def _run(facts: Facts) -> Iterator[Finding]:
    for call in facts.nodes(ast.Call):
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _READS or not call.args:
            continue
        given = call.args[0]
        if not isinstance(given, ast.List | ast.Tuple) or len(given.elts) != 2:
            continue
        first, second = given.elts
        columns = [
            one
            for one in given.elts
            if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Tuple | ast.Constant)
        ]
        if len(columns) == 2 and ast.dump(first) == ast.dump(second):
            yield facts.finding(
                second.lineno,
                Fault.DATA,
                Severity.HIGH,
                0.85,
                f"Both inputs are {facts.spans.text(first)[:60]}: each row is held against itself.",
                "Give the second input its own column.",
            )


RULE = Rule(_run)
