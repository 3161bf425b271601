"""A loss of one's own that takes the logarithm of a probability that may be 0.

Why: the logarithm of 0 is minus infinity and its gradient is not a number; one such row ends the training. A softmax or sigmoid that is sure
gives 0 or 1 exactly.
Example: `-tf.reduce_mean(y_true * tf.math.log(y_pred))`.
Fix: `tf.math.log(y_pred + 1e-7)`, or the loss of Keras with from_logits=True.
Source: Keras keeps probabilities 1e-7 away from 0 and 1 (keras.config.epsilon); stackoverflow.com/questions/33712178
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_KEEP = ("clip", "maximum", "epsilon", "eps", "1e-", "softplus", "exp(", "logsumexp", "log_softmax", "cosh")
_LOGS = ("tf.math.log", "tf.log", "K.log", "keras.ops.log", "ops.log", "tf.keras.backend.log")


def _run(facts: Facts) -> Iterator[Finding]:
    if not facts.uses_keras:
        return
    for function in ast.walk(facts.parsed.tree):
        if not isinstance(function, ast.FunctionDef) or not {"y_true", "y_pred"} <= {
            one.arg for one in function.args.args
        }:
            continue
        written = ast.unparse(function)
        if any(word in written for word in _KEEP):
            continue
        for call in ast.walk(function):
            if not isinstance(call, ast.Call) or ast.unparse(call.func) not in _LOGS or len(call.args) != 1:
                continue
            inside = {one.id for one in ast.walk(call.args[0]) if isinstance(one, ast.Name)}
            if "y_pred" not in inside | _made_of(function, inside) or isinstance(call.args[0], ast.Call):
                continue
            yield facts.finding(
                call.lineno,
                Fault.NUMERICAL,
                Severity.MEDIUM,
                0.8,
                "Where a prediction is 0 or 1 exactly this is the logarithm of 0: the loss is infinite and its gradient not a number.",
                "Keep it away from 0.",
                [facts.spans.replace(call.args[0], f"{facts.spans.text(call.args[0])} + 1e-7")],
            )


def _made_of(function: ast.FunctionDef, names: set[str]) -> set[str]:
    """What the variables of a function are made of, one step back."""
    return {
        inner.id
        for one in function.body
        if isinstance(one, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id in names for target in one.targets)
        for inner in ast.walk(one.value)
        if isinstance(inner, ast.Name)
    }


RULE = Rule(_run)
