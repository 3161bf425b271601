"""The weights themselves differ: how they do tells what happened to them.

Source: ArtemBoyarintsev/MachineLearningTools (transposed), keras.utils.convert_all_kernels_in_model (flipped), Blaizzy/mlx-vlm#986 (a factor),
onnx/keras-onnx#98 (a bias twice), arXiv:1806.08342 (channels that one scale for all rounds to zero), keras.io/api/optimizers use_ema (others).
"""

from __future__ import annotations

import itertools

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.causes.case import Case, Cause, Guess, WeightPair

_SAME = 1e-5
_QUANTISED = 0.03
_FOLDED = ("norm", "mul", "rescal", "rsqrt", "sub", "div")
"""Layers that a converter computes within the weights of their neighbours."""


class Weights(Cause):
    """See the module's docstring."""

    id = "weights"
    title = "The weights differ"

    def weigh(self, case: Case) -> Guess | None:
        """The tensor that differs most decides, the kernel before the bias."""
        folded = len(case.group) > 1 and case.of_type(*_FOLDED) is not None
        found = [
            guess
            for one in case.weights
            if (guess := _normalised(one, case) or _of(one, folded, quantised=case.step is not None)) is not None
        ]
        return max(found, key=lambda guess: guess.confidence, default=None)


_ONE_KERNEL = 1e-4


def _normalised(pair: WeightPair, case: Case) -> Guess | None:
    """A kernel whose channels each have their own factor, all to one side: a normalisation with another epsilon is folded into it."""
    if pair.a is None or pair.b is None or pair.a.dtype.kind not in "fiu" or pair.b.dtype.kind not in "fiu":
        return None
    a = np.asarray(pair.a, np.float64)
    b = _fitted(a, np.asarray(pair.b, np.float64))
    if b is None or a.ndim < 2 or a.shape[-1] < 2:
        return None
    left, right = a.reshape(-1, a.shape[-1]), b.reshape(-1, a.shape[-1])
    squares = np.square(left).sum(axis=0)
    used = squares > 0
    factors = (left * right).sum(axis=0)[used] / squares[used]
    gone = np.linalg.norm(right[:, used] - factors * left[:, used])
    one_sided = bool(np.all(factors > 1 + _ONE_KERNEL) or np.all((factors < 1 - _ONE_KERNEL) & (factors > 0)))
    if not one_sided or gone > _ONE_KERNEL * np.linalg.norm(left) or np.ptp(factors) <= _ONE_KERNEL:
        return None
    scoped = next((one.path for one in reversed(case.group) if "batchnorm/" in one.path.lower()), "")
    return Guess(
        "epsilon",
        "Another epsilon of BatchNormalization",
        f"Each channel of {pair.name} of {pair.layer!r} has its own factor ({factors.min():.3g} to {factors.max():.3g}), all to one side: "
        "a normalisation with another epsilon is folded into it.",
        0.93 if scoped or "batchnorm/" in pair.name.lower() + pair.layer.lower() else 0.8,
        scoped or pair.layer,
        "Give both the same epsilon, and export again.",
    )


def _of(pair: WeightPair, folded: bool, *, quantised: bool) -> Guess | None:
    if pair.a is None or pair.b is None or pair.a.dtype.kind not in "fiu" or pair.b.dtype.kind not in "fiu":
        return None
    a, b = np.asarray(pair.a, np.float64), np.asarray(pair.b, np.float64)
    fitted = _fitted(a, b)
    if fitted is None:
        return None
    b = fitted
    size = float(np.linalg.norm(a)) or 1e-30
    apart = float(np.linalg.norm(a - b)) / size
    if apart <= _SAME or (quantised and apart <= _QUANTISED):
        return None

    def guess(cause: str, title: str, says: str, confidence: float, fix: str = "") -> Guess:
        sentence = f"{pair.name} of {pair.layer!r} {says}"
        return Guess(
            cause,
            title,
            sentence,
            confidence,
            pair.layer,
            fix or "Export again from the model whose weights are right.",
        )

    if a.ndim >= 1 and (zeroed := _zeroed(a, b)):
        return guess(
            "zeroed-channel", "A channel is zero", f"is zero in channel {zeroed} of the second model only.", 0.96
        )
    if a.ndim >= 2 and (swapped := _transposed(a, b)):
        return guess(
            "transposed-kernel",
            "The kernel is transposed",
            f"is the same with axes {swapped[0]} and {swapped[1]} swapped.",
            0.96,
        )
    if axis_moved := _permuted(a, b):
        axis, moved = axis_moved
        return guess(
            "swapped-channels",
            "Channels are swapped",
            f"is the same with channels {moved[0]} and {moved[1]} of axis {axis} exchanged.",
            0.95,
        )
    if _flipped(a, b):
        return guess("flipped-kernel", "The kernel is flipped", "is the same read backwards.", 0.95)
    if folded and a.ndim >= 2 and (within := _moved_within_channels(a, b)):
        return guess(*within, 0.85)
    scale = float((a * b).sum() / (a * a).sum()) if a.any() and a.size > 1 else 0.0
    if np.linalg.norm(b - scale * a) <= 1e-4 * size and abs(scale - 1) > 1e-3 and scale:
        if _is_bias(pair):
            return guess("bias", "Another bias", f"is the same times {scale:.4g}.", 0.93)
        return guess("scaled-weights", "The weights are scaled", f"is the same times {scale:.4g}.", 0.93)
    if not b.any():
        return guess(
            "bias" if a.ndim == 1 else "weights",
            "The weights are missing",
            "is zero everywhere in the second model.",
            0.93,
        )
    if apart < _QUANTISED:
        return guess(
            "quantised-weights", "The weights are rounded", f"is off by {apart:.2%}, as rounded numbers are.", 0.5
        )
    kind = "bias" if a.ndim == 1 else "weights"
    # Where several layers are one operator of the other file, their weights are folded into each other.
    return guess(
        kind, "The weights are others", f"differs by {apart:.1%} of its norm.", 0.3 if folded or a.size < 2 else 0.9
    )


def _moved_within_channels(a: Array, b: Array) -> tuple[str, str, str] | None:
    """(cause, title, what is said) where each output's kernel is the first's, moved and times its own factor (a normalisation folded in)."""
    left, right = (one / np.maximum(np.linalg.norm(one.reshape(-1, one.shape[-1]), axis=0), 1e-30) for one in (a, b))
    if np.linalg.norm(left - right) <= 1e-3 * np.linalg.norm(left):
        return None
    if swapped := _transposed(left, right):
        return (
            "transposed-kernel",
            "The kernel is transposed",
            f"is the same with axes {swapped[0]} and {swapped[1]} swapped, but for a factor of each channel.",
        )
    if _flipped(left, right):
        return (
            "flipped-kernel",
            "The kernel is flipped",
            "is the same read backwards, but for a factor of each channel.",
        )
    return None


def _is_bias(pair: WeightPair) -> bool:
    return any(word in pair.name.lower().rsplit("/", 1)[-1] for word in ("bias", "beta"))


def _fitted(a: Array, b: Array) -> Array | None:
    """`b` in the order of axes in which it is nearest to `a`, where orders of different formats differ."""
    short_a, short_b = np.squeeze(a), np.squeeze(b)
    if short_a.shape == short_b.shape:
        return short_b.reshape(a.shape)
    if sorted(short_a.shape) != sorted(short_b.shape) or short_a.ndim > 5:
        return None
    orders = [
        one
        for one in itertools.permutations(range(short_b.ndim))
        if tuple(short_b.shape[axis] for axis in one) == short_a.shape
    ]
    best = min(orders, key=lambda one: float(np.linalg.norm(short_a - short_b.transpose(one))))
    return short_b.transpose(best).reshape(a.shape)


def _zeroed(a: Array, b: Array) -> str:
    for axis in reversed(range(a.ndim)):
        if a.shape[axis] < 2:
            continue
        rest = tuple(one for one in range(a.ndim) if one != axis)
        size_a, size_b = np.abs(a).max(axis=rest), np.abs(b).max(axis=rest)
        gone = (size_b == 0) & (size_a > 0)
        kept = np.compress(~gone, np.abs(a - b), axis=axis)
        if gone.any() and not gone.all() and kept.max(initial=0.0) <= 1e-5 * np.abs(a).max():
            return ", ".join(str(one) for one in np.flatnonzero(gone)[:4])
    return ""


def _transposed(a: Array, b: Array) -> tuple[int, int] | None:
    size = np.linalg.norm(a)
    for one, other in itertools.combinations(range(a.ndim), 2):
        turned = np.swapaxes(a, one, other)
        if turned.shape == b.shape and np.linalg.norm(turned - b) <= 1e-4 * size < np.linalg.norm(a - b) * 1e4:
            return one, other
        if (
            turned.size == b.size
            and a.shape[one] != a.shape[other]
            and np.linalg.norm(turned.reshape(-1) - b.reshape(-1)) <= 1e-4 * size
        ):
            return one, other
    return None


def _permuted(a: Array, b: Array) -> tuple[int, tuple[int, int]] | None:
    for axis in reversed(range(max(0, a.ndim - 2), a.ndim)):  # of channels; places are flipped, not exchanged
        count = a.shape[axis]
        if not 2 <= count <= 4_096:
            continue
        rows_a = np.moveaxis(a, axis, 0).reshape(count, -1)
        rows_b = np.moveaxis(b, axis, 0).reshape(count, -1)
        moved = np.flatnonzero(
            np.linalg.norm(rows_a - rows_b, axis=1) > 1e-5 * (np.linalg.norm(rows_a) / np.sqrt(count) + 1e-30)
        )
        if not 2 <= len(moved) <= 2_048:
            continue
        left = rows_a[moved]
        nearest = [int(np.argmin(np.linalg.norm(left - row, axis=1))) for row in rows_b[moved]]
        whole = np.linalg.norm(left[nearest] - rows_b[moved]) <= 1e-4 * np.linalg.norm(left)
        if whole and sorted(nearest) == list(range(len(moved))):
            first = next((place for place, to in enumerate(nearest) if to != place), None)
            if first is None:
                continue  # each is nearest to itself: rounded, not moved
            return axis, (int(moved[first]), int(moved[nearest[first]]))
    return None


def _flipped(a: Array, b: Array) -> bool:
    """Whether all axes of places are read backwards, as a true convolution does."""
    places = tuple(range(a.ndim - 2))
    return bool(places) and bool(np.linalg.norm(np.flip(a, places) - b) <= 1e-4 * np.linalg.norm(a))


CAUSE = Weights()
