"""A margin with the wrong sign.

Why: a loss with a margin counts what is nearer than it: `max(margin - distance, 0)`. With the sides turned, pairs beyond the margin are drawn
together, and those that are too near cost nothing.
Example: `K.square(K.maximum(distance - margin, 0))`.
Fix: `K.square(K.maximum(margin - distance, 0))`.
Source: Hadsell et al., "Dimensionality reduction by learning an invariant mapping" (2006); Schroff et al., "FaceNet" (2015).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.architecture.activations import RELU
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_LARGEST = ("maximum", "max", RELU.name)


def _run(facts: Facts) -> Iterator[Finding]:
    for call in facts.nodes(ast.Call):
        if ast.unparse(call.func).rpartition(".")[2] not in _LARGEST:
            continue
        bounded = ast.unparse(call.func).endswith(RELU.name) or any(_is_zero(one) for one in call.args)
        for given in call.args:
            if not bounded or not isinstance(given, ast.BinOp) or not isinstance(given.op, ast.Sub):
                continue
            if not _is_margin(given.right) or not isinstance(given.left, ast.Name | ast.Call | ast.Subscript):
                continue
            yield facts.finding(
                given.lineno,
                Fault.LOSS,
                Severity.HIGH,
                0.88,
                "The margin is taken away: what lies beyond it is drawn nearer, and what is too near costs nothing.",
                "Take the distance from the margin.",
                [facts.spans.replace(given, f"{facts.spans.text(given.right)} - {facts.spans.text(given.left)}")],
            )


def _is_zero(node: ast.expr) -> bool:
    return (isinstance(node, ast.Constant) and node.value == 0) or "zeros_like" in ast.unparse(node)


def _is_margin(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and "margin" in ast.unparse(node).lower()


RULE = Rule(_run)
