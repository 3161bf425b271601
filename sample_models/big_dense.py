"""Half a gigabyte of dense weights, drawn quickly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sample_models.recipe import SEED

WIDTH, LAYERS = 4096, 7
PARAMETERS = LAYERS * (WIDTH * WIDTH + WIDTH) + WIDTH * 2048 + 2048


def weights() -> list[npt.NDArray[np.float32]]:
    """Kernel and bias per layer: seven of shape (4096, 4096) and one of (4096, 2048)."""
    generator = np.random.default_rng(SEED)
    arrays = []
    for units in [WIDTH] * LAYERS + [2048]:
        kernel = generator.standard_normal((WIDTH, units), dtype=np.float32)
        arrays += [kernel * np.float32(WIDTH**-0.5), np.zeros(units, np.float32)]
    return arrays
