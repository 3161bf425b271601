"""A gradient that the tape cannot give.

Why: a tape is empty after its first `gradient`, unless it is persistent: RuntimeError. It records variables alone; for a constant it has to
be told by `watch`, or the gradient is None.
Example: `tape.gradient(loss, a)` and `tape.gradient(loss, b)`; `x = tf.constant(3.0)` and `tape.gradient(y, x)` without `tape.watch(x)`.
Fix: `tf.GradientTape(persistent=True)`, or one call for both; `tape.watch(x)`.
Source: tensorflow.org/guide/autodiff ("Controlling what the tape watches", "Intermediate results"); raised by TensorFlow 2.21.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made


def _run(facts: Facts) -> Iterator[Finding]:
    for node in ast.walk(facts.parsed.tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            yield from _twice(facts, body)
    yield from _constants(facts)


def _twice(facts: Facts, body: list[ast.stmt]) -> Iterator[Finding]:
    open_: dict[str, tuple[ast.Call, bool]] = {}
    for statement in body:
        if isinstance(statement, ast.With):
            for item in statement.items:
                made, name = item.context_expr, item.optional_vars
                if (
                    isinstance(name, ast.Name)
                    and isinstance(made, ast.Call)
                    and "GradientTape" in ast.unparse(made.func)
                ):
                    open_.pop(name.id, None)
                    if not made.args and not made.keywords:
                        open_[name.id] = (made, False)
            continue
        if not isinstance(statement, ast.Assign | ast.Expr | ast.Return) or statement.value is None:
            continue
        for one in ast.walk(statement.value):
            if not isinstance(one, ast.Call) or not isinstance(one.func, ast.Attribute):
                continue
            tape = ast.unparse(one.func.value)
            if one.func.attr not in ("gradient", "jacobian") or tape not in open_:
                continue
            opened, used = open_[tape]
            open_[tape] = (opened, True)
            if used:
                del open_[tape]
                yield facts.finding(
                    one.lineno,
                    Fault.OPTIMIZER,
                    Severity.HIGH,
                    0.93,
                    "The tape has been emptied by its first gradient: RuntimeError.",
                    "Make it persistent.",
                    [facts.spans.add_argument(opened, "persistent=True")],
                )


def _constants(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.methods("gradient", "jacobian"):
        to = call.args[1] if len(call.args) > 1 else None
        tape = call.receiver
        if not isinstance(to, Made) or meaning(to.call.name) != "tensorflow.constant" or not isinstance(tape, Made):
            continue
        watched = any(one.method == "watch" and one.receiver is tape for one in facts.calls)
        if meaning(tape.call.name) == "tensorflow.GradientTape" and not watched and id(call.node) not in done:
            done.add(id(call.node))
            yield facts.finding(
                call,
                Fault.OPTIMIZER,
                Severity.MEDIUM,
                0.9,
                "The tape does not record constants unless it watches them: the gradient is None.",
                "Call watch within the tape's block, or make it a tf.Variable.",
            )


RULE = Rule(_run)
