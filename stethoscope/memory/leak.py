"""Does memory held after a call grow with the number of calls? Repeats a call and tests the slope. Used in a worker.

A leak grows for as long as one calls. Caches, buffers and a heap finding its size grow too, and then stop: so the first
calls do not count, and growth must go on in the second half. Frameworks keep a little of each call themselves (Keras'
`predict` about 1 KiB): what a trivial model grows by in the same call style is not the model's.

Source: slopes and their intervals: `slope`. The floors are from healthy models, measured: below 200 bytes a call in use
for direct calls and functions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from stethoscope.errors import OutOfMemory
from stethoscope.framework_errors import explain
from stethoscope.memory.held import Held, Holdings, Slope, slope
from stethoscope.sizes import human_bytes
from stethoscope.types import Feed

Verdict = Literal["leak", "steady", "framework", "unsure"]
"""Memory grows with every call and the model is why; it does not; it does, for a trivial model too; too few calls to say."""
Series = Literal["heap", "resident", "device"]
WARM_UP = 10
"""Calls made before counting, and at most as many more as a fifth of those counted."""
FEWEST = 12
"""Calls below which nothing is said."""
FLOORS = {"heap": 512.0, "resident": 4096.0, "device": 256.0}
"""Bytes a call below which growth is not told from that of the framework and of measuring."""
STILL_GROWING = 1 / 3
"""Share of the whole slope that the second half must still have."""
OVER_CONTROL = 1.5
"""Growth of the model over growth of a trivial one from which it is the model's."""
MOST_BLOCKS = 25
"""Of a longer series the least of each of so many blocks counts: some readings see what is about to be freed."""
_HIDING_BYTES = 64 << 10
"""Growth per call that no framework explains: no control is needed."""
_CHECKPOINT_S = 1.0


@dataclass(frozen=True)
class GrowthReport(Slope):
    """The slope of one series over all calls, in bytes per call."""

    what: Series
    grows: bool
    """Whether it grows, and goes on growing."""
    late: Slope
    """Over the second half."""


@dataclass(frozen=True)
class LeakReport:
    """Whether calls leak, and the series that says so."""

    verdict: Verdict
    message: str
    calls: int = 0
    """That count, after those to warm up."""
    warm_up: int = 0
    ended: str = ""
    """Why it ended early; "" when all calls were made."""
    bytes_per_call: float | None = None
    """Of the series that tells, with its interval `low` … `high`; None with too few calls."""
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    what: Series | None = None
    growths: tuple[GrowthReport, ...] = ()
    control: GrowthReport | None = None
    """Of a model that does nothing, where that was asked."""
    series: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Bytes held after each call, by "resident_bytes", "heap_bytes" and "device_bytes"."""


@dataclass(frozen=True)
class WarmTimes:
    """Seconds of equal calls."""

    median_s: float
    p95_s: float
    fastest_s: float
    calls: int


@dataclass(frozen=True)
class Growth:
    """One series of held bytes: its slope per call over all calls, and over the second half."""

    what: Series
    whole: Slope
    late: Slope

    @property
    def grows(self) -> bool:
        """Whether it grows, and goes on growing."""
        return (
            self.whole.low > FLOORS[self.what]
            and self.late.low > 0
            and self.late.per_step > STILL_GROWING * self.whole.per_step
        )

    def report(self) -> GrowthReport:
        """For the page."""
        return GrowthReport(**vars(self.whole), what=self.what, grows=self.grows, late=self.late)


@dataclass(frozen=True)
class Repeated:
    """What repeated calls held and took."""

    warm_up: int
    held: tuple[Held, ...] = ()
    """After each call that counts."""
    times_s: tuple[float, ...] = ()
    ended: str = ""
    """Why it ended early; "" when all calls were made."""

    @property
    def growths(self) -> tuple[Growth, ...]:
        """The slope of each series there is; none with too few calls."""
        if len(self.held) < FEWEST:
            return ()
        found = []
        names: tuple[Series, ...] = ("device", "heap", "resident")
        for what in names:
            series = [getattr(held, f"{what}_bytes") for held in self.held]
            if None not in series:
                block = max(1, len(series) // MOST_BLOCKS)
                least = [min(series[start : start + block]) for start in range(0, len(series) - block + 1, block)]
                late = least[len(least) // 2 :]
                found.append(Growth(what, slope(least).per(block), slope(late).per(block)))
        return tuple(found)


@dataclass(frozen=True)
class Leak:
    """The answer: verdict, the series it rests on, and what a trivial model grew by where that was asked."""

    verdict: Verdict
    message: str
    repeated: Repeated
    growth: Growth | None = None
    control: Growth | None = None
    growths: tuple[Growth, ...] = field(default_factory=tuple)

    def report(self) -> LeakReport:
        """For the page; `series` has one entry per counted call."""
        held = self.repeated.held
        grown = self.growth.whole if self.growth else None
        return LeakReport(
            verdict=self.verdict,
            message=self.message,
            calls=len(held),
            warm_up=self.repeated.warm_up,
            ended=self.repeated.ended,
            bytes_per_call=grown.per_step if grown else None,
            low=grown.low if grown else None,
            high=grown.high if grown else None,
            confidence=grown.confidence if grown else None,
            what=self.growth.what if self.growth else None,
            growths=tuple(growth.report() for growth in self.growths),
            control=self.control.report() if self.control else None,
            series={
                f"{what}_bytes": tuple(getattr(item, f"{what}_bytes") for item in held)
                for what in ("resident", "heap", "device")
                if held and getattr(held[0], f"{what}_bytes") is not None
            },
        )


def repeat(
    call: Callable[[Feed], object],
    feed: Feed,
    holdings: Holdings,
    calls: int,
    limit_s: float,
    on_call: Callable[[int, Repeated], None] = lambda done, so_far: None,
) -> Repeated:
    """Calls the model `WARM_UP` times and then `calls` times, fewer when `limit_s` is over; nothing of a call is kept.

    Raises:
        OutOfMemory: memory ran out on the way; the sentence says how much had been gathered.
    """
    begin = time.perf_counter()
    warm_up = max(2, min(WARM_UP, calls // 5))
    held: list[Held] = []
    times: list[float] = []
    for _ in range(warm_up):
        call(feed)
    holdings.settle()
    holdings.read()
    ended, told = "", begin
    try:
        for done in range(1, calls + 1):
            start = time.perf_counter()
            call(feed)
            times.append(time.perf_counter() - start)
            held.append(holdings.read())
            if done == FEWEST or start - told > _CHECKPOINT_S:
                told = start
                on_call(done, Repeated(warm_up, tuple(held), tuple(times)))
            if done < calls and done >= FEWEST and time.perf_counter() - begin > limit_s:
                ended = f"After {done} of {calls} calls the time for this test ({limit_s:g} s) was over."
                break
    except Exception as error:
        cause = explain(error)
        if cause is None:
            raise
        grown = held[-1].resident_bytes - held[0].resident_bytes if held else 0
        raise OutOfMemory(
            f"After {len(held) + warm_up} equal calls, {cause.sentence} Over these calls the process grew by "
            f"{human_bytes(grown)}."
        ) from error
    finally:
        holdings.release()
    return Repeated(warm_up, tuple(held), tuple(times), ended)


def judge(repeated: Repeated, control: Callable[[], Repeated] | None = None) -> Leak:
    """Says whether the calls leak.

    Args:
        repeated: what they held.
        control: repeats calls of a trivial model in the same style; asked only where that could explain the growth.
    """
    growths = repeated.growths
    if not growths:
        return Leak(
            "unsure",
            f"Only {len(repeated.held)} calls: expected at least {FEWEST} to tell growth from noise.",
            repeated,
        )
    growing = [growth for growth in growths if growth.grows]
    if not growing:
        flattest = growths[0]
        return Leak(
            "steady",
            f"No leak: over {len(repeated.held)} equal calls memory changed by {_span(flattest.whole)} a call, which is "
            "none, or stopped growing.",
            repeated,
            flattest,
            growths=growths,
        )
    beside: dict[str, Growth] = {}
    if control is not None and all(growth.whole.per_step < _HIDING_BYTES for growth in growing):
        beside = {growth.what: growth for growth in control().growths}
    own = [growth for growth in growing if _exceeds(growth, beside.get(growth.what))]
    found = _telling(own or growing)
    compared = beside.get(found.what)
    answer = Leak("leak", "", repeated, found, compared, growths)
    if not own and compared is not None:
        return replace(
            answer,
            verdict="framework",
            message=f"No leak of this model: memory grows by {_span(found.whole)} a call, and by {_span(compared.whole)} with "
            "a model that does nothing. It is the framework's bookkeeping in this call style.",
        )
    calls_to_gib = int((1 << 30) / found.whole.per_step)
    return replace(
        answer,
        message=f"Memory leaks: every call keeps {_span(found.whole)} that is never freed, 1 GiB in about {calls_to_gib:,} "
        "calls. Something in the model holds what it computed: a list it appends to, a variable that grows, a cache.",
    )


def _exceeds(growth: Growth, control: Growth | None) -> bool:
    """Whether it grows more than a trivial model does."""
    return control is None or growth.whole.low > OVER_CONTROL * max(0.0, control.whole.high) + FLOORS[growth.what]


def _telling(growing: Sequence[Growth]) -> Growth:
    """The series to report: what is in use, where that grows; the resident size also counts the gaps between blocks."""
    counted = [growth for growth in growing if growth.what != "resident"]
    return max(counted or growing, key=lambda growth: growth.whole.low)


def _span(found: Slope) -> str:
    """A slope for people: "1.2 KiB (1.1 KiB to 1.3 KiB)"."""
    low, middle, high = (_signed(size) for size in (found.low, found.per_step, found.high))
    return f"{middle} ({low} to {high}, {found.confidence:.0%} sure)"


def _signed(size: float) -> str:
    return ("−" if size <= -0.5 else "") + human_bytes(round(abs(size)))


def warm_times(times_s: Sequence[float]) -> WarmTimes:
    """Median, 95th percentile and fastest of call times in seconds, at least one."""
    import numpy as np

    return WarmTimes(
        median_s=float(np.median(times_s)),
        p95_s=float(np.percentile(times_s, 95)),
        fastest_s=float(min(times_s)),
        calls=len(times_s),
    )
