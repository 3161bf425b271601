"""Weights of several layers that start at 0.

Why: with two layers of zeros nothing reaches the first one, and units that start equal stay equal: the network learns its last bias and no
more.
Example: `w1 = tf.Variable(tf.zeros([784, 256]))`, `w2 = tf.Variable(tf.zeros([256, 10]))`.
Fix: `tf.Variable(tf.random.normal([784, 256], stddev=0.05))`; zeros are right for biases.
Source: Glorot & Bengio, "Understanding the difficulty of training deep feedforward neural networks" (2010); stackoverflow.com/questions/20027598.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Items, Made, number

_VARIABLES = ("tensorflow.Variable", "tensorflow.compat.v1.Variable")
_EQUAL = ("tensorflow.zeros", "tensorflow.ones", "tensorflow.compat.v1.zeros", "tensorflow.compat.v1.ones")


def _run(facts: Facts) -> Iterator[Finding]:
    found: dict[int, tuple[Call, Made]] = {}
    for call in facts.calls:
        start = call.argument("initial_value", 0) if call.name in _VARIABLES else None
        if isinstance(start, Made) and start.call.name in _EQUAL and _is_matrix(start.call):
            found.setdefault(id(call.node), (call, start))
    if len(found) < 2 or "matmul" not in facts.source.text:
        return
    call, start = next(iter(found.values()))
    yield facts.finding(
        call,
        Fault.INITIALISATION,
        Severity.HIGH,
        0.9,
        f"The weights of {len(found)} layers start equal: their units stay equal to each other, and the first layer learns nothing.",
        "Start them at random.",
        [facts.spans.replace(one.call.call_node.func, _drawn(facts, one.call)) for _, one in found.values()],
    )


def _drawn(facts: Facts, call: Call) -> str:
    written = facts.spans.text(call.call_node.func)
    return f"{written.rpartition('.')[0]}.random.normal"


def _is_matrix(call: Call) -> bool:
    shape = call.argument("shape", 0)
    return isinstance(shape, Items) and len(shape.items) > 1 and not any(number(one) == 1 for one in shape.items)


RULE = Rule(_run, same_as=frozenset({"constant-initialisation"}))
