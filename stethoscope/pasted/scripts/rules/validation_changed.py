"""Random changes of the pictures that a model is judged by.

Why: what is turned, cut and brightened at random differs each time: the score of the validation jumps by itself, and is not that of the
pictures the model will meet.
Example: `val_ds = val_ds.map(augment)` with `tf.image.random_flip_left_right` in `augment`.
Fix: random changes for the training only.
Source: tensorflow.org/tutorials/images/data_augmentation (only the training set is augmented)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import of_pipeline
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Function, Value


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        for call in model.calls("fit", "evaluate"):
            judged = call.argument("validation_data") if call.method == "fit" else call.argument("x", 0)
            for step in of_pipeline(judged).pipeline:
                if step.method != "map" or id(step.node) in done or not step.args or not _random(step.args[0]):
                    continue
                done.add(id(step.node))
                function = step.call_node.func
                whole = isinstance(function, ast.Attribute) and function.end_lineno == step.call_node.end_lineno
                yield facts.finding(
                    step,
                    Fault.VALIDATION,
                    Severity.MEDIUM,
                    0.88,
                    "The rows that the model is judged by are changed at random, each time anew.",
                    "Change the training alone.",
                    [facts.spans.replace(step.call_node, facts.spans.text(function.value))]
                    if isinstance(function, ast.Attribute) and whole and len(_statements(step.args[0])) > 0
                    else [],
                )


def _random(value: Value) -> bool:
    """Whether a function of the script does nothing but change pictures at random, and always."""
    return (
        bool(_statements(value))
        and all(
            isinstance(one, ast.Return)
            or "tf.image.random_" in ast.unparse(one)
            or "tf.image.stateless_random_" in ast.unparse(one)
            for one in _statements(value)
        )
        and any("tf.image." in ast.unparse(one) for one in _statements(value))
    )


def _statements(value: Value) -> list[ast.stmt]:
    if not isinstance(value, Function) or isinstance(value.node, ast.Lambda):
        return []
    return [one for one in value.node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]


RULE = Rule(_run)
