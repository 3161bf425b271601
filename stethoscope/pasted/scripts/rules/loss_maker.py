"""The maker of a loss given where the loss is wanted.

Why: Keras calls the loss with labels and predictions. A function that makes a loss takes them for its settings and gives a function back,
which is no number.
Example: `def focal(gamma=2.0): def loss(y_true, y_pred): …; return loss` and `compile(loss=focal)`.
Fix: `compile(loss=focal())`.
Source: keras.io/api/losses (creating custom losses); stackoverflow.com/questions/45961428
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Function, Items, Value


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        for call in model.compiled:
            loss = call.argument("loss", 1)
            if id(call.node) in done or not _makes(loss):
                continue
            done.add(id(call.node))
            node = next((one.value for one in call.call_node.keywords if one.arg == "loss"), None)
            assert isinstance(loss, Function)
            settled = len(loss.node.args.defaults) == len(loss.node.args.args)
            yield facts.finding(
                call if node is None else node.lineno,
                Fault.LOSS,
                Severity.HIGH,
                0.95,
                f"{loss.name} makes a loss, and is none: called with labels and predictions it gives a function back.",
                "Call it.",
                [facts.spans.replace(node, f"{facts.spans.text(node)}()")] if node is not None and settled else [],
            )


def _makes(value: Value | None) -> bool:
    """Whether it is a function whose returns are all functions of two arguments within it."""
    if isinstance(value, Items) or not isinstance(value, Function) or isinstance(value.node, ast.Lambda):
        return False
    inner = {
        one.name: one
        for one in value.node.body
        if isinstance(one, ast.FunctionDef) and len(one.args.args) == 2 and not one.decorator_list
    }
    ends = [one.value for one in value.node.body if isinstance(one, ast.Return)]
    return bool(ends) and all(isinstance(end, ast.Name) and end.id in inner for end in ends)


RULE = Rule(_run)
