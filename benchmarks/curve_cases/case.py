"""What a labelled log is, and the short forms that the cases are written in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.curve_cases import shown, writers
from benchmarks.curve_cases.shown import Shown
from benchmarks.curve_cases.training import Curves, Training, Writer, fit, loop

DEV, HELD_OUT, FRESH = "dev", "held_out", "fresh"
"""Rules may be developed on the dev logs; the held-out ones are only measured, the fresh ones once, after the rules were last changed."""

KINDS: dict[str, Shown] = {
    "nonfinite": shown.nonfinite,
    "divergence": shown.diverging,
    "explosion": shown.exploding,
    "zero-loss": shown.zero,
    "flat": shown.flat,
    "plateau": shown.plateau,
    "oscillation": shown.oscillating,
    "too-slow": shown.slow,
    "overfitting": shown.overfitting,
    "overtraining": shown.overtraining,
    "underfitting": shown.underfitting,
    "gap-from-start": shown.gap_at_once,
    "validation-better": shown.validation_better,
    "jump": shown.jumping,
    "restart": shown.jumping,
    "rate-high": shown.too_high,
    "rate-low": shown.too_low,
    "batch-size": shown.batch_effect,
    "stalled": shown.stalled,
    "copies": shown.copies,
}
"""Kinds of fault, each with the proof that it shows. "" is the kind of a healthy log."""

Make = Callable[[Path, int], Sequence[Curves]]
"""Trains, writes the log into a folder, and returns the curves as Keras gave them."""


@dataclass(frozen=True)
class CurveCase:
    """A log whose fault is known.

    Attributes:
        id: its folder.
        title: what was done, in a line.
        kind: the fault, of KINDS; "" for a healthy log.
        accepted: kinds that describe this log truly, `kind` among them; naming one counts as found.
        neutral: kinds that may be said of it without being wrong or right.
        make: trains and writes.
        shown: the proof; the kind's own where none is given.
        twin: the repaired training, where the proof needs one.
        seed: of everything random.
        split: "dev", "held_out" or "fresh".
    """

    id: str
    title: str
    kind: str
    accepted: frozenset[str]
    neutral: frozenset[str]
    make: Make
    shown: Shown
    twin: Training | None
    seed: int
    split: str = DEV


def faulty(
    name: str,
    title: str,
    kinds: str,
    make: Make,
    *,
    seed: int = 0,
    twin: Training | None = None,
    neutral: str = "",
    proof: Shown | None = None,
) -> CurveCase:
    """A log with a fault; of the words in `kinds` the first is its kind, the others describe it truly too.

    Raises:
        ValueError: a word is not the name of a kind.
    """
    words = kinds.split()
    if unknown := {*words, *neutral.split()} - set(KINDS):
        raise ValueError(f"{name}: expected kinds of {sorted(KINDS)}, got {sorted(unknown)}. Correct them.")
    kind = words[0]
    return CurveCase(
        name, title, kind, frozenset(words), frozenset(neutral.split()), make, proof or KINDS[kind], twin, seed
    )


def healthy(name: str, title: str, make: Make, *, seed: int = 0, proof: Shown = shown.healthy) -> CurveCase:
    """A log of a training that went well."""
    return CurveCase(name, title, "", frozenset(), frozenset(), make, proof, None, seed)


def trained(training: Training, writer: Writer = writers.tensorboard, run: str = "run") -> Make:
    """Trains once with `fit`; the log is in the folder `run` of the case."""

    def make(place: Path, seed: int) -> Sequence[Curves]:
        return [fit(training, seed, writer(place / run), name=run)[1]]

    return make


def looped(training: Training, run: str = "run", every: int = 1, validate_every: int = 50) -> Make:
    """Trains once in a loop of one's own that logs single batches."""

    def make(place: Path, seed: int) -> Sequence[Curves]:
        return [loop(training, seed, place / run, name=run, every=every, validate_every=validate_every)]

    return make


def several(runs: Sequence[tuple[str, Training, int]], writer: Writer = writers.tensorboard) -> Make:
    """Trains once for each (name, training, what is added to the seed)."""

    def make(place: Path, seed: int) -> Sequence[Curves]:
        return [fit(one, seed + more, writer(place / name), name=name)[1] for name, one, more in runs]

    return make
