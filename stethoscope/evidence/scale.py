"""How far values are from the scale that networks start well from: mean 0, deviation 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from stethoscope.data.profile.profiles import ArrayProfile

LARGE, HUGE = 10.0, 30.0
"""Root mean square of the largest column. Initialisers are made for inputs of variance 1 (Glorot and Bengio, 2010; He et
al., 2015): the first layer's outputs, its gradients and the loss grow in proportion to it, and the largest learning rate
that converges falls with its square (LeCun et al., Efficient BackProp, 1998, section 4.3)."""
TINY = 0.01
UNEVEN = 100.0
"""Ratio of the columns' root mean squares. The condition number of least squares grows with its square."""
PIXEL_COLUMNS = 16

Level = Literal["fine", "large", "huge"]


@dataclass(frozen=True)
class Scale:
    """The scale of an array as a layer receives it. `largest` and `smallest` are columns' root mean squares."""

    largest: float
    smallest: float
    minimum: float
    maximum: float
    pixels: bool
    """Values from 0 to 255 in an image, or in a row of many whole numbers."""
    level: Level
    columns: tuple[float, ...]
    """Root mean square of each column (or of the whole array)."""


def scale_of(array: ArrayProfile, factor: float = 1.0, offset: float = 0.0) -> Scale | None:
    """Returns the scale of value · factor + offset; None without numbers."""
    if array.minimum is None or array.maximum is None or array.mean is None or array.std is None:
        return None
    features = array.features
    means = features.mean if features else (array.mean,)
    stds = features.std if features else (array.std,)
    moved = [
        math.hypot(mean * factor + offset, std * factor)
        for mean, std in zip(means, stds, strict=True)
        if math.isfinite(mean)
    ]
    if not moved:
        return None
    low, high = sorted((array.minimum * factor + offset, array.maximum * factor + offset))
    varying = [size for size in moved if size > 0]
    largest, smallest = max(moved), min(varying, default=0.0)
    image = len(array.shape) == 4 and array.shape[-1] in (1, 3, 4)
    many = array.integral and math.prod(array.shape[1:]) >= PIXEL_COLUMNS
    pixels = (image or many) and low >= 0 and 100 < high <= 255.5
    overall = math.sqrt(sum(size**2 for size in moved) / len(moved))
    if pixels or largest >= HUGE:
        level: Level = "huge"
    elif largest >= LARGE or (0 < overall < TINY):
        level = "large"
    else:
        level = "fine"
    return Scale(largest, smallest, low, high, pixels, level, tuple(moved))
