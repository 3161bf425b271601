"""Weights are read into a model that has none yet.

Why: a model of one's own class makes its weights when it first sees an input. Before that there is nothing to put them into: Keras 3 raises
ValueError.
Example: `model = Net()` and `model.load_weights("net.weights.h5")`.
Fix: call it once first: `model(tf.zeros((1, 28, 28, 1)))`, or `model.build((None, 28, 28, 1))`.
Source: keras.io/guides/serialization_and_saving ("must be built"); raised by Keras 3.15.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Class, Made

_BUILDS = ("build", "fit", "predict", "evaluate", "train_on_batch", "predict_on_batch", "summary", "test_on_batch")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        kind = model.call.function
        if model.kind != "subclass" or not isinstance(kind, Class) or _builds_itself(kind):
            continue
        seen = [one.order for one in model.calls(*_BUILDS)]
        seen += [one.order for one in facts.calls if isinstance(one.function, Made) and one.function.call is model.call]
        seen += [
            one.order
            for one in facts.calls
            for value in (*one.args, *one.keywords.values())
            if isinstance(value, Made) and value.call is model.call
        ]
        for call in model.calls("load_weights"):
            if id(call.node) in done or any(order < call.order for order in seen) or not call.reached:
                continue
            done.add(id(call.node))
            yield facts.finding(
                call,
                Fault.DEPLOYMENT,
                Severity.HIGH,
                0.88,
                "The model has seen no input yet, and has no weights to read into.",
                "Call it once, or call build with the shape of a batch.",
            )


def _builds_itself(kind: Class) -> bool:
    """Whether `__init__` makes its weights: it calls build, or knows its input."""
    made = kind.methods.get("__init__")
    written = "" if made is None else ast.unparse(made.node)
    return made is None or "build(" in written or "Input(" in written


RULE = Rule(_run)
