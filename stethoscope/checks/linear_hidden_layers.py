"""Linear hidden layers.

Why: two linear maps in a row are one linear map. However many layers and units they have, together they can only draw
straight lines; the depth costs time and learns nothing more.
Example: `Dense(64)` followed by `Dense(10, activation="softmax")`, or `Conv2D(32, 3)` followed by pooling and another
`Conv2D`.
Fix: `activation="relu"` on the hidden layers.
Limits: a layer narrower than both its input and what follows is taken for a bottleneck on purpose (MobileNetV2, an
autoencoder's code), a 1×k convolution before k×1 for a factorised one; inputs of sums, gates and attention are projections.
Source: Goodfellow, Bengio and Courville, Deep Learning (2016), section 6.3; NeuraLint (TOSEM 2021), rule “missing
activation”; UMLAUT (CHI 2021), “no nonlinearity”.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import LINEAR, RELU
from stethoscope.checks.check import LITTLE_LEARNED, Check
from stethoscope.checks.curves.short_run import listed, weighed
from stethoscope.checks.findings import Fault, Finding, Number, Table
from stethoscope.checks.fixes.combined import Combined
from stethoscope.checks.fixes.layers import ReplaceActivation
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import (
    AVERAGING,
    DROPPING,
    MATRICES,
    MAXIMUM,
    RESHAPING,
    Connections,
    activation_inside,
    core_of,
    units_of,
)
from stethoscope.types import Layer

_PASSING = (*DROPPING, *RESHAPING, *AVERAGING, *MAXIMUM, "BatchNormalization", "Rescaling", "GaussianNoise")


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    graph = evidence.connections
    found = [(layer, after) for layer in graph.layers.values() if (after := _linear_into(graph, layer)) is not None]
    if not found:
        return
    layers = [layer for layer, _ in found]
    pooled = any(step.type in MAXIMUM for layer in layers for step in graph.following(layer.path, _PASSING)[0])
    first, after = found[0]
    fixes = tuple(
        ReplaceActivation(
            layer=layer.path, activation=RELU.name, was=LINEAR.name, layer_type=layer.type, units=units_of(layer)
        )
        for layer in layers
    )
    collapse = (
        "which leaves hardly more than one linear layer" if pooled else "so that together they are one linear layer"
    )
    yield Finding(
        fault=Fault.ACTIVATION,
        severity=weighed(evidence.training, "relu-hidden"),
        confidence=0.7 if evidence.training is None else 0.8,
        where=first.path,
        message=(
            f"{listed([layer.path for layer in layers])} {'have' if len(layers) > 1 else 'has'} no activation, and "
            f"{'what follows is again a linear map' if len(layers) > 1 else f'{after.path} follows directly'}, {collapse}. "
            "Give hidden layers a nonlinearity such as relu."
        ),
        evidence=(
            Table(
                "Linear layers in a row",
                ("layer", "type", "activation", "followed by"),
                tuple((layer.path, layer.type, LINEAR.name, step.path) for layer, step in found),
            ),
            Number("hidden layers without an activation", len(layers), threshold=0),
        ),
        fix=fixes[0] if len(fixes) == 1 else Combined(fixes=fixes),
    )


def _linear_into(graph: Connections, layer: Layer) -> Layer | None:
    """The linear map that directly follows this one, when nothing speaks for a purpose."""
    if core_of(layer)[0] not in MATRICES or activation_inside(layer) != LINEAR.name or len(layer.inputs) > 1:
        return None
    _, after = graph.following(layer.path, _PASSING)
    if (
        after is None
        or len(after.inputs) != 1
        or core_of(after)[0] not in MATRICES
        or after.type.startswith("Separable")
    ):
        return None
    before = graph.before(layer.path)
    wide = before.output_shape[-1] if before is not None and before.output_shape else None
    units, following = units_of(layer), units_of(after)
    # A 1 × 1 convolution may also keep the number of channels before it is widened (MobileNetV3's first block).
    narrows = units and wide and (units < wide or (units == wide and _pointwise(layer)))
    if narrows and units and following and units < following:
        return None
    return None if _factorised(layer, after) else after


def _pointwise(layer: Layer) -> bool:
    size = core_of(layer)[1].get("kernel_size")
    return isinstance(size, list | tuple) and all(length == 1 for length in size)


def _factorised(layer: Layer, after: Layer) -> bool:
    first, second = core_of(layer)[1].get("kernel_size"), core_of(after)[1].get("kernel_size")
    if not (isinstance(first, list | tuple) and isinstance(second, list | tuple) and len(first) == len(second) > 1):
        return False
    return list(first) == list(reversed(second)) and len({*first}) > 1


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.TRAINING}),
    explains=LITTLE_LEARNED | {"fit-small-batch", "per-class-error", "underfitting"},
)
