"""Validation in the way of training.

Why: with `training=True` dropout stays on, and batch normalisation takes the numbers of the batch and changes its own: the score is
another one each time, and the model is changed by the test rows.
Example: `def test_step(x, y): predictions = model(x, training=True)`.
Fix: `training=False`.
Source: keras.io/guides/writing_a_custom_training_loop_in_tensorflow (validation loop); tensorflow.org/tutorials/quickstart/advanced.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_NAMES = re.compile(
    r"^_?(?:test|val|valid|validation|eval|evaluate|evaluation|predict|inference)(?:_step|_batch|_fn|_one_step|_epoch)?$"
)


_ROWS = re.compile(r"(?:^|_)(?:test|val|valid|validation|eval)(?:_|$)")


_WANTED = re.compile(r"monte|mc_?drop|uncertain|bayes", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    for function in facts.nodes(ast.FunctionDef):
        if _NAMES.search(function.name):
            yield from _within(facts, function, f"{function.name} calls the model")
    if not _WANTED.search(facts.source.text):
        for kind in facts.nodes(ast.ClassDef):
            if any(ast.unparse(base).rpartition(".")[2] in ("Model", "Layer") for base in kind.bases):
                for one in kind.body:
                    if isinstance(one, ast.FunctionDef) and one.name == "call":
                        yield from _within(facts, one, f"{kind.name} always calls a layer")
    for loop in facts.nodes(ast.For):
        over = {one.id for one in ast.walk(loop.iter) if isinstance(one, ast.Name)}
        if any(_ROWS.search(name) for name in over) and not any("train" in name for name in over):
            yield from _within(facts, loop, "The model is called, for rows that are only judged,")


def _within(facts: Facts, node: ast.FunctionDef | ast.For, what: str) -> Iterator[Finding]:
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    if any("GradientTape" in ast.unparse(one.func) for one in calls):
        return
    for call in calls:
        if "augment" in ast.unparse(call.func):
            continue  # shown, not judged
        for word in call.keywords:
            if word.arg == "training" and isinstance(word.value, ast.Constant) and word.value.value is True:
                yield facts.finding(
                    word.value.lineno,
                    Fault.VALIDATION,
                    Severity.MEDIUM,
                    0.88,
                    f"{what} with training=True: dropout stays on, and batch normalisation goes on changing.",
                    "Say training=False.",
                    [facts.spans.replace(word.value, "False")],
                )


RULE = Rule(_run)
