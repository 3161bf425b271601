"""Images that are scaled down twice.

Why: pixels from 0 to 255 are divided by 255 once. Divided again, by the data code and by a Rescaling layer of the
model or by two lines of the data code, they end between 0 and 0.004: next to nothing, and the network sees all images
as the same black one.
Example: `x_train = x_train / 255.0` before a model that begins with `layers.Rescaling(1 / 255)`.
Fix: scale in one place only.
Source: keras.io/api/layers/preprocessing_layers/image_preprocessing/rescaling; keras.io/api/applications (EfficientNet
and MobileNetV3 contain their own rescaling).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from stethoscope.checks.check import BADLY_TRAINED, IDLE_WEIGHTS, Check
from stethoscope.checks.findings import Fault, Finding, Histogram, Number, Severity
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.values import ScaleInputs
from stethoscope.data.study.profiles import ArrayProfile
from stethoscope.evidence.input_route import InputRoute, input_route
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_ONE_STEP = 1 / 255
_MANY = 16
_STRONG = 1 / 64
"""A Rescaling factor this small is meant for pixels of 0 to 255 (1/255, 1/127.5)."""


def doubly_scaled(array: ArrayProfile, route: InputRoute) -> Literal["", "data", "model"]:
    """Where an image's second scaling is: in the data, in the model's Rescaling layer, or nowhere."""
    if array.minimum is None or array.maximum is None or math.prod(array.shape[1:]) < _MANY:
        return ""
    size = max(abs(array.minimum), abs(array.maximum))
    image = len(array.shape) == 4 or (len(array.shape) in (2, 3) and math.prod(array.shape[1:]) >= 64)
    if route.looked_up or not image or size == 0:
        return ""
    if abs(route.scale) <= _STRONG and size <= 1.0001:
        return "model"
    exact = abs(size * 255 - 1) < 0.05
    if array.minimum >= 0 and size <= _ONE_STEP * 1.01 and (len(array.shape) == 4 or exact):
        return "data" if not (route.normalised or route.unknown) else ""
    return ""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    data, architecture = evidence.data, evidence.architecture
    if data is None or architecture is None:
        return
    for name, array in data.inputs.items():
        route = input_route(architecture, name)
        place = doubly_scaled(array, route)
        if not place or array.maximum is None or array.minimum is None:
            continue
        severity, confidence = Severity.MEDIUM, 0.85
        if evidence.training is not None and evidence.training.complete:
            trial = evidence.training.trial("scale-inputs")
            if evidence.training.skill < 0.5 or (trial is not None and trial.helps and trial.effect >= 0.2):
                severity, confidence = Severity.HIGH, 0.95
        after = array.maximum * route.scale + route.offset
        if place == "model":
            layer = route.rescaling[-1]
            message = (
                f"Input {name} is already between {array.minimum:.3g} and {array.maximum:.3g}, and {layer} scales it by "
                f"{route.scale:.4g} again: the largest pixel ends at {after:.4g}. Scale in one place only."
            )
        else:
            message = (
                f"The pixels of input {name} go from {array.minimum:.3g} to {array.maximum:.4g}: they were divided by 255 "
                "twice. They should go from 0 to 1."
            )
        own = name if len(data.inputs) > 1 else ""
        yield Finding(
            fault=Fault.PREPROCESSING,
            severity=severity,
            confidence=confidence,
            where=f"input:{name}",
            message=message,
            evidence=(
                Histogram(f"Values of {name}", "value", array.histogram_edges, array.histogram_counts),
                Number("largest value that reaches the first weights", after, threshold=1.0),
            ),
            fix=_fix(own, array.minimum, array.maximum, 1 / abs(route.scale) if place == "model" else 255.0),
        )


def _fix(name: str, minimum: float, maximum: float, factor: float) -> Fix:
    return ScaleInputs(input=name, method="divide", divisor=1 / factor, was_minimum=minimum, was_maximum=maximum)


CHECK = Check(
    title="Images scaled twice",
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.DATA}),
    run=_run,
    uses=frozenset({Evidence.TRAINING}),
    explains=BADLY_TRAINED | IDLE_WEIGHTS | {"fit-small-batch", "learning-rate-low", "too-few-epochs", "update-ratio"},
)
