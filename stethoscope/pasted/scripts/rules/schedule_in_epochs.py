"""A schedule of the learning rate that counts epochs where steps are counted.

Why: schedules are asked once for each batch. `decay_steps` of the number of epochs is over after as many batches, and the rest of the training
runs at the last rate, which is 0 with CosineDecay.
Example: `CosineDecay(1e-3, decay_steps=EPOCHS)` and `fit(…, epochs=EPOCHS)`.
Fix: epochs times the batches of an epoch.
Source: keras.io/api/optimizers/learning_rate_schedules
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call

_SCHEDULES = frozenset(
    f"keras.optimizers.{kind}"
    for kind in ("CosineDecay", "ExponentialDecay", "PolynomialDecay", "InverseTimeDecay", "CosineDecayRestarts")
)


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        if meaning(call.name) not in _SCHEDULES or id(call.node) in done or call.spread:
            continue
        steps = _written(call, "first_decay_steps" if call.name.endswith("Restarts") else "decay_steps", 1)
        for model in facts.models:
            fit = next((one for one in model.calls("fit") if _written(one, "epochs", 3) == steps), None)
            if fit is None or not steps:
                continue
            done.add(id(call.node))
            yield facts.finding(
                call,
                Fault.LEARNING_RATE,
                Severity.MEDIUM,
                0.88,
                f"decay_steps counts batches, and gets the number of epochs of fit (line {facts.source.where(fit.line).partition(':')[2]}): the rate has fallen before the first epoch is far.",
                "Multiply by the batches of an epoch.",
            )
            break


def _written(call: Call, name: str, place: int) -> str:
    """The name of what an argument is given, "" where it is no name."""
    node = next((one.value for one in call.call_node.keywords if one.arg == name), None)
    if node is None and place < len(call.call_node.args):
        node = call.call_node.args[place]
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


RULE = Rule(_run)
