"""Looks at steps stay below their share of the training's time, whatever a look costs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.training.recording.layer_looks import FIRST_STEPS, Schedule
from tests.exploring import examples


def train(schedule: Schedule, steps: int, step_s: float, look_s: float, trace_s: float = 0.0) -> list[int]:
    """Plays a training; returns the steps looked at."""
    looked, since = [], 1
    for step in range(2, steps + 1):
        if step < schedule.next:
            continue
        schedule.ran(step - 1 - since, (step - 1 - since) * step_s)
        traced = trace_s > 0 and not looked
        schedule.looked(step, step_s + look_s + (trace_s if traced else 0), prepared=traced)
        looked.append(step)
        since = step
    schedule.ran(steps - since, (steps - since) * step_s)
    return looked


@examples(60)
@given(step_s=st.floats(1e-4, 1.0), factor=st.floats(0.01, 3.0), share=st.floats(0.01, 0.2), trace=st.booleans())
def test_looks_keep_to_their_share(step_s, factor, share, trace):
    schedule = Schedule(share)
    steps = 20_000
    looked = train(schedule, steps, step_s, factor * step_s, trace_s=5 * step_s if trace else 0)
    assert looked[0] == FIRST_STEPS + 1
    assert schedule.spent_s <= share * (schedule.spent_s + steps * step_s)


def test_the_distance_follows_the_cost():
    cheap, dear = (len(train(Schedule(0.05), 3000, 0.2, cost)) for cost in (0.02, 0.4))
    assert cheap > 3 * dear > 0


def test_a_fixed_distance_is_kept_to():
    assert train(Schedule(0.05, every=50), 220, 0.01, 1.0) == [50, 100, 150, 200]


def test_a_long_training_is_looked_at_ever_more_rarely():
    assert len(train(Schedule(0.05), 1_000_000, 0.05, 0.0001)) < 6000


def test_tracing_is_paid_from_the_share_of_the_whole_training():
    plenty, tight = Schedule(0.05), Schedule(0.05)
    plenty.total_steps, tight.total_steps = 100_000, 2_000
    assert len(train(tight, 2_000, 0.1, 0.05, trace_s=10.0)) < len(train(plenty, 2_000, 0.1, 0.05, trace_s=10.0))


@pytest.mark.parametrize(
    ("total", "expected_s", "every", "may"),
    [
        (100, 1.0, None, True),
        (100, 30.0, None, False),
        (100_000, 30.0, None, True),
        (None, 30.0, None, True),
        (100, 30.0, 10, True),
    ],
)
def test_a_step_that_is_slow_to_trace_is_not_traced_twice_for_a_short_training(total, expected_s, every, may):
    schedule = Schedule(0.05, every)
    schedule.total_steps = total
    schedule.ran(3, 0.3)
    assert schedule.may_prepare(expected_s) is may
