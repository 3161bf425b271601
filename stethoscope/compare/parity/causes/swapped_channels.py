"""The same channels in another order.

Source: keras.applications preprocess_input (BGR), onnx/onnx-tensorflow#306 (multiplier), PINTO0309/PINTO_model_zoo#400 (parts joined).
"""

from __future__ import annotations

import numpy as np

from stethoscope.compare.parity.causes.case import Case, Cause, Guess

_MOST = 4_096


class SwappedChannels(Cause):
    """See the module's docstring."""

    id = "swapped-channels"
    title = "Channels are swapped"

    def weigh(self, case: Case) -> Guess | None:
        """Sure where every channel of the second is one of the first, each once, and not all in place."""
        count = case.a.shape[case.channel_axis] if case.a.ndim >= 2 else 0
        if not 2 <= count <= _MOST:
            return None
        a, b = case.channels
        step = max(1, len(a) // 512)
        a, b = a[::step], b[::step]
        moved = np.flatnonzero(np.sqrt(np.mean(np.square(a - b), axis=0)) > 1e-3 * case.rms)
        if len(moved) < 2 or len(moved) > 1_024:
            return None
        left, right = a[:, moved], b[:, moved]
        squares = np.square(left).sum(axis=0)[:, None] + np.square(right).sum(axis=0)[None] - 2 * left.T @ right
        nearest = squares.argmin(axis=0)
        left_over = np.sqrt(np.maximum(squares.min(axis=0), 0).sum() / max(1e-30, np.square(right).sum()))
        stay = bool((nearest == np.arange(len(moved))).any())
        if stay or left_over > 1e-2 or len(set(nearest.tolist())) != len(moved):
            return None
        first = int(moved[0]), int(moved[nearest[0]])
        owner = case.of_type("conv", "dense", "concat", "fully", "matmul", "gemm") or case.layer
        return self.guess(
            f"The channels of {case.layer.path!r} are the same in another order ({len(moved)} of {count} moved, {first[0]} is {first[1]}).",
            0.95,
            owner.path,
            "Bring the channels back in order before the export, or reorder the input (RGB against BGR).",
        )


CAUSE = SwappedChannels()
