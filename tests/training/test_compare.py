"""One change against another: luck is not taken for proof."""

from __future__ import annotations

import pytest

from stethoscope.evidence.training import RunCurve, Scores
from stethoscope.training.compare import compare
from stethoscope.training.outcome import condensed
from tests.tables import each


def runs(*skills, loss=1.0):
    return [RunCurve(seed, 1, 1.0, (), (), (), (), final=Scores(loss, 0.0, skill)) for seed, skill in enumerate(skills)]


@each(
    ("base", "other", "verdict"),
    [
        ((0.1, 0.2, 0.15), (0.9, 0.95, 0.9), "helps"),
        ((0.9, 0.95, 0.9), (0.1, 0.2, 0.15), "worse"),
        ((0.0, 0.9, 0.1), (0.9, 0.0, 0.9), "no_difference"),
        ((0.5, 0.52), (0.53, 0.54), "no_difference"),
        ((-1.0, -1.0), (-0.01, 0.0), "no_difference"),
        ((float("nan"), float("nan")), (0.9, 0.9), "helps"),
    ],
)
def test_verdicts(base, other, verdict):
    assert compare(runs(*base), runs(*other)).verdict == verdict


def test_a_lower_loss_counts_where_the_skill_is_saturated():
    found = compare(runs(0.98, 0.98, loss=0.2), runs(0.98, 0.98, loss=0.05))
    assert found.verdict == "helps"
    assert found.loss_ratio == pytest.approx(0.25)
    assert compare(runs(0.1, 0.1, loss=0.2), runs(0.1, 0.1, loss=0.05)).verdict == "no_difference"


def test_runs_are_paired_by_seed():
    found = compare(runs(0.2, 0.6), runs(0.3, 0.7)[1:])
    assert found.effect == pytest.approx(0.1)
    assert compare(runs(0.2), []).verdict == "skipped"


def test_spikes_and_nan_survive_condensing():
    losses = [1.0] * 1000
    losses[500], losses[999] = 50.0, float("nan")
    steps, found = condensed(losses)
    assert max(found[:-1]) == 50.0
    assert found[-1] != found[-1]
    assert steps[-1] == 1000
    assert len(steps) <= 200
