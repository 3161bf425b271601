"""Inputs that are not scaled.

Why: weights start at a size made for inputs around 0 with a deviation of about 1. Inputs of hundreds make the first
layer's outputs and gradients hundreds of times too large, and a column of thousands drowns one of tenths: training
crawls, jumps, or only ever sees the large column.
Example: pixels from 0 to 255, or an income column of 60,000 beside an age of 40, straight into Dense.
Fix: divide pixels by 255; give each column mean 0 and deviation 1 (`StandardScaler`, or `layers.Normalization`). Keep
the numbers: every row predicted later needs the same change. Numbers of words or categories belong into an Embedding.
Thresholds: a column's root mean square of 30 (10: noted), 0 … 255 in images, columns apart by 100. HIGH only when the
same training with scaled inputs was measured to be much better; LOW when scaling was measured to change nothing.
Source: LeCun, Bottou, Orr and Müller, Efficient BackProp (1998), section 4.3; Glorot and Bengio (2010); UMLAUT (CHI 2021).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import SQUASHING
from stethoscope.checks.check import BADLY_TRAINED, IDLE_WEIGHTS, UNSTEADY_LOSS, WILD_UPDATES, Check
from stethoscope.checks.curves.remedies import Judgement, judge
from stethoscope.checks.findings import Bars, EvidenceItem, Fault, Finding, Histogram, Mark, Number, Severity
from stethoscope.checks.fixes.combined import Combined
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.values import ScaleInputs, ScaleTargets
from stethoscope.checks.rescaled_twice import doubly_scaled
from stethoscope.data.study.profiles import ArrayProfile
from stethoscope.evidence.input_route import UNEVEN, InputRoute, Scale, input_route, scale_of
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_SATURATED = 0.5
"""Share of a layer's values at its flat ends. Source: Glorot and Bengio (2010); DeepDiagnosis (ICSE 2022)."""
_CAFFE = (-125.0, -90.0, 100.0, 152.0)
"""Range of pixels less ImageNet's mean colour, as `preprocess_input` of VGG and ResNet makes them."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    data, architecture = evidence.data, evidence.architecture
    if data is None or architecture is None:
        return
    for name, array in data.inputs.items():
        route = input_route(architecture, name, idle_normalisation(evidence))
        scale = scale_of(array, route.scale, route.offset)
        if scale is None or not route.reaches_weights or doubly_scaled(array, route) or _as_pretrained(scale, route):
            continue
        uneven = scale.smallest > 0 and scale.largest / scale.smallest >= UNEVEN and scale.largest >= 1
        if scale.level == "fine" and not uneven and not scale.largest >= 3:
            continue
        squashed = _squashed(evidence, route)
        bad = scale.level == "huge" or (scale.level == "large" and squashed is not None)
        found = judge(evidence.training, "scale-inputs", "scale-targets", bad, noted=scale.level != "fine" or uneven)
        if found is None:
            continue
        if scale.pixels and route.normalised_after and not found.shown:
            found = Judgement(Severity.LOW, 0.5, "", (), "")
        yield Finding(
            fault=Fault.PREPROCESSING,
            severity=found.severity,
            confidence=found.confidence,
            where=f"input:{name}",
            message=f"{_what(name, scale, route)}. {_harm(scale, squashed, route)}{found.sentence}",
            evidence=(*_pictures(name, array, scale), *found.evidence, *(() if squashed is None else (squashed,))),
            fix=_fix(evidence, name, scale, found),
        )


def idle_normalisation(evidence: EvidenceSet) -> frozenset[str]:
    """Frozen normalisation layers whose statistics are still 0 and 1: they change nothing."""
    if evidence.weights is None:
        return frozenset()
    means = {
        tensor.layer
        for tensor in evidence.weights.tensors
        if tensor.name == "moving_mean" and _all(tensor.minimum, tensor.maximum, 0)
    }
    layers = evidence.architecture.layers if evidence.architecture else ()
    return frozenset(
        layer.path for layer in layers if layer.path in means and layer.config.get("trainable", True) is False
    )


def _all(minimum: float, maximum: float, value: float) -> bool:
    return minimum == maximum == value


def _as_pretrained(scale: Scale, route: InputRoute) -> bool:
    """Whether the first weights are frozen (they know their scale), or the pixels are centred as ImageNet models take them."""
    frozen = route.first is not None and route.first.trainable_parameters == 0
    least, low, high, most = _CAFFE
    centred = len(scale.columns) == 3 and least <= scale.minimum <= low and high <= scale.maximum <= most
    return frozen or centred


def _squashed(evidence: EvidenceSet, route: InputRoute) -> Number | None:
    """How much of the first layer is at its flat ends, when it is much."""
    if evidence.activations is None or route.first is None:
        return None
    for layer in evidence.activations.layers:
        if layer.path == route.first.path and layer.activation in SQUASHING:
            share = layer.saturated_fraction
            if share is not None and share >= _SATURATED:
                return Number(f"{layer.path}: values at the flat ends of {layer.activation}", share, "", _SATURATED)
    return None


def _what(name: str, scale: Scale, route: InputRoute) -> str:
    behind = f" behind {', '.join(route.rescaling)}" if route.rescaling else ""
    span = f"{scale.minimum:,.4g} to {scale.maximum:,.4g}"
    if scale.pixels:
        return f"The pixels of input {name} go from {span}{behind} into {_first(route)}; they should go from 0 to 1"
    if len(scale.columns) > 1 and scale.smallest > 0 and scale.largest / scale.smallest >= UNEVEN:
        return (
            f"The columns of input {name} differ {scale.largest / scale.smallest:,.0f}-fold in size "
            f"(values from {span}{behind}) and go into {_first(route)} as they are"
        )
    return f"Input {name} goes from {span}{behind} into {_first(route)}; values should be around 0, about 1 in size"


def _first(route: InputRoute) -> str:
    return route.first.path if route.first is not None else "the model"


def _harm(scale: Scale, squashed: Number | None, route: InputRoute) -> str:
    if squashed is not None:
        return f"{squashed.value:.0%} of what {_first(route)} puts out sits at the flat ends of its activation. "
    if scale.largest < 0.1:
        return "So small a signal hardly moves the weights. "
    return "That makes steps too large for some weights and too small for others. "


def _fix(evidence: EvidenceSet, name: str, scale: Scale, found: Judgement) -> Fix:
    inputs = evidence.data.inputs if evidence.data else {}
    own = name if len(inputs) > 1 else ""
    if scale.pixels:
        return ScaleInputs(
            input=own, method="divide", divisor=255.0, was_minimum=scale.minimum, was_maximum=scale.maximum
        )
    scaled = ScaleInputs(input=own, was_minimum=scale.minimum, was_maximum=scale.maximum)
    return Combined((scaled, ScaleTargets())) if found.trial == "scale-both" else scaled


def _pictures(name: str, array: ArrayProfile, scale: Scale) -> tuple[EvidenceItem, ...]:
    items: list[EvidenceItem] = []
    if 2 <= len(scale.columns) <= 64:
        items.append(
            Bars(
                f"Size of each column of {name} (root mean square)",
                "root mean square",
                tuple(str(index) for index in range(len(scale.columns))),
                scale.columns,
                (Mark(1.0, "what weights are made for"),),
                log=True,
            )
        )
    elif array.histogram_counts:
        items.append(Histogram(f"Values of {name}", "value", array.histogram_edges, array.histogram_counts))
    items.append(Number("largest root mean square of a column", scale.largest, threshold=30.0))
    return tuple(items)


CHECK = Check(
    title="Inputs are not scaled",
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.DATA}),
    run=_run,
    uses=frozenset({Evidence.TRAINING, Evidence.ACTIVATIONS, Evidence.WEIGHTS}),
    explains=BADLY_TRAINED
    | UNSTEADY_LOSS
    | IDLE_WEIGHTS
    | WILD_UPDATES
    | {"fit-small-batch", "initial-loss", "learning-rate-high", "optimizer-choice", "saturation"},
)
