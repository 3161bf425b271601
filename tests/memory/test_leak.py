"""A leak is told from warming up, from a heap finding its size, from noise, and from the framework's own growth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from stethoscope.errors import OutOfMemory
from stethoscope.memory.held import Held, Holdings
from stethoscope.memory.leak import FEWEST, Repeated, judge, repeat

RANDOM = np.random.default_rng(0)


def held(heap: Callable[[int], float], resident: Callable[[int], float] | None = None, calls: int = 100) -> Repeated:
    pages = resident or heap
    return Repeated(
        10, tuple(Held(int(pages(k)) // 4096 * 4096, int(heap(k)), None) for k in range(calls)), (0.1,) * calls
    )


def test_steady_growth_is_a_leak_and_its_size_is_right():
    found = judge(held(lambda k: 1e8 + 20_000 * k + RANDOM.normal(0, 5000)))
    assert found.verdict == "leak"
    assert found.growth is not None
    assert found.growth.whole.low < 20_000 < found.growth.whole.high
    assert "19.5 KiB" in found.message or "KiB" in found.message


def test_growth_that_ends_is_none():
    assert judge(held(lambda k: 1e8 + 5e6 * (1 - np.exp(-k / 10)))).verdict == "steady"


def test_one_step_is_none():
    assert judge(held(lambda k: 1e8 + 8e6 * (k > 37))).verdict == "steady"


def test_noise_is_none():
    verdicts = [judge(held(lambda k: 1e8 + RANDOM.normal(0, 200_000))).verdict for _ in range(100)]
    assert verdicts.count("leak") <= 1


def test_what_is_about_to_be_freed_hides_no_leak():
    found = judge(held(lambda k: 1e8 + 4200 * k + 400_000 * (RANDOM.random() < 0.4)))
    assert found.verdict == "leak"
    assert found.growth is not None
    assert found.growth.whole.per_step == pytest.approx(4200, rel=0.15)


def test_growth_in_pages_alone_is_a_leak_too():
    found = judge(held(lambda k: 1e8, lambda k: 1e8 + 30_000 * k))
    assert found.verdict == "leak"
    assert found.growth is not None
    assert found.growth.what == "resident"


def test_what_a_trivial_model_grows_by_is_not_the_model_s():
    grown = held(lambda k: 1e8 + 1150 * k)
    assert judge(grown, lambda: held(lambda k: 1e8 + 1100 * k)).verdict == "framework"
    assert judge(grown, lambda: held(lambda k: 1e8)).verdict == "leak"


def test_a_large_leak_needs_no_control():
    def control() -> Repeated:
        raise AssertionError("not asked")

    assert judge(held(lambda k: 1e8 + 1e6 * k), control).verdict == "leak"


def test_few_calls_say_nothing():
    assert judge(held(lambda k: 1e6 * k, calls=FEWEST - 1)).verdict == "unsure"


class Meter:
    def __init__(self) -> None:
        self.kept: list[bytearray] = []

    def added_bytes(self) -> int:
        return sum(map(len, self.kept))

    def reset(self) -> None: ...
    def watch(self) -> None: ...
    def rest(self) -> None: ...

    def enforce(self) -> None: ...
    def peak_bytes(self) -> int:
        return 0


def test_warming_up_is_not_counted():
    meter, calls = Meter(), []
    found = repeat(lambda feed: calls.append(1), {}, Holdings(meter), 40, 200.0)
    assert (len(calls), len(found.held), found.warm_up) == (48, 40, 8)


def test_time_ends_it_early_and_says_so():
    import time

    found = repeat(lambda feed: time.sleep(0.02), {}, Holdings(Meter()), 500, 0.5)
    assert FEWEST <= len(found.held) < 40
    assert "of 500 calls" in found.ended


def test_running_out_says_how_much_was_gathered():
    meter = Meter()

    def call(feed: object) -> None:
        if len(meter.kept) > 20:
            raise MemoryError("unable to allocate")
        meter.kept.append(bytearray(1 << 20))

    with pytest.raises(OutOfMemory, match=r"grew by"):
        repeat(call, {}, Holdings(meter), 50, 200.0)
