"""Softmax or sigmoid twice: in front of a loss that applies it itself.

Why: losses of TensorFlow whose name ends in `with_logits` apply the activation themselves. Probabilities squeezed once more are nearly equal,
and little is learned.
Example: `tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=tf.nn.softmax(scores))`.
Fix: give the loss the scores.
Source: tensorflow.org/api_docs/python/tf/nn/softmax_cross_entropy_with_logits ("This op expects unscaled logits").
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import PROBABILITIES, SIGMOID, SOFTMAX
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, Value

_ACTIVATIONS = frozenset({SOFTMAX.name, SIGMOID.name})


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        last = call.name.rpartition(".")[2].removesuffix("_v2")
        if not call.name.startswith("tensorflow.") or not last.endswith("_with_logits") or id(call.node) in done:
            continue
        said = _activation(facts, call.argument("logits", 1))
        if not said:
            continue
        done.add(id(call.node))
        yield facts.finding(
            call,
            Fault.LOSS,
            Severity.HIGH,
            0.95,
            f"{last} applies its activation itself, and gets what {said} gives: it is applied twice.",
            "Give it the raw scores.",
        )


def _activation(facts: Facts, value: Value | None) -> str:
    if not isinstance(value, Made):
        return ""
    call = value.call
    last = call.name.rpartition(".")[2]
    if call.name.startswith(("tensorflow.", "keras.")) and last in _ACTIVATIONS:
        return last
    model = facts.model_of(call.function) if isinstance(call.function, Made) else None
    head = None if model is None else model.head
    return head.activation or "" if head is not None and head.activation in PROBABILITIES else ""


RULE = Rule(_run, same_as=frozenset({"from-logits"}))
