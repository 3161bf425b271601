"""Layers frozen or freed after the model has been compiled and trained.

Why: the step that trains is made at the first `fit` after `compile`, with the variables that are trainable then. `trainable` changed
later does nothing until the model is compiled again; measured on Keras 3.15: frozen layers went on changing.
Example: `model.fit(...)`, `base.trainable = True`, `model.fit(...)` without a `compile` between them.
Fix: compile again after the change, with a smaller learning rate when layers are freed.
Source: keras.io/guides/transfer_learning ("calling compile() after changing trainable"); measured on Keras 3.15.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Model, tensor_layers
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Const, Made, Value, ancestors


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        fits = [call for call in model.calls("fit") if call.reached]
        if len(fits) < 2 or model.kind == "subclass":
            continue
        for assigned in facts.assignments:
            if (
                assigned.attribute != "trainable"
                or not isinstance(assigned.value, Const)
                or not _of(facts, model, assigned.target)
                or id(assigned.node) in done
            ):
                continue
            before = [call for call in fits if call.order < assigned.order]
            after = [call for call in fits if call.order > assigned.order]
            if not before or not after or assigned.within != fits[0].within:
                continue
            if any(assigned.order < call.order < after[0].order for call in facts.calls if call.method == "compile"):
                continue
            if not any(call.order < before[-1].order for call in model.compiled):
                continue
            done.add(id(assigned.node))
            yield facts.finding(
                assigned,
                Fault.ARCHITECTURE,
                Severity.HIGH,
                0.9,
                f"trainable is changed between two calls of fit, and the model is not compiled again before line {re.sub('.*:', '', facts.source.where(after[0].line))}: the change has no effect.",
                "Compile the model again.",
                (),
                "model.compile(optimizer=keras.optimizers.Adam(1e-5), loss=…, metrics=…)",
            )


def _of(facts: Facts, model: Model, target: Value) -> bool:
    """Whether something that is frozen is this model, a model in it, or a layer of either."""
    inner = [*model.layers, *(tensor_layers(model.outputs) if model.kind == "functional" else ())]
    parts = {id(one.call) for one in inner if isinstance(one, Made)} | {id(model.call)}
    return any(isinstance(one, Made) and id(one.call) in parts for one in ancestors(target))


RULE = Rule(_run, same_as=frozenset({"frozen-layers"}))
