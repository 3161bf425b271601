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


def _run(facts: Facts) -> Iterator[Finding]:
    for function in ast.walk(facts.parsed.tree):
        if not isinstance(function, ast.FunctionDef) or not _NAMES.search(function.name):
            continue
        calls = [one for one in ast.walk(function) if isinstance(one, ast.Call)]
        if any("GradientTape" in ast.unparse(one.func) for one in calls):
            continue
        for call in calls:
            for word in call.keywords:
                if word.arg == "training" and isinstance(word.value, ast.Constant) and word.value.value is True:
                    yield facts.finding(
                        word.value.lineno,
                        Fault.VALIDATION,
                        Severity.MEDIUM,
                        0.88,
                        f"{function.name} calls the model with training=True: dropout stays on, and batch normalisation goes on changing.",
                        "Say training=False.",
                        [facts.spans.replace(word.value, "False")],
                    )


RULE = Rule(_run)
