"""A share of dropout that leaves hardly anything.

Why: Keras takes the share that is dropped; TensorFlow 1 took the share that is kept (`keep_prob`). 0.8 or more of a layer dropped leaves
too little to learn from.
Example: `Dropout(keep_prob)`; `Dropout(0.9)`.
Fix: `Dropout(1 - keep_prob)`; 0.2 to 0.5 is usual.
Source: keras.io/api/layers/regularization_layers/dropout ("fraction of the input units to drop"); Srivastava et al. (JMLR 2014);
tensorflow.org/guide/migrate (keep_prob and rate).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import number

_LAYERS = frozenset(f"keras.layers.{name}" for name in ("Dropout", "SpatialDropout1D", "SpatialDropout2D"))
_MUCH = 0.8


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        if meaning(call.name) not in _LAYERS or id(call.node) in done:
            continue
        rate = number(call.argument("rate", 0))
        node = next(
            (one.value for one in call.call_node.keywords if one.arg == "rate"), next(iter(call.call_node.args), None)
        )
        written = "" if node is None else facts.spans.text(node).lower()
        kept = "keep" in written and "-" not in written
        if node is None or not (kept or (rate is not None and rate >= _MUCH and rate != 1)):
            continue
        done.add(id(call.node))
        if rate is not None and rate > 1 and not kept:
            yield facts.finding(
                call,
                Fault.REGULARISATION,
                Severity.CRITICAL,
                0.97,
                f"Dropout takes a share from 0 to 1, and gets {rate:g}: ValueError.",
                "Give it a share." if rate > 100 else f"Give it the share: {rate / 100:g}.",
                [facts.spans.replace(node, f"{rate / 100:g}")] if rate < 100 else [],
            )
            continue
        yield facts.finding(
            call,
            Fault.REGULARISATION,
            Severity.HIGH if kept else Severity.MEDIUM,
            0.85 if kept else 0.75,
            f"Dropout takes the share that is dropped, and gets {written[:40]}{f', {rate:g}' if rate is not None and kept else ''}: "
            + ("that is named after the share that is kept." if kept else "little is left to learn from."),
            "Give it the share to drop." if kept else "Begin with 0.2 to 0.5.",
            [facts.spans.replace(node, f"1 - {facts.spans.text(node)}")] if kept else [],
        )


RULE = Rule(_run, same_as=frozenset({"dropout-rate"}))
