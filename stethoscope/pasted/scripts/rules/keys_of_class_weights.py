"""Weights of classes under keys that are no classes.

Why: `class_weight` is a dict from the number of a class, from 0, to its weight. Other keys weigh nothing, or raise an error; an array is no
dict.
Example: `class_weight={1: 0.7, 2: 1.9}` for the labels 0 and 1; `class_weight=compute_class_weight("balanced", …)`.
Fix: `{0: 0.7, 1: 1.9}`; `dict(enumerate(weights))`.
Source: keras.io/api/models/model_training_apis (fit, class_weight); raised by Keras 3.15.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.losses import BINARY_LOSSES
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Model
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made, Pairs


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        for call in model.calls("fit"):
            given = call.argument("class_weight")
            if given is None or id(call.node) in done:
                continue
            done.add(id(call.node))
            node = next(one.value for one in call.call_node.keywords if one.arg == "class_weight")
            if isinstance(given, Made) and given.call.name.endswith("compute_class_weight"):
                yield facts.finding(
                    node.lineno,
                    Fault.LABELS,
                    Severity.HIGH,
                    0.93,
                    "class_weight gets an array, and takes a dict from the class to its weight: an error is raised.",
                    "Make it a dict.",
                    [facts.spans.replace(node, f"dict(enumerate({facts.spans.text(node)}))")],
                )
            elif isinstance(given, Pairs):
                yield from _keys(facts, model, call, given)


def _keys(facts: Facts, model: Model, call: Call, given: Pairs) -> Iterator[Finding]:
    keys = list(given.pairs)
    if not keys:
        return
    names = [key for key in keys if isinstance(key, str)]
    numbers = sorted(key for key in keys if isinstance(key, int | float))
    head = model.head
    two = any((loss := model.loss(one)) is not None and loss.name in BINARY_LOSSES for one in model.compiled)
    units = 2 if two and head is not None and head.units == 1 else head.units if head is not None else None
    beyond = [key for key in numbers if units is not None and key >= units]
    if not names and not beyond and (not numbers or numbers[0] == 0 or len(numbers) < 2):
        return
    if not names and not beyond and units != len(numbers):
        return
    what = (
        f"the key {names[0]!r} is the name of a class"
        if names
        else f"the keys are {', '.join(f'{key:g}' for key in numbers[:5])}"
    )
    yield facts.finding(
        _line(facts, call, given),
        Fault.LABELS,
        Severity.HIGH,
        0.9,
        f"Classes are numbered from 0, and {what}: their weights go to other classes, or to none.",
        "Take the classes' numbers from 0 for the keys.",
    )


def _line(facts: Facts, call: Call, given: Pairs) -> int:
    """Where the dict is written."""
    for node, value in facts.dicts:
        if value is given:
            return node.lineno
    return call.line


RULE = Rule(_run)
