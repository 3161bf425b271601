"""A score made a class in a way that loses it.

Why: `astype(int)` cuts a probability down to 0; raw scores of a model without a last activation are parted at 0, not at 0.5.
Example: `model.predict(x).astype(int)`; `model.predict(x) > 0.5` with `from_logits=True`.
Fix: `model.predict(x) > 0.5` for a sigmoid, `> 0` for raw scores.
Source: numpy.org/doc/stable/reference/generated/numpy.ndarray.astype.html; keras.io/api/losses/probabilistic_losses (from_logits);
stackoverflow.com/questions/48987959.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.architecture.activations import LINEAR, SIGMOID, SOFTMAX
from stethoscope.architecture.losses import BINARY_LOSSES
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Model
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, Ref, text

_WHOLE = ("int", "int8", "int32", "int64", "uint8")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.methods("astype"):
        predicted = call.receiver.call if isinstance(call.receiver, Made) else None
        model = None if predicted is None or predicted.method != "predict" else facts.model_of(predicted.receiver)
        to = call.argument("dtype", 0)
        name = text(to) or (to.name.rpartition(".")[2] if isinstance(to, Ref) else "")
        if model is None or name not in _WHOLE or id(call.node) in done or not _binary(model):
            continue
        done.add(id(call.node))
        yield facts.finding(
            call,
            Fault.METRIC,
            Severity.HIGH,
            0.92,
            f"astype({name}) cuts every probability below 1 down to 0: all rows get class 0.",
            "Compare with a threshold first, as in (p > 0.5).",
        )
    calls = {id(call.node): call for call in facts.methods("predict")}
    for node in ast.walk(facts.parsed.tree):
        if not isinstance(node, ast.Compare) or len(node.comparators) != 1 or id(node.left) not in calls:
            continue
        bound = node.comparators[0]
        model = facts.model_of(calls[id(node.left)].receiver)
        head = None if model is None else model.head
        if model is None or head is None or head.units != 1 or head.activation != LINEAR.name:
            continue
        losses = [loss for one in model.compiled if (loss := model.loss(one)) is not None]
        raw = bool(losses) and all(loss.from_logits and loss.name in BINARY_LOSSES for loss in losses)
        if raw and isinstance(bound, ast.Constant) and bound.value == 0.5:
            yield facts.finding(
                node.lineno,
                Fault.METRIC,
                Severity.MEDIUM,
                0.88,
                "The model gives raw scores, which are parted at 0: those between 0 and 0.5 are put to the wrong class.",
                "Compare with 0.",
                [facts.spans.replace(bound, "0")],
            )


def _binary(model: Model) -> bool:
    head = model.head
    if head is None:
        return False
    losses = {loss.name for one in model.compiled if (loss := model.loss(one)) is not None}
    return head.activation in (SIGMOID.name, SOFTMAX.name) or bool(losses and losses <= BINARY_LOSSES)


RULE = Rule(_run)
