"""A function that is traced anew in each turn.

Why: `tf.function` makes a graph for each value of a Python number that it is called with. The number of an epoch or a step makes one graph for
each turn: each takes longer than the step, and all stay in memory.
Example: `for epoch in range(100): train_step(x, y, epoch)`.
Fix: give it a tensor, `tf.constant(epoch)`, or leave it out.
Source: tensorflow.org/guide/function ("Controlling retracing"); tensorflow.org/api_docs/python/tf/function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_COUNTS = ("range", "trange", "tqdm.trange")


def _run(facts: Facts) -> Iterator[Finding]:
    traced = {
        one.name
        for one in facts.nodes(ast.FunctionDef)
        if any(ast.unparse(mark).startswith(("tf.function", "tensorflow.function")) for mark in one.decorator_list)
        and not any(
            "reduce_retracing" in ast.unparse(mark) or "input_signature" in ast.unparse(mark)
            for mark in one.decorator_list
        )
    }
    done: set[int] = set()
    for loop in facts.nodes(ast.For):
        turn = _counted(loop)
        for call in ast.walk(loop) if turn and traced else ():
            if (
                not isinstance(call, ast.Call)
                or ast.unparse(call.func).removeprefix("self.") not in traced
                or id(call) in done
            ):
                continue
            given = next(
                (
                    one
                    for one in (*call.args, *(word.value for word in call.keywords))
                    if isinstance(one, ast.Name) and one.id == turn
                ),
                None,
            )
            if given is None:
                continue
            done.add(id(call))
            yield facts.finding(
                call.lineno,
                Fault.SPEED,
                Severity.MEDIUM,
                0.88,
                f"{turn} is another Python number in each turn, and {ast.unparse(call.func)[:60]} is traced anew for each.",
                "Give it a tensor.",
                [facts.spans.replace(given, f"tf.constant({turn})")]
                if any(use.bound == "tf" for use in facts.uses)
                else [],
            )


def _counted(loop: ast.For) -> str:
    """The name of the number that a loop counts; "" for other loops."""
    over = loop.iter
    if not isinstance(over, ast.Call):
        return ""
    if ast.unparse(over.func) in _COUNTS and isinstance(loop.target, ast.Name):
        return loop.target.id
    first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and loop.target.elts else None
    return first.id if ast.unparse(over.func) == "enumerate" and isinstance(first, ast.Name) else ""


RULE = Rule(_run)
