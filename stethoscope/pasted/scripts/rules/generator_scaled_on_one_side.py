"""Pictures are scaled for the training and not for the validation.

Why: the generator of the training divides by 255 or calls preprocess_input, that of the validation or test does not (or the other way
round). The network then sees numbers it was never trained on, and the score says nothing.
Example: `ImageDataGenerator(rescale=1/255, horizontal_flip=True)` beside `ImageDataGenerator()`.
Fix: the same scaling on both sides; only what changes pictures at random belongs to the training alone.
Source: faroit.com/keras-docs/2.0.6/preprocessing/image (the example's test_datagen has the same rescale)
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import of_pipeline
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made, Value, number, text

_SCALES = ("rescale", "preprocessing_function", "samplewise_std_normalization", "featurewise_std_normalization")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        trained = [
            _generator(call.argument("x", 0) or call.argument("generator", 0))
            for call in model.calls("fit", "fit_generator")
        ]
        sides = {id(one.node): one for one in trained if one is not None}
        if len(sides) != 1:
            continue
        train = next(iter(sides.values()))
        others = [call.argument("validation_data") for call in model.calls("fit", "fit_generator")]
        others += [call.argument("x", 0) for call in model.calls("evaluate", "predict")]
        for value in others:
            other = _generator(value)
            if other is None or id(other.node) in done or other is train:
                continue
            if train.spread or other.spread or _scaling(train) == _scaling(other):
                continue
            done.add(id(other.node))
            missing, having = (other, train) if _scaling(train) and not _scaling(other) else (train, other)
            both = bool(_scaling(train) and _scaling(other))
            said = "another scaling" if both else "no scaling"
            line = facts.source.where((train if both else having).line).rpartition(":")[2]
            yield facts.finding(
                other if both else missing,
                Fault.PREPROCESSING,
                Severity.HIGH,
                0.9,
                f"These pictures get {said}, those of line {line} do: the network is tried on other numbers than it is trained on.",
                "Scale both sides alike.",
            )


def _generator(value: Value | None) -> Call | None:
    """The ImageDataGenerator whose flow this is."""
    steps = of_pipeline(value).pipeline
    made = steps[-1].receiver if steps and steps[-1].method.startswith("flow") else None
    found = made.call if isinstance(made, Made) else None
    return found if found is not None and found.name.endswith("ImageDataGenerator") else None


def _scaling(call: Call) -> tuple[object, ...]:
    """What brings pictures into another range."""
    return tuple(
        (
            name,
            number(call.keywords[name]) or text(call.keywords[name]) or getattr(call.keywords[name], "name", "given"),
        )
        for name in _SCALES
        if name in call.keywords
    )


RULE = Rule(_run, same_as=frozenset({"input-scaling"}))
