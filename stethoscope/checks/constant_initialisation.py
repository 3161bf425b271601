"""All units start equal.

Why: units of a layer that start with the same weights get the same gradient and stay equal for ever: the layer has one
unit, however many it was given. With all zeros nothing passes at all, forwards or backwards.
Example: `Dense(64, kernel_initializer="zeros")`, or `"ones"`, in a hidden layer.
Fix: the default random initialiser.
Limits: a last layer may start at zero; so may the last layer of a branch that is added to another.
Source: Goodfellow et al., Deep Learning (2016), section 8.4 (“break symmetry”); NeuraLint (TOSEM 2021), rule
“initialisation should not be constant”.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import RECTIFIERS
from stethoscope.architecture.losses import initialiser_of
from stethoscope.checks.check import BADLY_TRAINED, IDLE_WEIGHTS, WILD_UPDATES, Check
from stethoscope.checks.curves.short_run import learns_well, listed
from stethoscope.checks.findings import Fault, Finding, Number, Severity, Table
from stethoscope.checks.fixes.layer_settings import SetInitialiser
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import MATRICES, RECURRENT, WeightProfile, activation_inside, core_of, is_trainable
from stethoscope.types import Layer

_CONSTANT = ("zeros", "ones", "constant")
_MERGING = ("Add", "Subtract", "Average", "Multiply", "Concatenate")


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    found = [(layer, how) for layer in evidence.connections.layers.values() if (how := _equal(evidence, layer))]
    if not found:
        return
    trained = evidence.weights is not None and evidence.weights.trained is True
    paths = tuple(layer.path for layer, _ in found)
    first, how = found[0]
    severity = Severity.HIGH if trained else Severity.CRITICAL
    if learns_well(evidence.training):
        severity = Severity.MEDIUM
    relu = activation_inside(first) in RECTIFIERS
    yield Finding(
        fault=Fault.INITIALISATION,
        severity=severity,
        confidence=0.95,
        where=first.path,
        message=(
            f"All units of {listed(paths)} {'have' if trained else 'start with'} the same weights ({how}), so they get the "
            "same updates and stay one unit. Let them start from random weights."
        ),
        evidence=(
            Table(
                "Layers whose units are equal", ("layer", "weights"), tuple((layer.path, said) for layer, said in found)
            ),
            Number("layers without a random start", len(found), threshold=0),
        ),
        fix=SetInitialiser(layers=paths, kernel="he_normal" if relu else "glorot_uniform"),
    )


def _equal(evidence: EvidenceSet, layer: Layer) -> str:
    """How the units of a hidden layer are equal ("all 0"), "" when they are not or need not differ."""
    graph = evidence.connections
    kind, config = core_of(layer)
    if kind not in (*MATRICES, *RECURRENT) or not is_trainable(layer) or layer.path in _last(evidence):
        return ""
    _, after = graph.following(layer.path, ("BatchNormalization", "Dropout", "Activation", "Reshape"))
    if after is not None and after.type in _MERGING:
        return ""
    units = config.get("units") or config.get("filters")
    if isinstance(units, int) and units < 2:
        return ""
    tensors = () if evidence.weights is None else evidence.weights.of(layer.path)
    kernels = [tensor for tensor in tensors if tensor.name in ("kernel", "pointwise_kernel")]
    if kernels:
        return next((said for tensor in kernels if (said := _said(tensor))), "")
    initialiser, settings = initialiser_of(layer.config, "kernel")
    if evidence.weights is not None or initialiser not in _CONSTANT:
        return ""
    value = settings.get("value") if initialiser == "constant" else {"zeros": 0, "ones": 1}[initialiser]
    return f"all {value}"


def _said(tensor: WeightProfile) -> str:
    columns = tensor.shape[-1] if tensor.shape else 0
    if columns < 2 or tensor.nonfinite:
        return ""
    if tensor.distinct == 1:
        return f"all {tensor.minimum:g}"
    live = columns - tensor.dead_columns
    return "every unit the same" if live > 1 and tensor.identical_columns == live - 1 else ""


def _last(evidence: EvidenceSet) -> set[str]:
    """The layers with units that end in an output, unless nothing with weights comes before them anyway."""
    return {head.units_layer for head in evidence.heads if head.units_layer} | set(evidence.connections.outputs)


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.WEIGHTS, Evidence.TRAINING}),
    explains=BADLY_TRAINED
    | IDLE_WEIGHTS
    | WILD_UPDATES
    | {"fit-small-batch", "initial-loss", "null-input", "saturation"},
)
