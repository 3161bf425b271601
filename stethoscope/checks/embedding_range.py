"""Word numbers beyond the embedding.

Why: an embedding is a table with `input_dim` rows, and each input value is the number of a row. A number beyond the table
stops `fit` on a CPU and reads zeros on a GPU; a negative one silently reads from the table's end; a fraction is cut off.
Example: `Embedding(1000, 16)` for word numbers up to 4,213; standardised numbers given to an Embedding.
Fix: `input_dim` = largest number + 1; whole numbers from 0 as input, never scaled.
Source: keras.io/api/layers/core_layers/embedding (“input_dim: maximum integer index + 1”); measured on TensorFlow 2.21.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.checks.fixes.layer_settings import SetVocabulary
from stethoscope.data.study.profiles import ArrayProfile
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.types import Architecture, Layer

_PASSING = frozenset({"Reshape", "Flatten", "Permute", "Identity", "Masking", "Cast", "Squeeze", "ExpandDims"})


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    architecture, data = evidence.architecture, evidence.data
    if architecture is None or data is None:
        return
    by_path = {layer.path: layer for layer in architecture.layers}
    for layer in architecture.layers:
        size = layer.config.get("input_dim")
        if layer.type != "Embedding" or not isinstance(size, int):
            continue
        given = data.inputs.get(_source(layer, by_path, architecture))
        if given is None or given.minimum is None or given.maximum is None:
            continue
        found = _wrong(layer, size, given)
        if found is None:
            continue
        fault, severity, message, fix = found
        yield Finding(
            fault=fault,
            severity=severity,
            confidence=0.95,
            where=layer.path,
            message=message,
            evidence=(
                Number("largest word number", given.maximum, threshold=size - 1),
                Number("smallest word number", given.minimum, threshold=0),
            ),
            fix=fix,
        )


def _wrong(layer: Layer, size: int, given: ArrayProfile) -> tuple[Fault, Severity, str, Fix] | None:
    low, high = given.minimum or 0.0, given.maximum or 0.0
    if not given.integral:
        text = f"{layer.path} looks its input up as row numbers of a table, but {given.name} holds fractions ({low:g} … {high:g}), which are cut to whole numbers. Give it whole numbers from 0, not scaled ones, or take the Embedding out."
        advice = Advice(
            f"Give {given.name} as whole numbers from 0 (one for each word or category); do not scale it.",
            "categories, x = np.unique(x, return_inverse=True)",
        )
        return Fault.PREPROCESSING, Severity.CRITICAL if high >= size else Severity.HIGH, text, advice
    if high >= size:
        text = f"{given.name} holds numbers up to {high:,.0f}, but {layer.path} has a table of {size:,} rows (0 … {size - 1:,}): fit stops (on a GPU they read zeros). It needs input_dim={int(high) + 1:,}."
        return Fault.ARCHITECTURE, Severity.CRITICAL, text, SetVocabulary(layer.path, int(high) + 1, size)
    if low < 0:
        text = f"{given.name} holds negative numbers (from {low:g}); {layer.path} silently reads them from the end of its table, as words they are not. Number from 0 (0 for padding)."
        return Fault.PREPROCESSING, Severity.HIGH, text, Advice(f"Number {given.name} from 0.", "x = x - x.min()")
    return None


def _source(layer: Layer, by_path: Mapping[str, Layer], architecture: Architecture) -> str:
    """The name of the model input whose values the layer looks up; "" when something computes in between."""
    names = {spec.name for spec in architecture.inputs}
    step = layer
    for _ in range(8):
        if not step.inputs:
            return (
                architecture.inputs[0].name if len(architecture.inputs) == 1 and step is architecture.layers[0] else ""
            )
        if len(step.inputs) != 1:
            return ""
        path = step.inputs[0]
        if path in names:
            return path
        before = by_path.get(path)
        if before is None or (before.type not in _PASSING and before.type != "InputLayer"):
            return ""
        if before.type == "InputLayer" and not before.inputs:
            return before.path.rsplit("/", 1)[-1] if before.path.rsplit("/", 1)[-1] in names else ""
        step = before
    return ""


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.DATA}),
    run=_run,
    explains=frozenset({"fit-small-batch", "worse-than-baseline", "loss-flat", "underfitting", "input-scaling"}),
)
