"""Inputs scaled twice, or for one part only.

Why: values of 0 … 1 divided by 255 once more are all nearly 0. Test rows that are not scaled as the training rows were are unlike
anything the network has seen, and its score on them says nothing. Labels are no pixels, and are not scaled.
Example: `x_train / 255` and `Rescaling(1./255)` in the model; `x_train / 255` and `model.evaluate(x_test, y_test)` on raw pixels.
Fix: scale once, in one place, and everything.
Source: stackoverflow.com/questions/61571664; UMLAUT (CHI 2021): input not normalised; Humbatova et al. (ICSE 2020): preprocessing
missing, preprocessing wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import Fed, fed
from stethoscope.pasted.scripts.models_built import Model, layer_name
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import (
    Call,
    Const,
    Element,
    Items,
    Made,
    Operation,
    Value,
    ancestors,
    calls_behind,
    number,
)

_PICTURES = frozenset({"mnist", "fashion_mnist", "cifar10", "cifar100"})


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        for call in model.calls("fit", "fit_generator"):
            if id(call.node) in done:
                continue
            done.add(id(call.node))
            given = fed(call)
            yield from _twice(facts, model, call, given)
            yield from _one_side(facts, model, call, given)
            yield from _labels(facts, model, given)


def scaled_by(value: Value | None) -> list[Operation]:
    """The divisions by 255 (or 256, 127.5) that a value went through."""
    if value is None:
        return []
    return [
        one
        for one in ancestors(value)
        if isinstance(one, Operation)
        and (
            (one.operator == "Div" and number(one.right) in (255.0, 256.0, 127.5))
            or (
                one.operator == "Mult"
                and any(abs((number(side) or 1) - 1 / 255) < 1e-6 for side in (one.left, one.right))
            )
        )
    ]


def _rescaling(model: Model) -> Call | None:
    for layer in model.layer_calls():
        if layer_name(layer) == "keras.layers.Rescaling":
            factor = number(layer.argument("scale", 0))
            if factor is not None and factor < 0.01:
                return layer
    return None


def _twice(facts: Facts, model: Model, call: Call, given: Fed) -> Iterator[Finding]:
    divisions = list({one.line: one for one in scaled_by(given.x)}.values())
    layer = _rescaling(model)
    generators = [step for step in _generators(given) if (number(step.argument("rescale")) or 1) < 0.01]
    places = [(one.line, "the division") for one in divisions if one.line]
    places += [(step.line, "rescale of ImageDataGenerator") for step in generators]
    places += [(layer.line, "the layer Rescaling")] if layer is not None else []
    if len(places) < 2:
        return
    first, last = places[0], places[-1]
    yield facts.finding(
        last[0],
        Fault.PREPROCESSING,
        Severity.HIGH,
        0.9,
        f"The inputs are scaled twice: {first[1]} in line {facts.source.where(first[0]).rpartition(':')[2]}, and {last[1]} here. What the network sees is nearly 0 everywhere.",
        "Scale in one place.",
    )


def _generators(given: Fed) -> Iterator[Call]:
    for step in given.pipeline:
        if (
            step.method.startswith("flow")
            and isinstance(step.receiver, Made)
            and step.receiver.call.name.endswith("ImageDataGenerator")
        ):
            yield step.receiver.call


def _root(value: Value | None) -> tuple[Call, object, object] | None:
    """(the call that loaded, train or test, x or y) for a part of what `load_data()` gives."""
    if value is None:
        return None
    for one in ancestors(value):
        if isinstance(one, Element) and isinstance(one.of, Element) and isinstance(one.of.of, Made):
            loaded = one.of.of.call
            parts = meaning(loaded.name).split(".")
            if parts[-1] == "load_data" and len(parts) > 2 and parts[-2] in _PICTURES:
                side = one.of.key.value if isinstance(one.of.key, Const) else None
                part = one.key.value if isinstance(one.key, Const) else None
                return loaded, side, part
    return None


def _changed(value: Value | None) -> bool:
    """Whether anything but a change of shape or type happened to it on the way."""
    if value is None:
        return True
    return any(isinstance(one, Operation) for one in ancestors(value)) or any(
        call.method not in ("astype", "reshape", "load_data", "expand_dims", "asarray", "array", "copy")
        for call in calls_behind(value)
    )


def _one_side(facts: Facts, model: Model, call: Call, given: Fed) -> Iterator[Finding]:
    root = _root(given.x)
    if root is None or given.pipeline:
        return
    scaled = bool(scaled_by(given.x))
    others: list[tuple[Call, Value | None]] = [
        (one, one.argument("x", 0)) for one in model.calls("evaluate", "predict") if one.reached
    ]
    validation = call.argument("validation_data")
    if isinstance(validation, Items) and validation.items:
        others.append((call, validation.items[0]))
    for other, value in others:
        mine = _root(value)
        if mine is None or mine[0] is not root[0] or mine[1] == root[1]:
            continue
        plain, own = (value, scaled_by(value)) if scaled else (given.x, scaled_by(value))
        if bool(own) != scaled and not _changed(plain):
            what = (
                "the training rows are divided by 255, these are not"
                if scaled
                else "these rows are divided by 255, the training rows are not"
            )
            yield facts.finding(
                other,
                Fault.PREPROCESSING,
                Severity.HIGH,
                0.9,
                f"The data is scaled on one side only: {what}. The score on it says nothing.",
                "Scale both in the same way.",
            )
            return


def _labels(facts: Facts, model: Model, given: Fed) -> Iterator[Finding]:
    """Labels divided as pixels are, where they are no pixels."""
    if given.y is None or given.y is given.x or model.head is None or not model.head.dense:
        return
    for division in scaled_by(given.y)[:1]:
        if division.line and not any(one is division for one in scaled_by(given.x)):
            yield facts.finding(
                division.line,
                Fault.LABELS,
                Severity.HIGH,
                0.85,
                "The labels are divided by 255, as pixels are: their numbers mean something else then.",
                "Leave the labels as they are.",
            )


RULE = Rule(_run, same_as=frozenset({"rescaled-twice", "input-scaling"}))
