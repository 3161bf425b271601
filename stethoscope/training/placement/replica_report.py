"""One device against several: the curves, how far apart they are, and what accounts for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

ROUNDING = 1e-4
"""Relative distance of curves that differ by the order of summation only (measured: 1e-6 over some hundred steps)."""
NOISE_FACTOR = 3.0
"""Curves agree within so many times what another order of rows, and other random numbers, change on one device."""


@dataclass(frozen=True)
class Curve:
    """The training loss of each epoch of one run."""

    id: str
    title: str
    devices: int
    batch_size: int
    """Rows of all devices together."""
    rows: int
    learning_rate_factor: float = 1.0
    losses: tuple[float, ...] = ()
    reason: str = ""
    """Why it did not run."""
    wall_s: float = 0.0


@dataclass(frozen=True)
class Suspect:
    """Something that makes several devices train differently, taken away to see what remains."""

    id: str
    """"batch-normalisation", "batch-size", "learning-rate", "reduction" or "random-layers"."""
    title: str
    gap_before: float
    gap_after: float | None
    """Relative distance of the two curves once it is taken away; None when that run failed or the time was up."""
    explains: str
    """"all", "most", "part", "nothing" or "not tried"."""
    message: str
    code: str


@dataclass(frozen=True)
class ReplicaReport:
    """A model trained on one device and on several replicas of it, from the same weights on the same rows."""

    devices: int
    batch_size: int
    global_batch_size: int
    rows: int
    epochs: int
    curves: tuple[Curve, ...] = ()
    gap: float | None = None
    """Largest distance of the two curves, as a part of the largest loss."""
    tolerance: float = ROUNDING
    agree: bool | None = None
    suspects: tuple[Suspect, ...] = ()
    sentence: str = ""
    code: str = ""
    """The multi-device program, to copy."""
    assumed: tuple[str, ...] = ()


def distance(first: Sequence[float], second: Sequence[float]) -> float:
    """The largest difference of two curves as a part of the first one's largest value; infinite where one diverges."""
    pairs = list(zip(first, second, strict=False))
    if not pairs:
        return math.inf
    if not all(math.isfinite(value) for pair in pairs for value in pair):
        same = all(math.isfinite(one) == math.isfinite(two) for one, two in pairs)
        return 0.0 if same else math.inf
    scale = max(abs(one) for one, _ in pairs) or 1.0
    return max(abs(one - two) for one, two in pairs) / scale


def explained(before: float, after: float | None, tolerance: float) -> str:
    """How much of a gap went away with a suspect."""
    if after is None:
        return "not tried"
    if after <= tolerance:
        return "all"
    if not math.isfinite(before) or after <= 0.4 * before:
        return "most"
    return "part" if after <= 0.8 * before else "nothing"


def told(report: ReplicaReport) -> str:
    """The sentence to show first."""
    if report.gap is None:
        failed = next((curve for curve in report.curves if curve.reason), None)
        return f"The trial could not be made: {failed.reason if failed else 'no run ended'}"
    size = f"{100 * report.gap:.2g} %" if math.isfinite(report.gap) else "one of them diverges"
    if report.agree:
        agreed = (
            f"One device and {report.devices} agree: their losses differ by at most {size}, within the "
            f"{100 * report.tolerance:.2g} % that rounding and random numbers change on one device."
        )
        hidden = [suspect.message for suspect in report.suspects if suspect.explains in ("all", "most", "part")]
        return " ".join([agreed, *hidden])
    start = f"One device and {report.devices} train differently: their losses differ by up to {size}."
    causes = [suspect for suspect in report.suspects if suspect.explains in ("all", "most", "part")]
    if not report.suspects:
        return f"{start} The causes we know of are not in this program."
    if not causes:
        return f"{start} None of the causes tried accounts for it."
    return f"{start} " + " ".join(suspect.message for suspect in causes)
