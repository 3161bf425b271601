"""Pretrained weights trained at full speed.

Why: steps as large as those of a new network undo in a few batches what the weights have learned before.
Example: `base.trainable = True` and `model.compile(optimizer=Adam(1e-2), …)` with `weights="imagenet"`.
Fix: 1e-5 to 1e-4.
Source: keras.io/guides/transfer_learning ("it's critical to … use a very low learning rate"); Howard & Ruder (ACL 2018).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Model
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, ancestors, is_const, number, text

_FAST = 0.005
_ADAPTIVE = frozenset(f"keras.optimizers.{name}" for name in ("Adam", "AdamW", "RMSprop", "Nadam", "Adamax"))


def _run(facts: Facts) -> Iterator[Finding]:
    bases = [
        model
        for model in facts.models
        if model.kind == "application" and text(model.call.argument("weights", 1)) == "imagenet"
    ]
    if len(bases) != 1:
        return
    base = bases[0]
    # Only where the script itself says that the base is to be trained: layers may be frozen one by one.
    freed = [one for one in facts.assignments if one.attribute == "trainable" and _of(base, one.target)]
    done: set[int] = set()
    for _, call, _, _ in facts.compiles():
        optimizer = call.argument("optimizer", 0)
        made = optimizer.call if isinstance(optimizer, Made) else None
        rate = None if made is None else number(made.argument("learning_rate", 0))
        before = [one for one in freed if one.order < call.order]
        if made is None or meaning(made.name) not in _ADAPTIVE or rate is None or rate < _FAST or not before:
            continue
        if is_const(before[-1].value, True) and id(call.node) not in done and not before[-1].loops:
            done.add(id(call.node))
            yield facts.finding(
                call,
                Fault.LEARNING_RATE,
                Severity.MEDIUM,
                0.85,
                f"A learning rate of {rate:g} with pretrained weights that are trained (line {facts.source.where(before[-1].line).rpartition(':')[2]}): they are soon forgotten.",
                "Begin with 1e-5.",
            )


def _of(base: Model, target: object) -> bool:
    return isinstance(target, Made) and any(
        isinstance(one, Made) and one.call is base.call for one in ancestors(target)
    )


RULE = Rule(_run)
