"""What a logged run looks like: measures that checks share."""

from __future__ import annotations

import math
import random

import pytest

from stethoscope.checks.curves.jumps import jumps, saw
from stethoscope.checks.curves.log_shape import falls_steadily, learns_nothing, shape_of
from stethoscope.checks.curves.shapes import swings
from tests.checks.training_evidence import FALLING, SETTLED, log
from tests.tables import each


def steps(values):
    return [float(at) for at in range(len(values))]


def noisy(values, size, seed=1):
    generator = random.Random(seed)
    return [value * math.exp(generator.gauss(0, size)) for value in values]


def test_skill_is_measured_from_what_guessing_gives():
    ten = shape_of(log(SETTLED, metric=(0.1, *(0.55,) * 29), metric_name="accuracy"))
    assert ten.chance == 0.1
    assert ten.skill == pytest.approx(0.5)
    fast = shape_of(log(SETTLED, metric=(0.9, *(0.97,) * 29), metric_name="accuracy"))
    assert fast.skill == 1.0
    assert shape_of(log(SETTLED, metric=(3.0,) * 30, metric_name="mae")).skill is None


def test_settled_and_still_are_told_apart():
    settled = shape_of(log(SETTLED))
    assert settled.settled
    assert not learns_nothing(settled)
    assert not shape_of(log(FALLING)).settled
    flat = shape_of(log((2.7, *(2.3,) * 20), metric=(0.1,) * 21, metric_name="accuracy"))
    assert flat.still
    assert learns_nothing(flat)


def test_a_steady_fall_is_one_that_is_as_fast_at_the_end():
    slow = tuple(1 - 0.004 * at for at in range(30))
    assert falls_steadily(shape_of(log(slow)))
    assert not falls_steadily(shape_of(log(SETTLED)))
    assert not falls_steadily(shape_of(log((0.7,) * 30)))


def test_validation_is_compared_with_training_at_its_own_moment():
    falling = tuple(1 / (1 + at) for at in range(10))
    # Validation that is exactly what training is half an epoch after its mean is no better than training.
    held = tuple(1 / (1.5 + at) for at in range(10))
    pairs = shape_of(log(falling, val_loss=held)).loss_pairs
    assert all(pair.held > 0.9 * pair.train for pair in pairs[1:-1])


def test_a_jump_is_found_where_it_is():
    values = [*SETTLED, *(value + 1 for value in SETTLED)]
    (found,) = jumps(steps(values), values)
    assert (found.index, found.back) == (30, None)
    values = [*SETTLED[:12], *SETTLED]
    (found,) = jumps(steps(values), values)
    assert found.index == 12
    assert found.back == pytest.approx(24, abs=2)


@each("seed", range(5))
def test_noise_spikes_and_growth_are_no_jumps(seed):
    assert not jumps(steps(SETTLED), noisy(SETTLED, 0.15, seed))
    spike = [*SETTLED[:15], 3.0, *SETTLED[15:]]
    assert not jumps(steps(spike), spike)
    growing = [1.2**at for at in range(30)]
    assert not jumps(steps(growing), growing)


def test_a_saw_is_told_from_the_scatter_of_shuffled_batches():
    teeth = [0.2 + 1.5 * math.exp(-(at % 12) / 4) for at in range(600)]
    found = saw(steps(teeth), noisy(teeth, 0.05))
    assert found is not None
    assert found.period == pytest.approx(12, abs=1)
    scattered = noisy([0.3 + math.exp(-at / 100) for at in range(600)], 0.4)
    assert saw(steps(scattered), scattered) is None


def test_swings_are_counted_without_the_small_ones():
    waves = [1 + 0.5 * math.sin(at * math.pi / 4) for at in range(40)]
    found = swings(noisy(waves, 0.01), 0.5)
    assert found.height == pytest.approx(1.0, rel=0.1)
    assert found.period == pytest.approx(8, abs=1)
    assert not swings(SETTLED, 0.05).turns
