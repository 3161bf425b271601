"""Random labels that a loss takes, for training where no data is given: their values mean nothing, their shapes do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.activations import SIGMOID, SOFTMAX
from stethoscope.architecture.losses import (
    BINARY_LOSSES,
    CATEGORICAL_LOSSES,
    HINGE_LOSSES,
    ROW_LOSSES,
    SPARSE_LOSSES,
    canonical_loss,
)


@dataclass(frozen=True)
class DrawnTarget:
    """The labels of one output."""

    kind: Literal["classes", "one_hot", "yes_no", "numbers"]
    shape: tuple[int, ...]
    """Of one row's labels."""
    classes: int = 0
    """For "classes": numbers from 0 to below."""

    def array(self, rows: int, seed: int) -> npt.NDArray[Any]:
        """Labels (rows, *shape): int32 for classes, else float32."""
        draw, shape = np.random.default_rng(seed), (rows, *self.shape)
        if self.kind == "classes":
            return draw.integers(0, max(1, self.classes), shape, dtype=np.int32)
        if self.kind == "one_hot":
            made = np.zeros(shape, np.float32)
            np.put_along_axis(made, draw.integers(0, shape[-1], (*shape[:-1], 1)), 1.0, axis=-1)
            return made
        if self.kind == "yes_no":
            return draw.integers(0, 2, shape).astype(np.float32)
        return draw.random(shape, dtype=np.float32)


def target_of_loss(loss: Any, output_shape: Sequence[int]) -> DrawnTarget:
    """What a loss reads beside an output.

    Args:
        loss: its name, or as Keras serialises it.
        output_shape: of one row of the output.
    """
    name, shape = canonical_loss(loss)[0], tuple(output_shape)
    if name in SPARSE_LOSSES and shape:
        return DrawnTarget("classes", shape[:-1], shape[-1])
    if name in CATEGORICAL_LOSSES | ROW_LOSSES and shape:
        return DrawnTarget("one_hot", shape)
    return DrawnTarget("yes_no" if name in BINARY_LOSSES | HINGE_LOSSES else "numbers", shape)


def target_of_head(activation: str, output_shape: Sequence[int]) -> DrawnTarget:
    """Labels that suit an output where nobody names a loss; `assumed_loss` of them is the loss that suits both.

    Args:
        activation: the last one that applies: "softmax" has classes, "sigmoid" yes and no, all others numbers.
        output_shape: of one row of the output.
    """
    shape = tuple(output_shape)
    if activation == SOFTMAX.name and shape and shape[-1] > 1:
        return DrawnTarget("classes", (*shape[:-1], 1) if len(shape) == 1 else shape[:-1], shape[-1])
    return DrawnTarget("yes_no" if activation == SIGMOID.name else "numbers", shape)
