"""A model of which nothing is trained.

Why: frozen as a whole, its last layer too, it has no weights left to train: `fit` warns and the loss stays where it is.
Example: `for layer in model.layers: layer.trainable = False` after the new last layer was put on.
Fix: freeze the base alone: `for layer in base.layers`.
Source: keras.io/guides/transfer_learning; stackoverflow.com/questions/56155047.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Model
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Attribute, Element, Made, Value, is_const


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        fits = [call for call in model.calls("fit") if call.reached]
        if model.kind == "application" or not fits:
            continue
        for assigned in facts.assignments:
            if (
                assigned.attribute != "trainable"
                or not _whole(facts, model, assigned.target)
                or id(assigned.node) in done
            ):
                continue
            later = [one for one in facts.assignments if one.attribute == "trainable" and one.order > assigned.order]
            freed = any(not is_const(one.value, False) and one.order < fits[-1].order for one in later)
            added = any(call.order > assigned.order for call in model.calls("add"))
            after = any(call.order > assigned.order for call in fits)
            if is_const(assigned.value, False) and after and not freed and not added and not assigned.maybe:
                done.add(id(assigned.node))
                yield facts.finding(
                    assigned,
                    Fault.ARCHITECTURE,
                    Severity.HIGH,
                    0.9,
                    "All layers of the model that is trained are frozen, the last one too: nothing is left to train.",
                    "Freeze the layers of the base alone.",
                )


def _whole(facts: Facts, model: Model, target: Value) -> bool:
    """Whether it is the model, or each of its layers in turn."""
    if isinstance(target, Element) and target.key is None:
        owner = target.of
        return isinstance(owner, Attribute) and owner.name == "layers" and facts.model_of(owner.of) is model
    return isinstance(target, Made) and facts.model_of(target) is model


RULE = Rule(_run)
