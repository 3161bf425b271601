"""Long noisy curves in few points."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stethoscope.logs.curves import CurveEvidence, means, stretch_ends


def test_short_curves_stay_as_they_are():
    curve = CurveEvidence("run", "log", "epoch", steps=(0.0, 1.0, 2.0), loss=(3.0, 2.0, 1.0))
    assert curve.overview is curve
    assert stretch_ends((), ()) is None


def test_single_batches_become_epochs_where_validation_was_logged():
    steps = tuple(float(step) for step in range(500))
    loss = tuple(1.0 if step < 250 else 0.5 for step in range(500))
    held = tuple(float(step) for step in range(49, 500, 50))
    overview = CurveEvidence(
        "run", "log", "step", steps=steps, loss=loss, val_steps=held, val_loss=(1.0,) * len(held)
    ).overview
    assert overview.steps == held
    assert overview.loss == (1.0,) * 5 + (0.5,) * 5
    assert overview.val_loss == (1.0,) * 10


def test_a_first_point_alone_is_no_stretch():
    ends = stretch_ends([float(step) for step in range(501)], [float(step) for step in range(0, 501, 50)])
    assert ends is not None
    assert ends[0] == 50.0
    late = stretch_ends([float(step) for step in range(505)], [float(step) for step in range(50, 501, 50)])
    assert late is not None
    assert late[-1] == 504.0


def test_every_point_counts():
    generator = np.random.default_rng(1)
    loss = generator.normal(size=100_000)
    steps = tuple(map(float, range(len(loss))))
    overview = CurveEvidence("run", "log", "step", steps=steps, loss=tuple(loss.tolist())).overview
    assert len(overview.loss) == 100
    assert np.mean(overview.loss) == pytest.approx(loss.mean(), abs=1e-9)


def test_values_that_are_no_number_leave_the_mean_of_their_stretch():
    found = means((0.0, 1.0, 2.0, 3.0), (1.0, math.nan, math.inf, math.nan), (1.0, 3.0))
    assert found[0] == (1.0, 3.0)
    assert found[1][0] == 1.0
    assert math.isnan(found[1][1])
