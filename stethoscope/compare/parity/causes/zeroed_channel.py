"""Channels that are constant in the second model while they vary in the first, the others the same.

Source: arXiv:1806.08342 (kernels of small channels that one scale for all rounds to zero).
"""

from __future__ import annotations

import numpy as np

from stethoscope.compare.parity.causes.case import Case, Cause, Guess


class ZeroedChannel(Cause):
    """See the module's docstring."""

    id = "zeroed-channel"
    title = "A channel is zero"

    def weigh(self, case: Case) -> Guess | None:
        """Sure where one or a few of several channels answer one value and all others agree."""
        if case.a.ndim < 2 or case.a.shape[case.channel_axis] < 2:
            return None
        a, b = case.channels
        dead = (np.ptp(b, axis=0) <= 1e-7 * case.rms) & (np.ptp(a, axis=0) > 1e-3 * case.rms)
        if not dead.any() or dead.mean() > 0.5:
            return None
        rest = float(np.sqrt(np.mean(np.square((a - b)[:, ~dead])))) / case.rms
        if rest > 1e-3:
            return None
        which = ", ".join(str(one) for one in np.flatnonzero(dead)[:4])
        value = float(b[0, np.flatnonzero(dead)[0]])
        owner = case.of_type("conv", "dense", "batchnorm", "fullyconnected", "matmul", "gemm", "fully") or case.layer
        return self.guess(
            f"Channel {which} of {case.layer.path!r} is {value:.3g} for every row in the second model; all other channels agree.",
            0.94,
            owner.path,
            "Look at this channel's weights in the second model's file: they were lost or pruned. Export again.",
        )


CAUSE = ZeroedChannel()
