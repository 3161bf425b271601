"""Initial weights of the wrong scale.

Why: a unit adds up as many products as it has inputs. With weights of variance 1 and 784 inputs its sum has a standard
deviation of 28: sigmoids are saturated, softmax is certain of a wrong class, gradients explode. Far too small weights
make every layer's signal fade instead.
Example: `Dense(30, kernel_initializer=RandomNormal(stddev=1.0))` on 784 inputs.
Fix: an initialiser that divides by the number of inputs: `"glorot_uniform"`, or `"he_normal"` before relu.
Source: Glorot and Bengio (AISTATS 2010); He et al. (ICCV 2015). Threshold: a variance more than 10 times off, UMLAUT and
DeepLocalize use the same factor.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import RECTIFIERS
from stethoscope.architecture.losses import configured_variance, initialiser_of, is_scaled
from stethoscope.checks.check import IDLE_WEIGHTS, LITTLE_LEARNED, NOTHING_FITTED, UNSTEADY_LOSS, WILD_UPDATES, Check
from stethoscope.checks.curves.short_run import helped, learns_well, listed, weighed
from stethoscope.checks.findings import Bars, Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.layer_settings import SetInitialiser
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import WeightProfile, activation_inside, is_trainable
from stethoscope.types import Layer

FACTOR = 10.0
_FEW_VALUES = 64


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.weights is None or evidence.architecture is None or evidence.weights.trained:
        return
    layers = evidence.connections.layers
    large: list[tuple[Layer, float]] = []
    small: list[tuple[Layer, float]] = []
    for tensor in evidence.weights.tensors:
        layer = layers.get(tensor.layer)
        if layer is None or tensor.name != "kernel" or not tensor.fan_in or not tensor.fan_out:
            continue
        if not is_trainable(layer) or tensor.distinct < 2 or tensor.nonfinite:
            continue
        variance = _variance(layer, tensor)
        if variance is None:
            continue
        if variance > FACTOR * 2.0 / tensor.fan_in:
            large.append((layer, variance * tensor.fan_in / 2.0))
        elif 0 < variance < 2.0 / (tensor.fan_in + tensor.fan_out) / FACTOR:
            small.append((layer, variance * (tensor.fan_in + tensor.fan_out) / 2.0))
    if large:
        yield _finding(evidence, large, weighed(evidence.training, "default-init"), too="large")
    if small:
        told = helped(evidence.training, "default-init") and not learns_well(evidence.training)
        yield _finding(evidence, small, Severity.MEDIUM if told else Severity.LOW, too="small")


def _variance(layer: Layer, tensor: WeightProfile) -> float | None:
    """The variance of the initial kernel: as configured where that is a fixed number, else as measured."""
    kind, _ = initialiser_of(layer.config, "kernel")
    if is_scaled(kind) and kind != "variance_scaling":
        return None
    configured = configured_variance(layer.config, tensor.name, tensor.fan_in, tensor.fan_out)
    if kind == "variance_scaling":
        # Judged by its scale: it divides by its fan, whichever that is.
        scale = dict(initialiser_of(layer.config, "kernel")[1]).get("scale", 1.0)
        within = isinstance(scale, int | float) and 0.1 <= scale <= 2 * FACTOR
        return None if within else configured
    if configured is not None:
        return configured
    size = 1
    for length in tensor.shape:
        size *= length
    return tensor.std**2 + tensor.mean**2 if size >= _FEW_VALUES else None


def _finding(evidence: EvidenceSet, found: list[tuple[Layer, float]], severity: Severity, *, too: str) -> Finding:
    layer, ratio = max(found, key=lambda pair: pair[1]) if too == "large" else min(found, key=lambda pair: pair[1])
    relu = any(activation_inside(item) in RECTIFIERS for item, _ in found)
    times = f"{ratio:,.0f} times larger" if too == "large" else f"{1 / max(ratio, 1e-12):,.0f} times smaller"
    effect = "outputs and gradients explode" if too == "large" else "signals fade from layer to layer"
    paths = tuple(item.path for item, _ in found)
    return Finding(
        fault=Fault.INITIALISATION,
        severity=severity,
        confidence=0.8 if too == "large" else 0.5,
        where=layer.path,
        message=(
            f"The initial weights of {listed(paths)} are too {too}: in {layer.path} their variance is {times} than its "
            f"number of inputs allows, so {effect}. Use {'he_normal' if relu else 'glorot_uniform'}."
        ),
        evidence=(
            Bars(
                "Variance of the initial weights over the usual one",
                "ratio",
                paths,
                tuple(value for _, value in found),
                (Mark(FACTOR if too == "large" else 1 / FACTOR, f"too {too}"),),
                log=True,
            ),
            Number("variance ratio", ratio, threshold=FACTOR if too == "large" else 1 / FACTOR),
        ),
        fix=SetInitialiser(layers=paths, kernel="he_normal" if relu else "glorot_uniform"),
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.WEIGHTS}),
    run=_run,
    uses=frozenset({Evidence.TRAINING}),
    explains=LITTLE_LEARNED
    | UNSTEADY_LOSS
    | WILD_UPDATES
    | NOTHING_FITTED
    | IDLE_WEIGHTS
    | {"initial-loss", "nonfinite-activations", "per-class-error", "saturation"},
)
