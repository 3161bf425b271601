"""A model made of numpy functions, so that every kind of misbehaviour takes a line and no framework."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from stethoscope.compare.consistency.report import ConsistencyReport
from stethoscope.compare.consistency.subject import Subject
from stethoscope.data.dummy import model_input
from stethoscope.errors import CannotRun
from stethoscope.task import TaskContext
from stethoscope.tasks.consistency import Study
from stethoscope.types import Architecture, Budget, Feed, Layer, ModelFile, Runner, TensorSpec

Step = tuple[str, str, Callable[[np.ndarray], np.ndarray]]
FLOATS = TensorSpec("x", (None, 6), "float32")
TOKENS = TensorSpec("tokens", (None, 5), "int32")


class NumpyRunner(Runner):
    """Steps (name, type, function), each applied to the last one's output; the first to the only input."""

    def __init__(self, spec: TensorSpec, steps: Sequence[Step], training: Callable | None) -> None:
        self.inputs = (spec,)
        self.outputs = (TensorSpec("y", None, "float32"),)
        self._steps, self._training = steps, training

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None: ...

    def predict(self, feed: Feed, *, training: bool = False) -> Feed:
        if training and self._training is None:
            raise CannotRun("fake: has no training mode.")
        last = list(self.activations(feed).values())[-1]
        return {"y": self._training(last) if training else last}

    def activations(self, feed: Feed, layers: Sequence[str] | None = None) -> Feed:
        value, found = next(iter(feed.values())), {}
        for name, _, function in self._steps:
            with np.errstate(all="ignore"):
                value = found[name] = function(value)
        return found


class _Meter:
    def added_bytes(self) -> int:
        return 0

    def watch(self) -> None: ...

    def rest(self) -> None: ...

    def enforce(self) -> None: ...


def study(
    folder: Path,
    *steps: Step,
    spec: TensorSpec = FLOATS,
    training: Callable | None = None,
    config: Mapping[str, Mapping[str, Any]] | None = None,
    format_id: str = "keras",
    batch_size: int = 8,
    dtype: str = "float32",
) -> ConsistencyReport:
    """Runs the whole study on a model of these steps."""
    names = [name for name, _, _ in steps]
    layers = tuple(
        Layer(name, kind, None, 0, 0, dtype, (before,), (config or {}).get(name, {}))
        for (name, kind, _), before in zip(steps, [spec.name, *names], strict=False)
    )
    architecture = Architecture(format_id, "", 0, 0, (spec,), (), layers)
    runner = NumpyRunner(spec, steps, training)
    context = TaskContext(
        {"model": ModelFile.at("fake")}, {}, folder, Budget(1 << 30, 60), lambda *_, **__: None, _Meter(), None
    )
    given = model_input(context, architecture, runner, 0, 0, batch_size)
    feed = given.batching.take(given.feed, given.batching.fixed or batch_size)
    return Study(Subject(context, architecture, runner, given, feed, 1e-5), 3).run()


_WEIGHTS = np.random.default_rng(5).standard_normal((6, 3)).astype(np.float32)


def dense(name: str = "dense") -> Step:
    """A healthy layer."""
    return name, "Dense", lambda x: x @ _WEIGHTS


def wrong(report: ConsistencyReport) -> set[str]:
    """Ids of the tests that failed."""
    return {test.id for test in report.tests if test.passed is False}
