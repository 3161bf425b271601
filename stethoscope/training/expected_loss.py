"""What the loss of an untrained model should be: that of saying every class equally often, or the mean."""

from __future__ import annotations

import math

import numpy as np

from stethoscope.architecture.losses import canonical_loss
from stethoscope.program.setup import Setup


def expected_loss(setup: Setup) -> float | None:
    """Returns the expected initial loss over all outputs, None where it is not known for a loss.

    Source: cross-entropy of the uniform guess: ln(classes), ln 2 for yes/no; squared error of the mean: the variance;
    absolute error of the median: the mean absolute deviation from it. (cs231n.github.io/neural-networks-3/#sanitycheck)
    """
    total = 0.0
    factors = setup.loss_weights or (1.0,) * len(setup.y)
    for y, loss, factor, units in zip(setup.y, setup.losses, factors, _units(setup), strict=False):
        if loss is None:
            continue
        if y.dtype.kind not in "biuf" or y.size == 0:
            return None
        name = canonical_loss(loss)[0]
        values = np.asarray(y[:20_000], np.float64)
        values = values[np.isfinite(values).reshape(len(values), -1).all(axis=1)]
        if name in ("categorical_crossentropy", "sparse_categorical_crossentropy"):
            if not units or units < 2:
                return None
            found = math.log(units)
        elif name == "binary_crossentropy":
            found = math.log(2)
        elif name == "mean_squared_error" and values.size:
            found = float(np.mean(values.reshape(len(values), -1).var(axis=0)))
        elif name == "mean_absolute_error" and values.size:
            flat = values.reshape(len(values), -1)
            found = float(np.mean(np.abs(flat - np.median(flat, axis=0))))
        else:
            return None
        total += factor * found
    return total


def _units(setup: Setup) -> list[int | None]:
    try:
        return [int(tensor.shape[-1]) if tensor.shape[-1] else None for tensor in setup.live.outputs]
    except (AttributeError, TypeError, ValueError, IndexError):
        return [None] * len(setup.y)
