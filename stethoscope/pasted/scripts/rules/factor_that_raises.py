"""A callback that should lower the learning rate and raises it.

Why: ReduceLROnPlateau multiplies the rate by its factor. A factor of 1 or more lowers nothing: Keras raises ValueError.
Example: `ReduceLROnPlateau(monitor="val_loss", factor=10, patience=3)`.
Fix: a factor between 0 and 1: `factor=0.1`.
Source: keras.io/api/callbacks/reduce_lr_on_plateau; raised by Keras 3.15 ("does not support a factor >= 1.0").
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import number


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.named("keras.callbacks.ReduceLROnPlateau"):
        factor = number(call.argument("factor", 1))
        if factor is None or factor < 1 or id(call.node) in done:
            continue
        done.add(id(call.node))
        node = next((one.value for one in call.call_node.keywords if one.arg == "factor"), None)
        known = node is not None and factor > 1
        yield facts.finding(
            call if node is None else node.lineno,
            Fault.LEARNING_RATE,
            Severity.HIGH,
            0.97,
            f"The learning rate is multiplied by {factor:g}, which lowers nothing: Keras raises ValueError.",
            "Take a factor between 0 and 1.",
            [facts.spans.replace(node, f"{1 / factor:.2g}")] if node is not None and known else [],
        )


RULE = Rule(_run)
