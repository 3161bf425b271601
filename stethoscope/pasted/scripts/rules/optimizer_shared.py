"""One optimizer for the variables of two models.

Why: an optimizer of Keras 3 keeps a state for the variables that it was first given, and raises ValueError for others: "Unknown variable".
Example: `optimizer.apply_gradients(zip(g, generator.trainable_variables))`, then the same optimizer for `discriminator.trainable_variables`.
Fix: an optimizer for each model.
Source: raised by Keras 3.15; tensorflow.org/tutorials/generative/dcgan (two optimizers)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made


def _run(facts: Facts) -> Iterator[Finding]:
    if facts.legacy or any(call.method == "build" and call.args for call in facts.calls):
        return
    first: dict[int, tuple[Call, str]] = {}
    done: set[int] = set()
    for call in facts.methods("apply_gradients", "apply"):
        if (
            not isinstance(call.receiver, Made)
            or "optimizers" not in call.receiver.call.name
            or call.receiver.call.loops
        ):
            continue
        of = _variables(call)
        if not of:
            continue
        before = first.setdefault(id(call.receiver.call), (call, of))
        if before[1] == of or before[0].within != call.within or id(call.node) in done:
            continue
        done.add(id(call.node))
        yield facts.finding(
            call,
            Fault.OPTIMIZER,
            Severity.HIGH,
            0.92,
            f"This optimizer has been given the variables of {before[1]} (line {facts.source.where(before[0].line).partition(':')[2]}): those of {of} are unknown to it, and Keras 3 raises ValueError.",
            "Make an optimizer for each model.",
        )


def _variables(call: Call) -> str:
    """Whose variables they are, as `zip(gradients, model.trainable_variables)` says it."""
    given = call.call_node.args[:1]
    if not given or not isinstance(given[0], ast.Call) or len(given[0].args) != 2:
        return ""
    last = given[0].args[1]
    whole = isinstance(last, ast.Attribute) and last.attr in ("trainable_variables", "trainable_weights")
    return ast.unparse(last.value) if whole and isinstance(last, ast.Attribute) else ""


RULE = Rule(_run)
