"""The measures that prove a label: each finds its fault in made-up numbers and misses it in a good curve."""

from __future__ import annotations

import math

from benchmarks.curve_cases import shown
from benchmarks.curve_cases.training import Curves
from tests.tables import each

FALLING = tuple(0.05 + math.exp(-at / 6) for at in range(40))
GOOD = Curves("good", FALLING, tuple(value + 0.01 for value in FALLING), seconds=tuple(range(40)))
TWIN = Curves("twin", tuple(value / 10 for value in FALLING))


def _curves(*loss: float, held: tuple[float, ...] = (), **more: tuple[float, ...]) -> Curves:
    return Curves("run", loss, held, **more)  # type: ignore[arg-type]


RISING = tuple(1 + 0.1 * at for at in range(40))
SHOWING = [
    (shown.nonfinite, _curves(1, 0.5, math.nan)),
    (shown.diverging, _curves(*RISING)),
    (shown.exploding, _curves(*(10.0**at for at in range(6)))),
    (shown.zero, _curves(*[0.0] * 20)),
    (shown.flat, _curves(2.4, *[2.3] * 20)),
    (shown.plateau, _curves(*FALLING[:8], *[FALLING[8]] * 20)),
    (shown.oscillating, _curves(*(0.3 + 0.1 * (-1) ** at for at in range(30)))),
    (shown.waving, _curves(*(1 + 0.3 * math.sin(at / 3) for at in range(90)))),
    (shown.slow, _curves(*(2 - 0.02 * at for at in range(40)))),
    (shown.overfitting, _curves(*FALLING, held=(*FALLING[:10], *(0.25 + 0.01 * at for at in range(30))))),
    (shown.overtraining, _curves(*FALLING, held=(*FALLING[:10], *(0.25 + 0.01 * at for at in range(30))))),
    (shown.underfitting, _curves(*FALLING[:8], *[FALLING[8]] * 20)),
    (shown.gap_at_once, _curves(*FALLING, held=tuple(3 + value for value in FALLING))),
    (shown.validation_better, _curves(*(1 + value for value in FALLING), held=tuple(0.3 * value for value in FALLING))),
    (shown.jumping, _curves(*FALLING[:20], *FALLING[:20])),
    (shown.spiking, _curves(*([0.1] * 19 + [2.0]) * 10)),
    (shown.too_high, _curves(*[1.0] * 20)),
    (shown.too_low, _curves(*(2 - 0.02 * at for at in range(40)))),
    (shown.stalled, _curves(*FALLING[:6], seconds=(0.0, 0.1, 0.2, 9.0, 9.1, 9.2))),
]


@each(("proof", "curves"), SHOWING, ids=lambda item: getattr(item, "__name__", ""))
def test_a_proof_finds_its_fault_and_misses_it_in_a_good_curve(proof: shown.Shown, curves: Curves) -> None:
    assert proof([curves], TWIN) == ""
    assert proof([GOOD], GOOD) != ""


@each(("proof", "curves"), SHOWING, ids=lambda item: getattr(item, "__name__", ""))
def test_what_ends_badly_is_not_healthy(proof: shown.Shown, curves: Curves) -> None:
    seen_elsewhere = (shown.plateau, shown.underfitting, shown.oscillating, shown.jumping, shown.spiking, shown.stalled)
    assert shown.healthy([curves]) != "" or proof in (*seen_elsewhere, shown.too_low, shown.slow, shown.waving)


def test_runs_are_compared_with_each_other() -> None:
    assert shown.copies([GOOD, GOOD]) == ""
    assert shown.copies([GOOD, TWIN]) != ""
    assert shown.batch_effect([GOOD, TWIN]) == ""
    assert shown.batch_effect([GOOD, GOOD]) != ""


def test_a_relative_kind_needs_its_twin() -> None:
    assert "twin" in shown.too_high([GOOD], None)
    assert shown.healthy([GOOD]) == ""
