"""Probabilities are given where their logarithms are read.

Why: `tf.random.categorical` reads logits. Probabilities from 0 to 1 taken for logits are nearly equal: every choice is made about as often.
Example: `tf.random.categorical(probs, 1)` behind a softmax.
Fix: `tf.random.categorical(tf.math.log(probs), 1)`.
Source: tensorflow.org/api_docs/python/tf/random/categorical (logits: unnormalized log-probabilities).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.architecture.activations import SOFTMAX
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, Value

_DRAWS = frozenset({"tensorflow.random.categorical", "tensorflow.multinomial", "tensorflow.random.multinomial"})
_PROBABILITIES = re.compile(r"^(?:\w+_)?prob(?:s|abilities|ability)?$", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        if call.name not in _DRAWS or id(call.node) in done or not call.call_node.args:
            continue
        node = call.call_node.args[0]
        certain = _is_softmax(facts, call.argument("logits", 0))
        named = isinstance(node, ast.Name) and _PROBABILITIES.match(node.id) is not None and not _logged(facts, node.id)
        if not certain and not named:
            continue
        done.add(id(call.node))
        root = facts.spans.text(call.call_node.func).partition(".")[0]
        yield facts.finding(
            call,
            Fault.ACTIVATION,
            Severity.HIGH if certain else Severity.MEDIUM,
            0.92 if certain else 0.8,
            "categorical reads logits, and gets probabilities: taken for logits they are nearly equal, and so is what is drawn.",
            "Give it their logarithm.",
            [facts.spans.replace(node, f"{root}.math.log({facts.spans.text(node)})")]
            if root in ("tf", "tensorflow")
            else [],
        )


def _is_softmax(facts: Facts, value: Value | None) -> bool:
    if not isinstance(value, Made):
        return False
    if value.call.name in (
        "tensorflow.nn.softmax",
        "tensorflow.keras.activations.softmax",
        "keras.activations.softmax",
    ):
        return True
    model = facts.model_of(value.call.function) if isinstance(value.call.function, Made) else None
    if value.call.method == "predict":
        model = facts.model_of(value.call.receiver)
    head = None if model is None else model.head
    return head is not None and head.activation == SOFTMAX.name


def _logged(facts: Facts, name: str) -> bool:
    """Whether the name is given a logarithm somewhere."""
    return any(
        "log" in ast.unparse(node.value).lower()
        for node in facts.nodes(ast.Assign)
        if any(ast.unparse(one) == name for one in node.targets)
    )


RULE = Rule(_run)
