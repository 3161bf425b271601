"""How often a model's function is traced when shapes change, and the signature that stops it. Used in a worker.

A `tf.function` is traced for each new shape (and XLA compiles for each): a service that sees every batch size and
sentence length pays for it again and again, in time and in memory, as every trace is kept. An `input_signature` with the
dynamic dimensions open makes one trace serve all.

Source: tensorflow.org/guide/function, “Controlling retracing”.

The `input_signature` of a model's inputs, as Python: what keeps a `tf.function` from being traced again. In a worker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from stethoscope.errors import StethoscopeError
from stethoscope.memory.call_styles import Tracing, caller
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.capabilities import LiveModel
from stethoscope.types import Feed, Refusal, Runner, Shape, TensorSpec

Verdict = Literal["retraced", "stable", "recompiled", "not traced", "one shape"]
WAYS: dict[Tracing, str] = {
    "every shape": "tf.function(model)",
    "relaxed": "tf.function(model, reduce_retracing=True)",
    "signature": "tf.function(model, input_signature=…)",
}
_COMPILED_WAYS: dict[Tracing, str] = {
    "every shape": "tf.function(model, jit_compile=True)",
    "signature": "tf.function(model, jit_compile=True, input_signature=…)",
}
_FEWEST_SHAPES = 3
"""Shapes tried in each way whatever time they take."""
_SLOW_S, _SLOW_RATIO = 0.05, 3.0
"""A first call of a shape that takes this long, and so many times what a second takes, was not just a call."""


@dataclass(frozen=True)
class Way:
    """One way of making the function, called twice with each shape."""

    id: str
    title: str
    traces: int | None
    """How often its Python was run to make a graph; None where there is none."""
    calls: int = 0
    shapes: int = 0
    slow_shapes: int = 0
    """First calls after the very first that were much slower than the second: traced or compiled anew."""
    first_s: tuple[float, ...] = ()
    """Seconds of the first call with each shape."""
    again_s: tuple[float, ...] = ()
    reason: str = ""
    """Why it could not be tried, or not with every shape."""

    @classmethod
    def timed(
        cls, id_: str, title: str, traces: int | None, first_s: Sequence[float], again_s: Sequence[float], reason: str
    ) -> Way:
        """With what the times of its calls say."""
        pairs = list(zip(first_s, again_s, strict=True))[1:]
        slow = sum(first > _SLOW_S and first > _SLOW_RATIO * again for first, again in pairs)
        calls = len(first_s) + len(again_s)
        return cls(id_, title, traces, calls, len(first_s), slow, tuple(first_s), tuple(again_s), reason)


@dataclass(frozen=True)
class Retracing:
    """Traces against calls, for the call style asked about and for the ways of a `tf.function`."""

    verdict: Verdict
    message: str
    shapes: tuple[Mapping[str, tuple[int, ...]], ...] = ()
    """Input shapes by input name, in the order tried."""
    ways: tuple[Way, ...] = field(default_factory=tuple)
    present: str = ""
    """Which of `ways` is the call style asked about."""
    signature: str = ""
    """Python that stops it."""
    stops: bool | None = None
    """Whether it was seen to: one trace for all shapes."""


def retracing(
    runner: Runner,
    settings: RunSettings,
    feeds: Sequence[Feed],
    limit_s: float,
    on_way: Callable[[str, float], None] = lambda title, fraction: None,
) -> Retracing:
    """Calls the model with each feed, twice, in the call style of the settings and in the ways of making a function.

    Args:
        runner: the opened model.
        settings: the call style asked about.
        feeds: one for each shape, all accepted by the model.
        limit_s: no way is begun after it; in each, at least three shapes are called.
        on_way: told what is tried, and the share done.
    """
    shapes = tuple({name: array.shape for name, array in feed.items()} for feed in feeds)
    model = runner.can(LiveModel)
    if isinstance(model, Refusal):
        return Retracing(
            "not traced",
            "This file is a finished graph: nothing is traced when it is called, whatever the shapes.",
            shapes,
        )
    if len(feeds) < 2:
        return Retracing("one shape", "The model takes one shape only, so one trace serves every call.", shapes)
    begin = time.perf_counter()
    compiled = settings.xla or settings.call == "compiled"
    plans = _plans(settings)
    ways: list[Way] = []
    for number, (id_, title, changed, tracing) in enumerate(plans):
        on_way(title, number / len(plans))
        left = limit_s - (time.perf_counter() - begin)
        if left <= 0:
            ways.append(Way(id_, title, None, reason="The time for this test was over."))
        else:
            ways.append(_tried(runner, changed, tracing, feeds, id_, title, left / (len(plans) - number)))
    signature = signature_code(model, feeds[0], compiled=compiled)
    return _judged(Retracing("stable", "", shapes, tuple(ways), plans[0][0], signature), settings, compiled)


def _plans(settings: RunSettings) -> list[tuple[str, str, RunSettings, Tracing]]:
    """What to try, the call style asked about first."""
    compiled = settings.xla or settings.call == "compiled"
    function = replace(settings, call="compiled" if compiled else "function", xla=False)
    ways = _COMPILED_WAYS if compiled else WAYS
    plans: list[tuple[str, str, RunSettings, Tracing]] = [(id_, ways[id_], function, id_) for id_ in ways]
    if settings.call in ("function", "compiled"):
        return plans
    title = {"predict": "model.predict(x)", "predict_on_batch": "model.predict_on_batch(x)", "call": "model(x)"}
    return [(settings.call, title[settings.call], settings, "relaxed"), *plans]


def _tried(
    runner: Runner, settings: RunSettings, tracing: Tracing, feeds: Sequence[Feed], id_: str, title: str, limit_s: float
) -> Way:
    begin = time.perf_counter()
    first: list[float] = []
    again: list[float] = []
    reason = ""
    traces: int | None = None
    try:
        call = caller(runner, settings, tracing=tracing)
        for feed in feeds:
            if len(first) >= _FEWEST_SHAPES and time.perf_counter() - begin > limit_s:
                reason = f"{len(first)} of {len(feeds)} shapes in the time for this test."
                break
            for times in (first, again):
                start = time.perf_counter()
                call(feed)
                times.append(time.perf_counter() - start)
        traces = call.traces
        call.close()
    except StethoscopeError as error:
        reason = str(error)
    return Way.timed(id_, title, traces, first[: len(again)], again, reason)


def _judged(found: Retracing, settings: RunSettings, compiled: bool) -> Retracing:
    by_id = {way.id: way for way in found.ways}
    present, fixed = by_id[found.present], by_id["signature"]
    shapes = len(fixed.first_s)
    stops = None if fixed.traces is None or shapes < 2 else fixed.traces == 1
    found = replace(found, stops=stops)
    if settings.call == "call":
        return replace(
            found, verdict="not traced", message="model(x) runs eagerly: nothing is traced, whatever the shapes."
        )
    if present.traces is None or len(present.first_s) < 2:
        return replace(found, verdict="not traced", message=present.reason or "Nothing was traced.")
    cure = (
        f" The signature below was tried: {_count(fixed.traces)} for {shapes} shapes."
        if stops
        else f" The signature below did not stop it: {fixed.reason or _count(fixed.traces)}."
    )
    counted = f"{present.title}: {_count(present.traces)} over {len(present.first_s)} shapes."
    if present.traces > 2:
        saved = sum(present.first_s) - sum(present.again_s)
        return replace(
            found,
            verdict="retraced",
            message=f"{counted} Tracing took {saved:.2g} s beyond the calls themselves, and each trace is kept.{cure}"
            + (" XLA still compiles each new shape: pad to a few sizes." if compiled else ""),
        )
    if compiled and present.slow_shapes > 1:
        return replace(
            found,
            verdict="recompiled",
            message=f"{counted} XLA compiled {present.slow_shapes + 1} times all the same, once for each shape: pad to a few sizes.",
        )
    return replace(found, message=f"{counted} It is not traced for every shape.{cure if present.traces > 1 else ''}")


def _count(traces: int | None) -> str:
    return "no trace" if traces is None else f"{traces} trace{'' if traces == 1 else 's'}"


def signature_code(runner: LiveModel, feed: Feed, *, compiled: bool = False) -> str:
    """Returns the two lines that wrap `model` in a function that one trace serves for every shape it takes.

    Args:
        runner: the opened model; it is not run.
        feed: one array per input name, of any shape the model takes.
        compiled: whether XLA compiles the function.
    """
    seen: list[Any] = []

    def capture(argument: Any) -> Any:
        seen.append(argument)
        return argument

    runner.called_with(feed, capture)
    specs = _leaves(seen[0], list(runner.inputs))
    options = "jit_compile=True, " if compiled else ""
    return f"import tensorflow as tf\n\ninfer = tf.function(model, {options}input_signature=[{specs}])\n"


def _leaves(argument: Any, inputs: list[TensorSpec]) -> str:
    """The structure of an argument with the code of a spec for each tensor; takes specs off `inputs` in order."""
    if isinstance(argument, dict):
        # Flattened, a dict has the order of its sorted keys.
        found = {key: _leaves(argument[key], inputs) for key in sorted(argument)}
        return "{" + ", ".join(f"{key!r}: {code}" for key, code in found.items()) + "}"
    if isinstance(argument, list):
        return "[" + ", ".join(_leaves(item, inputs) for item in argument) + "]"
    if isinstance(argument, tuple):
        return "(" + "".join(f"{_leaves(item, inputs)}, " for item in argument).rstrip() + ")"
    spec = inputs.pop(0)
    return f"tf.TensorSpec({_shape(spec.shape, argument)}, tf.{argument.dtype.name})"


def _shape(declared: Shape | None, argument: Any) -> str:
    shape = (None,) * len(argument.shape) if declared is None else declared
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
