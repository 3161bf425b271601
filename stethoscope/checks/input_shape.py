"""Declared input shape and data.

Why: the first layer's weights are made for one number of features or channels; other data cannot be multiplied with them.
Example: `Input((3,))` for rows of 2 numbers; images (rows, 3, 32, 32) for a model that wants (rows, 32, 32, 3); flat rows
of 784 for (28, 28, 1).
Fix: declare the shape the data has, or bring the data into the declared one.
Limits: a missing or extra last axis of 1 is no fault: Keras adds or drops it. Another image size is none where global
pooling comes before the first Dense.
Source: keras.src.models.functional (_adjust_input_rank); Theia (2024); case 59305008 on Stack Overflow; measured on Keras 3.15.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.checks.fixes.layer_settings import SetInputShape
from stethoscope.checks.judging.contract import as_shape, fits
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.types import Shape


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    architecture, data = evidence.architecture, evidence.data
    if architecture is None or data is None:
        return
    for spec in architecture.inputs:
        given = data.inputs.get(spec.name)
        if given is None or spec.shape is None or not spec.shape:
            continue
        declared, shape = spec.shape[1:], given.shape[1:]
        if _taken(declared, shape):
            continue
        pooled = any(layer.type.startswith("Global") for layer in architecture.layers)
        if pooled and _only_size(declared, shape):
            continue
        fault, confidence, advice, fix = _what(spec.name, declared, shape)
        yield Finding(
            fault=fault,
            severity=Severity.CRITICAL,
            confidence=confidence,
            where=f"input:{spec.name}",
            message=f"The model declares {as_shape((None, *declared))} for {spec.name}, but the data is {as_shape((None, *shape))}: fit and predict stop. {advice}",
            evidence=(
                Table(
                    "Shapes",
                    ("what", "shape"),
                    (("declared", as_shape((None, *declared))), ("data", as_shape((None, *shape)))),
                ),
            ),
            fix=fix,
        )


def _taken(declared: Shape, shape: tuple[int, ...]) -> bool:
    """Whether Keras takes the data: the same shape, or one that differs by a last axis of 1."""
    if fits(shape, declared):
        return True
    if len(shape) == len(declared) + 1 and shape[-1] == 1:
        return fits(shape[:-1], declared)
    return len(shape) + 1 == len(declared) and declared[-1] == 1 and fits(shape, declared[:-1])


def _only_size(declared: Shape, shape: tuple[int, ...]) -> bool:
    """Whether images differ in height and width alone."""
    return len(declared) == len(shape) >= 2 and declared[-1] in (shape[-1], None)


def _what(name: str, declared: Shape, shape: tuple[int, ...]) -> tuple[Fault, float, str, Fix]:
    sizes = [size for size in declared if size is not None]
    whole = len(sizes) == len(declared)
    moved = len(declared) == len(shape) >= 2 and whole and sorted(sizes) == sorted(shape)
    if moved and len(shape) == 3 and shape[0] == sizes[-1]:
        text = "The channels come first in the data and last in the model. Move them: x = np.moveaxis(x, 1, -1)."
        return Fault.PREPROCESSING, 0.95, text, Advice(text, "x = np.moveaxis(x, 1, -1)")
    if moved:
        axes = tuple(_order(shape, sizes))
        text = f"The axes are swapped: x = x.transpose({(0, *axes)})."
        return Fault.PREPROCESSING, 0.9, text, Advice(text, f"x = x.transpose({(0, *axes)})")
    if whole and math.prod(sizes) == math.prod(shape):
        text = f"The same numbers in another arrangement: x = x.reshape(len(x), {', '.join(map(str, sizes))})."
        return Fault.PREPROCESSING, 0.9, text, Advice(text, f"x = x.reshape(len(x), {', '.join(map(str, sizes))})")
    fix = SetInputShape(name, shape, declared)
    if len(declared) != len(shape):
        text = f"The model expects {len(declared)} axes a row, the data has {len(shape)}."
        return Fault.ARCHITECTURE, 0.9, text, fix
    last = declared[-1]
    if last is not None and last != shape[-1]:
        what = "channels" if len(shape) >= 3 else "features"
        return (
            Fault.ARCHITECTURE,
            0.97,
            f"The data has {shape[-1]} {what}, the model was built for {last}. Declare {shape}.",
            fix,
        )
    return Fault.ARCHITECTURE, 0.85, f"Declare {shape}, or resize the data to {tuple(declared)}.", fix


def _order(shape: tuple[int, ...], wanted: list[int]) -> Iterator[int]:
    left = list(range(len(shape)))
    for size in wanted:
        axis = next(axis for axis in left if shape[axis] == size)
        left.remove(axis)
        yield axis + 1


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.DATA}),
    run=_run,
    explains=frozenset({"label-shape", "missing-flatten", "fit-small-batch", "worse-than-baseline"}),
)
