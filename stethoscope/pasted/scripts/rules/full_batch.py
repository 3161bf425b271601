"""One step in an epoch.

Why: a batch that holds all rows gives one step of the optimizer for each pass over the data: few steps, and each costs the memory of all.
Example: `model.fit(x, y, batch_size=len(x), epochs=10)`.
Fix: 32 to 256 rows.
Source: Goodfellow et al., "Deep Learning" (2016), 8.1.3; Cao et al., "Understanding Performance Problems in Deep Learning Systems" (FSE 2022).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Attribute, Element, Made, number

_FEW = 200


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        for call in model.calls("fit"):
            size = call.argument("batch_size", 2)
            rows = isinstance(size, Made) and size.call.name == "len" and bool(size.call.args)
            shape = isinstance(size, Element) and isinstance(size.of, Attribute) and size.of.name == "shape"
            epochs = number(call.argument("epochs", 3))
            # A single pass is a step of something else, as in a replay of what was met.
            once = call.argument("epochs", 3) is None or epochs == 1
            if id(call.node) in done or not (rows or shape) or once or (epochs or 0) > _FEW:
                continue
            done.add(id(call.node))
            yield facts.finding(
                call,
                Fault.EPOCHS,
                Severity.LOW,
                0.8,
                "One batch holds all rows: each epoch is a single step of the optimizer.",
                "Take batches of 32 to 256 rows.",
            )


RULE = Rule(_run)
