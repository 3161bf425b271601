"""Inputs scaled twice, for one part only, or not as a pretrained network wants them.

Why: values of 0 … 1 divided by 255 once more are all nearly 0. Test rows that are not scaled as the training rows were are unlike
anything the network has seen, and its score on them says nothing. A pretrained network reads what its own `preprocess_input` makes;
EfficientNet, ConvNeXt and MobileNetV3 scale by themselves, and want 0 … 255.
Example: `x_train / 255` and `Rescaling(1./255)` in the model; `x_train / 255` and `model.evaluate(x_test, y_test)` on raw pixels;
`ImageDataGenerator(rescale=1./255)` in front of `EfficientNetB0`.
Fix: scale once, in one place, and everything.
Source: keras.io/api/applications; stackoverflow.com/questions/61571664; UMLAUT (CHI 2021): input not normalised; Humbatova et al.
(ICSE 2020): preprocessing missing, preprocessing wrong.
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
_OWN_SCALING = ("EfficientNet", "ConvNeXt", "MobileNetV3")


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
    yield from _pretrained(facts)


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
        last[0], Fault.PREPROCESSING, Severity.HIGH, 0.9,
        f"The inputs are scaled twice: {first[1]} in line {facts.source.where(first[0]).rpartition(':')[2]}, and {last[1]} here. What the network sees is nearly 0 everywhere.",
        "Scale in one place.",
    )  # fmt: skip


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
                other, Fault.PREPROCESSING, Severity.HIGH, 0.9,
                f"The data is scaled on one side only: {what}. The score on it says nothing.",
                "Scale both in the same way.",
            )  # fmt: skip
            return


def _pretrained(facts: Facts) -> Iterator[Finding]:
    networks = [
        call
        for call in facts.calls
        if meaning(call.name).startswith("keras.applications.") and meaning(call.name).rpartition(".")[2][:1].isupper()
    ]
    if not networks or any(model.kind == "application" and not model.call.reached for model in facts.models):
        return
    steps = [use for use in facts.uses if use.name.endswith(".preprocess_input")]
    families = {meaning(one.name).rpartition(".")[2] for one in networks}
    own_scaling = all(family.startswith(_OWN_SCALING) for family in families)
    rescaled = [
        call
        for call in facts.calls
        if meaning(call.name).endswith("ImageDataGenerator") and (number(call.argument("rescale")) or 1) < 0.01
    ]
    layers = [
        call
        for call in facts.calls
        if meaning(call.name) == "keras.layers.Rescaling" and (number(call.argument("scale", 0)) or 1) < 0.01
    ]
    family = sorted(families)[0]
    if (
        own_scaling
        and len(families) == 1
        and not any(one.argument("include_preprocessing") is not None for one in networks)
    ):
        for call in [*rescaled, *layers][:1]:
            yield facts.finding(
                call, Fault.PREPROCESSING, Severity.HIGH, 0.85,
                f"{family} scales its input by itself and wants 0 … 255; divided by 255 first, every picture is nearly black to it.",
                "Leave the rescaling out.",
            )  # fmt: skip
    elif not own_scaling and len(families) == 1 and not steps and _trained(networks[0]) and (rescaled or layers):
        call = [*rescaled, *layers][0]
        yield facts.finding(
            call, Fault.PREPROCESSING, Severity.MEDIUM, 0.75,
            f"{family} was trained on what its own preprocess_input makes; division by 255 is something else, and costs accuracy.",
            f"Use the preprocess_input of {family}.",
        )  # fmt: skip
    elif steps and rescaled and any("preprocessing_function" in call.keywords for call in rescaled):
        yield facts.finding(
            rescaled[0], Fault.PREPROCESSING, Severity.HIGH, 0.9,
            "rescale and preprocess_input are both applied: preprocess_input expects 0 … 255.", "Leave rescale out.",
            [facts.spans.remove_argument(rescaled[0].call_node, one) for one in rescaled[0].call_node.keywords if one.arg == "rescale"],
        )  # fmt: skip


def _trained(call: Call) -> bool:
    weights = call.argument("weights")
    return weights is None or not (isinstance(weights, Const) and weights.value is None)


RULE = Rule(_run, same_as=frozenset({"rescaled-twice", "input-scaling"}))
