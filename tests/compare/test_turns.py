"""Calls timed in turns."""

from __future__ import annotations

import gc
import itertools
from types import SimpleNamespace

from stethoscope.compare import timed_calls
from stethoscope.compare.timed_calls import TURNS, Timing, take_turns


def test_each_call_gets_its_time_and_they_alternate(monkeypatch):
    now_ns = itertools.count(step=100_000)
    monkeypatch.setattr(timed_calls, "time", SimpleNamespace(perf_counter_ns=now_ns.__next__))
    order: list[str] = []
    timings = [Timing(lambda: order.append("a")), Timing(lambda: order.append("b"))]
    told: list[float] = []
    take_turns(timings, 0.05, told.append)
    for one in timings:
        assert one.spent_s >= 0.05
        assert all(time > 0 for time in one.times_ns)
    changes = sum(first != second for first, second in itertools.pairwise(order))
    assert changes >= TURNS - 1
    assert told[0] == 0.0
    assert told == sorted(told)
    assert len(order) > sum(len(one.times_ns) for one in timings)  # those that a turn begins with are not counted
    assert gc.isenabled()


def test_what_fails_is_not_called_again_and_the_others_go_on():
    calls = 0

    def failing() -> None:
        nonlocal calls
        calls += 1
        raise ValueError("no")

    good, bad = Timing(lambda: None), Timing(failing)
    take_turns([bad, good], 0.01)
    assert calls == 1
    assert isinstance(bad.failure, ValueError)
    assert good.failure is None
    assert good.times_ns


def test_nothing_to_time_is_no_error():
    take_turns([], 1.0)
