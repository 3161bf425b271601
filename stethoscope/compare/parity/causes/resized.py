"""A layer that makes pictures larger or smaller answers other pixels.

Source: pytorch/pytorch#10604, NVIDIA/TensorRT#273 (half-pixel centres, aligned corners).
"""

from __future__ import annotations

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.causes.case import Case, Cause, Guess


class Resized(Cause):
    """See the module's docstring."""

    id = "resize-mode"
    title = "Another way of resizing"

    def weigh(self, case: Case) -> Guess | None:
        """Where the layer that parts is one that resizes, and the pixels are of the same kind."""
        layer = case.of_type("resiz", "upsampl")
        if layer is None:
            return None
        nearest = [_is_nearest(one, case) for one in (case.a, case.b)]
        said = {
            (True, False): "the first model repeats pixels, the second model blends them",
            (False, True): "the first model blends pixels, the second model repeats them",
        }
        told = said.get(
            (nearest[0], nearest[1]), "both blend pixels, at other places (half-pixel centres, aligned corners)"
        )
        return self.guess(
            f"{layer.path!r} resizes otherwise: {told}.",
            0.86 if layer is case.layer else 0.6,
            layer.path,
            "Set interpolation, half_pixel_centers and align_corners to the same in both.",
        )


def _is_nearest(array: Array, case: Case) -> bool:
    """Whether every value of the result is one of the input's."""
    x = next((one for one in case.inputs if one.ndim == array.ndim), None)
    if x is None:
        return False
    some = np.random.default_rng(0).choice(array.reshape(-1), min(200, array.size), replace=False)
    known = np.sort(x.reshape(-1))
    place = np.clip(np.searchsorted(known, some), 1, len(known) - 1)
    gap = np.minimum(np.abs(known[place] - some), np.abs(known[place - 1] - some))
    return bool(np.mean(gap <= 1e-6 * case.rms) > 0.99)


CAUSE = Resized()
