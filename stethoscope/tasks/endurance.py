"""Many calls in a row, in one call style: the first against the later ones, leaks, and functions traced anew."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from stethoscope.data.batching import other_shapes
from stethoscope.data.dummy import FedInput, ModelInput, model_input
from stethoscope.errors import BadSetting, CannotRun, StethoscopeError
from stethoscope.memory import leak
from stethoscope.memory.calibrate import trivial
from stethoscope.memory.call_styles import Caller, caller
from stethoscope.memory.configure import Configured, configured
from stethoscope.memory.held import Holdings, card
from stethoscope.memory.leak import LeakReport, WarmTimes
from stethoscope.memory.precision import AS_SAVED
from stethoscope.memory.retracing import Retracing, retracing
from stethoscope.memory.run_settings import RunSettings, keeping_freed
from stethoscope.models.capabilities import LiveModel
from stethoscope.task import TaskContext
from stethoscope.types import Feed, Refusal, TensorSpec

TESTS = ("latency", "leak", "retracing")
CALLS = 100
TEST_S = 30.0
"""Seconds for each of the leak and the retracing test, unless the job says otherwise."""
_FEW_CALLS = 7


@dataclass(frozen=True)
class FirstCalls:
    """The first calls against the later ones."""

    load_s: float
    cold_s: float | None
    """Of the very first call, on one row; None where the model had run before."""
    warm_row: WarmTimes
    """Of later calls on one row."""
    first_batch_s: float
    warm: WarmTimes
    """Of later calls on a batch."""
    note: str
    cold_over_warm: float | None = None
    first_batch_over_warm: float | None = None
    time_per_sample_s: float | None = None
    """Of later calls on a batch."""


@dataclass(frozen=True)
class EnduranceReport:
    """How a model bears being called again and again; a test that was not asked for, or not done yet, is None."""

    settings: RunSettings
    configured: tuple[str, ...]
    """What was set up, in sentences."""
    precision_difference: Mapping[str, float | None]
    """By output, the largest difference that another precision makes to the first row; None for values not finite."""
    input: Mapping[str, FedInput]
    latency: FirstCalls | None = None
    leak: LeakReport | None = None
    retracing: Retracing | None = None


class Endurance:
    """Tests how a model bears being called again and again.

    params: {"settings", "tests": some of TESTS (all), "calls", "test_s", "samples", "seed", "trusted"}.
    """

    kind = "endurance"
    answer = EnduranceReport

    def run(self, context: TaskContext) -> EnduranceReport:
        """Runs the tests that were asked for.

        Raises:
            BadSetting: an unknown test, or fewer than one call.
            OutOfMemory: memory ran out; what was found until then is the job's partial answer.
        """
        tests = [str(name) for name in context.params.get("tests") or TESTS]
        for name in tests:
            if name not in TESTS:
                raise BadSetting(f"Test {name!r}: expected some of {', '.join(TESTS)}.")
        calls = int(context.params.get("calls", CALLS))
        test_s = float(context.params.get("test_s", TEST_S))
        if calls < leak.FEWEST or test_s <= 0:
            raise BadSetting(
                f"Endurance: expected at least {leak.FEWEST} calls and some time, got {calls} and {test_s:g} s."
            )
        begin = time.perf_counter()
        with configured(context) as opened:
            load_s = time.perf_counter() - begin
            given, call = _first_call(context, opened)
            batch_size = given.batching.fixed or opened.settings.batch_size
            feed = given.batching.take(given.feed, batch_size)
            answer = EnduranceReport(
                replace(opened.settings, batch_size=batch_size),
                tuple(opened.done),
                opened.precision_difference,
                given.about(feed),
            )
            context.memory.enforce()
            if "latency" in tests:
                context.report("latency", 0.0, "the first calls against the later ones")
                answer = replace(answer, latency=_latency(call, given, feed, load_s))
                context.save_partial(answer)
            if "leak" in tests:
                so_far = answer
                judged = _leak(
                    context,
                    opened,
                    call,
                    feed,
                    calls,
                    test_s,
                    lambda report: context.save_partial(replace(so_far, leak=report)),
                )
                answer = replace(answer, leak=judged.report())
                if answer.latency is not None and len(judged.repeated.times_s) > _FEW_CALLS:
                    warm = leak.warm_times(judged.repeated.times_s)
                    answer = replace(answer, latency=replace(answer.latency, warm=warm))
                context.save_partial(answer)
            call.close()
            if "retracing" in tests:
                answer = replace(answer, retracing=_retracing(context, opened, given, feed, test_s))
        if answer.latency is None:
            return answer
        return replace(answer, latency=_with_ratios(answer.latency, given.batching.rows(feed)))


class _Timed:
    """A caller that keeps the time of its first successful call."""

    def __init__(self, inner: Caller) -> None:
        self._inner, self.inputs = inner, inner.inputs
        self.batches_itself, self.compiles = inner.batches_itself, inner.compiles
        self.first_s: float | None = None

    inputs: tuple[TensorSpec, ...]

    @property
    def traces(self) -> int | None:
        return self._inner.traces

    def __call__(self, feed: Feed) -> Feed:
        start = time.perf_counter()
        found = self._inner(feed)
        self.first_s = time.perf_counter() - start if self.first_s is None else self.first_s
        return found

    def predict(self, feed: Feed, *, training: bool = False) -> Feed:
        return self._inner.predict(feed, training=True) if training else self(feed)

    def close(self) -> None:
        self._inner.close()


def _first_call(context: TaskContext, opened: Configured) -> tuple[ModelInput, _Timed]:
    """The input, and a caller whose very first call was timed where nothing had to run before it."""
    seed, batch_size = int(context.params.get("seed", 0)), opened.settings.batch_size
    samples = int(context.params.get("samples", 0))
    if opened.settings.precision == AS_SAVED:
        call = _Timed(caller(opened.runner, opened.settings))
        return model_input(context, opened.architecture, call, samples, seed, batch_size), call
    given, changed = opened.ready(context, samples, seed)
    return given, _Timed(changed)


def _latency(call: _Timed, given: ModelInput, feed: Feed, load_s: float) -> FirstCalls:
    one = given.batching.take(given.feed, given.batching.fixed or 1)
    cold = call.first_s
    rows = _times(call, one, _FEW_CALLS)
    start = time.perf_counter()
    call(feed)
    first_batch_s = time.perf_counter() - start
    return FirstCalls(
        load_s=load_s,
        cold_s=cold,
        warm_row=leak.warm_times(rows),
        first_batch_s=first_batch_s,
        warm=leak.warm_times(_times(call, feed, _FEW_CALLS)),
        note=""
        if cold is not None
        else "The change of precision ran the model before this test, so its first call was not cold.",
    )


def _with_ratios(latency: FirstCalls, rows: int) -> FirstCalls:
    cold, warm = latency.cold_s, latency.warm.median_s
    return replace(
        latency,
        cold_over_warm=None if cold is None else cold / max(latency.warm_row.median_s, 1e-9),
        first_batch_over_warm=latency.first_batch_s / max(warm, 1e-9),
        time_per_sample_s=warm / max(1, rows),
    )


def _times(call: Callable[[Feed], object], feed: Feed, calls: int) -> list[float]:
    times = []
    with keeping_freed():
        for _ in range(calls):
            start = time.perf_counter()
            call(feed)
            times.append(time.perf_counter() - start)
    return times


def _leak(
    context: TaskContext,
    opened: Configured,
    call: Caller,
    feed: Feed,
    calls: int,
    limit_s: float,
    keep: Callable[[LeakReport], None],
) -> leak.Leak:
    on_card = card() if opened.done and opened.settings.device != "cpu" else ""

    def repeated(called: Callable[[Feed], object], what: str) -> leak.Repeated:
        def on_call(done: int, so_far: leak.Repeated) -> None:
            context.report("leak", done / calls, f"{what}: call {done} of {calls}")
            if what == "repeating":
                keep(leak.Leak("unsure", "The test was not finished.", so_far).report())

        context.report("leak", 0.0, what)
        return leak.repeat(called, feed, Holdings(context.memory, on_card), calls, limit_s, on_call)

    def control() -> leak.Repeated:
        with contextlib.ExitStack() as stack:
            try:
                runner = trivial(opened.runner)
                if runner is None:
                    return leak.Repeated(0)
                beside = caller(stack.enter_context(runner), opened.settings)
                stack.callback(beside.close)
                return repeated(beside, "repeating a model that does nothing")
            except CannotRun:
                # Without something to compare with, growth counts as the model's.
                return leak.Repeated(0)

    return leak.judge(
        repeated(call, "repeating"), None if isinstance(opened.runner.can(LiveModel), Refusal) else control
    )


def _retracing(context: TaskContext, opened: Configured, given: ModelInput, feed: Feed, limit_s: float) -> Retracing:
    context.report("retracing", 0.0, "looking for shapes the model takes")
    runner, live = opened.runner, opened.runner.can(LiveModel)

    def accepts(part: Feed) -> object:
        # Eagerly: nothing is traced by looking.
        return runner.predict(part) if isinstance(live, Refusal) else live.called_with(part, live.model)

    try:
        feeds = other_shapes(feed, runner.inputs, given.batching, accepts)
        return retracing(
            runner,
            opened.settings,
            feeds,
            limit_s,
            lambda title, fraction: context.report("retracing", fraction, title),
        )
    except StethoscopeError as error:
        return Retracing("not traced", str(error))


TASK = Endurance()
