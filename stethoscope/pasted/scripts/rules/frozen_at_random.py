"""A network frozen at weights that nobody trained.

Why: `weights=None` gives random weights. Frozen, they stay so, and what is put on top learns from noise.
Example: `base = ResNet50(include_top=False, weights=None)`, `base.trainable = False`.
Fix: `weights="imagenet"`, or let it train.
Source: keras.io/api/applications; keras.io/guides/transfer_learning
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import is_const


def _run(facts: Facts) -> Iterator[Finding]:
    if facts.legacy and not facts.models:
        return
    for model in facts.models:
        if model.kind != "application" or not is_const(model.call.argument("weights", 1), None):
            continue
        if model.calls("load_weights") or any(one.method in ("set_weights", "restore") for one in facts.calls):
            continue
        set_to = [one for one in model.set if one.attribute == "trainable"]
        if not set_to or not all(is_const(one.value, False) for one in set_to) or set_to[0].maybe:
            continue
        node = next((one.value for one in model.call.call_node.keywords if one.arg == "weights"), None)
        yield facts.finding(
            set_to[0],
            Fault.ARCHITECTURE,
            Severity.HIGH,
            0.93,
            f"The network has random weights (weights=None, line {facts.source.where(model.call.line).partition(':')[2]}) and is frozen at them.",
            "Take the weights of ImageNet.",
            [] if node is None else [facts.spans.replace(node, '"imagenet"')],
        )


RULE = Rule(_run)
