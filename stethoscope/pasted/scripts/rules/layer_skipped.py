"""A layer whose output nothing reads.

Why: each layer of a functional model reads what it is called with. Called with the input once more, a layer takes the place of the one
before it, which is no part of the model then.
Example: `h = Dense(64)(inputs)` and below it `h = Dense(64)(inputs)` instead of `(h)`.
Fix: call it with the output of the layer before.
Source: keras.io/guides/functional_api; Humbatova et al. (ICSE 2020): missing or redundant layer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule


def _run(facts: Facts) -> Iterator[Finding]:
    if not facts.uses_keras:
        return
    for node in ast.walk(facts.parsed.tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for first, second in pairwise(body):
            name = _layer_output(first)
            if name and name == _layer_output(second) and not _reads(second, name) and not _branched(first, second):
                yield facts.finding(
                    second.lineno,
                    Fault.ARCHITECTURE,
                    Severity.HIGH,
                    0.88,
                    f"{name} of line {facts.source.where(first.lineno).rpartition(':')[2]} is put away here before anything has read it: that layer is no part of the model.",
                    f"Call this layer with {name}.",
                )


def _layer_output(node: ast.stmt) -> str:
    """The name that `name = Layer(…)(…)` gives a value; "" for other statements."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return ""
    value = node.value
    made = value.func if isinstance(value, ast.Call) else None
    kind = ast.unparse(made.func).rpartition(".")[2] if isinstance(made, ast.Call) else ""
    return node.targets[0].id if kind[:1].isupper() else ""


def _reads(node: ast.stmt, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load) for one in ast.walk(node))


def _branched(first: ast.stmt, second: ast.stmt) -> bool:
    """Whether both stand in other cells or far apart, as alternatives of a lecture do."""
    return second.lineno - (first.end_lineno or first.lineno) > 1


RULE = Rule(_run)
