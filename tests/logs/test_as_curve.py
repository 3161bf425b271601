"""From a run as it was logged to the curve that is judged."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.logs.as_curve import curve_of
from stethoscope.logs.series import RunLog, Series


def series(tag, steps, values, times=None):
    step = np.array(steps, np.int64)
    wall = np.full(len(step), np.nan) if times is None else np.array(times, np.float64)
    return Series(tag, step, wall, np.array(values, np.float64))


def curve(*found, **more):
    found_curve = curve_of(RunLog("run", "test", "step", {one.tag: one for one in found}, **more))
    assert found_curve is not None
    return found_curve


def test_validation_by_epoch_is_set_beside_training_by_batch():
    train = series("train/loss", range(1000), np.linspace(1, 0.1, 1000), range(1000))
    held = series("val/loss", range(10), np.linspace(1, 0.2, 10), range(99, 1000, 100))
    found = curve(train, held)
    assert found.val_scale == pytest.approx(999 / 9)
    assert found.val_steps[-1] == pytest.approx(999)
    assert len(found.overview.loss) in (9, 10)


def test_steps_that_count_alike_stay():
    train = series("loss", range(0, 1000), np.linspace(1, 0.1, 1000), range(1000))
    held = series("val_loss", range(99, 1000, 100), np.linspace(1, 0.2, 10), range(99, 1000, 100))
    assert curve(train, held).val_scale == 1.0
    ended = series("val_loss", range(0, 100, 10), np.linspace(1, 0.2, 10), range(0, 100, 10))
    assert curve(train, ended).val_scale == 1.0


def test_a_restart_keeps_the_level_before_and_after():
    steps = [*range(100), *range(50, 120)]
    values = [*np.linspace(1, 0.1, 100), *np.full(70, 0.9)]
    (found,) = curve(series("loss", steps, values)).restarts
    assert (found.step, found.reached) == (50.0, 99.0)
    assert found.before == pytest.approx(0.14, abs=0.01)
    assert found.after == 0.9


def test_gradient_norms_come_along_with_their_largest_values():
    norm = np.ones(5000)
    norm[3210] = 77.0
    found = curve(series("loss", range(5000), np.ones(5000)), series("grad_norm/dense", range(5000), norm))
    signal = found.signals["grad_norm/dense"]
    assert len(signal.values) == 400
    assert max(signal.values) == 77.0
    assert found.tags == {"loss": "loss"}


def test_silence_counts_only_for_a_run_that_is_said_to_live():
    loss = series("loss", range(10), range(10), range(10))
    assert curve(loss, notes={"status": "FINISHED"}).silent_s is None
    assert curve(loss, notes={"status": "RUNNING"}).silent_s > 1e9
