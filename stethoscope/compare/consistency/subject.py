"""The opened model under test: its input, its first answer, its tolerance, and every way in which the tests call it.

What one test says, and where a difference begins.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope import framework_errors
from stethoscope.compare.consistency.report import ConsistencyTest, FirstDifference, Group
from stethoscope.data.batching import Difference, worst
from stethoscope.data.dummy import ModelInput
from stethoscope.errors import BadInput, StethoscopeError
from stethoscope.framework_errors import gist
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Layer, Runner

_TIME_SHARE = 0.6
_MEMORY_SHARE = 0.3
"""Two sets of activations are compared, and frameworks hold a copy for each while they are made."""
_LAYER_ROWS = 4
_DOING = re.compile(r"^(?:TensorFlow|LiteRT|onnxruntime) (?:refused the data|failed) while running it: ")
_ADVICE = re.compile(r"\. (?:Check the input values|Give data of that|Save the model again)[^.]*\.?$")


class Refused(BadInput):
    """The model did not take an input; the text is one sentence of what it said."""


@dataclass
class Subject:
    """One model with the input of this study.

    `reference` is its first answer to `feed`; `steady` says that later answers to `feed` agreed with it;
    `independent` that rows of a batch were found not to depend on each other.
    """

    context: TaskContext
    architecture: Architecture
    runner: Runner
    given: ModelInput
    feed: Feed
    atol: float
    seed: int = 0
    reference: Feed = field(default_factory=dict)
    steady: bool = True
    independent: bool = True
    started_s: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.batching = self.given.batching
        self.rows = self.batching.rows(self.feed)
        self.layers: Mapping[str, Layer] = {layer.path: layer for layer in self.architecture.layers}
        self.half = any(layer.dtype in ("float16", "bfloat16") for layer in self.architecture.layers)

    @property
    def out_of_time(self) -> bool:
        """Whether most of the time limit is gone, so that what can be left out is left out."""
        return time.monotonic() - self.started_s > _TIME_SHARE * self.context.budget.timeout_s

    def begun(self, feed: Feed) -> Feed:
        """Runs the model from the state that it begins with, where it keeps one."""
        self.runner.forget()
        return self.runner.predict(feed)

    def answer(self, feed: Feed, *, training: bool = False, begin: bool = True) -> Feed:
        """Runs the model on an input that it may not take.

        Args:
            feed: the input.
            training: whether in training mode.
            begin: whether from the state that the model begins with, where it keeps one, and not from what the last call left.

        Raises:
            Refused: it did not.
        """
        if begin:
            self.runner.forget()
        try:
            return self.runner.predict(feed, training=training)
        except Exception as error:
            framework_errors.let_through(error)
            raise Refused(self.said(error)) from error

    def activations(self, feed: Feed, layers: Sequence[str] | None = None) -> Feed | None:
        """The output of every layer, or of `layers`; None where it cannot be seen, or would not fit into memory."""
        wanted = self.layers.values() if layers is None else [self.layers[path] for path in layers]
        need = sum(_output_bytes(layer, self.batching.rows(feed), self.given.dynamic_size or 1) for layer in wanted)
        if need > _MEMORY_SHARE * (self.context.budget.memory_bytes - self.context.memory.added_bytes()):
            return None
        try:
            return self.runner.activations(feed, layers)
        except Exception as error:  # noqa: BLE001 - a missing explanation must not cost the finding it would explain
            self.context.report("locate", message=self.said(error))
            return None

    def gap(self, first: Feed, second: Feed) -> Difference | None:
        """The largest difference between two answers, judged by this model's tolerance."""
        return worst(first, second, self.atol, half=self.half)

    def few(self, feed: Feed, rows: int = _LAYER_ROWS) -> Feed:
        """The first rows, enough to compare layers without keeping large tensors."""
        return self.batching.take(feed, self.batching.fixed or max(1, min(self.batching.rows(feed), rows)))

    def by_row(self, answer: Feed, rows: int) -> Feed:
        """The outputs that have one row for each of `rows` input rows."""
        return {name: array for name, array in answer.items() if array.ndim and array.shape[0] == rows}

    def kind(self, path: str) -> str:
        """The type of the layer behind an activation's name ("path", "path#2", "path:1")."""
        for name in (path, path.split("#", maxsplit=1)[0], path.rsplit(":", 1)[0].split("#", maxsplit=1)[0]):
            if name in self.layers:
                return self.layers[name].type
        return path.rsplit("/", 1)[-1]

    def said(self, error: Exception) -> str:
        """One sentence of what a runtime said, without the file's name and the full stop."""
        cause = framework_errors.explain(error)
        text = cause.sentence if cause else str(error) if isinstance(error, StethoscopeError) else gist(error)
        text = _DOING.sub("", text.removeprefix(f"{self.context.files['model'].name}: "))
        return _ADVICE.sub("", text).strip().rstrip(".")


def _output_bytes(layer: Layer, rows: int, dynamic_size: int) -> int:
    if layer.output_shape is None:
        return 0
    first, *others = layer.output_shape or (1,)
    return 4 * (first or rows) * math.prod(size or dynamic_size for size in others)


def picked(answer: Feed, index: npt.NDArray[np.intp] | slice) -> Feed:
    """The same rows of every array."""
    return {name: array[index] for name, array in answer.items()}


def floats(answer: Feed) -> Feed:
    """The outputs that can hold NaN."""
    return {name: array for name, array in answer.items() if array.dtype.kind in "fc"}


def non_finite(answer: Feed) -> dict[str, int]:
    """The number of NaN and infinite values in each output that has some."""
    counts = {name: int(array.size - np.isfinite(array).sum()) for name, array in floats(answer).items()}
    return {name: count for name, count in counts.items() if count}


def first_values(answer: Feed, row: int = 0, count: int = 8) -> list[Any]:
    """The first numbers of one row of the first output, for a report."""
    for array in answer.values():
        if array.dtype.kind in "fiub" and array.size:
            part = array[row] if array.ndim and array.shape[0] > row else array
            return [value.item() for value in np.ravel(part)[:count]]
    return []


@dataclass(frozen=True)
class Origin:
    """The first layer, in execution order, that shows something, and why it does."""

    layer: str
    reason: str
    gap: Difference | None = None
    """The difference in the layer's output, where two runs were compared."""

    def difference(self) -> FirstDifference:
        """As the answer has it."""
        if self.gap is None:
            return FirstDifference(self.layer, None, self.reason)
        return FirstDifference(
            self.layer, self.gap.max_abs_diff, self.reason, tuple(self.gap.values), tuple(self.gap.index)
        )


@dataclass(frozen=True)
class Trial:
    """One thing that was tried.

    `passed` is None when it does not apply to this model, or, with `noted`, when it showed something that is worth
    knowing and no defect. `decides` says that failing it makes the model inconsistent. `values` are measured numbers.
    """

    id: str
    group: Group
    name: str
    passed: bool | None
    detail: str
    max_abs_diff: float | None = None
    origin: Origin | None = None
    noted: bool = False
    decides: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)

    def test(self) -> ConsistencyTest:
        """As the answer has it."""
        told = {name: value for name, value in vars(self).items() if name != "origin"}
        layer, reason = (None, "") if self.origin is None else (self.origin.layer, self.origin.reason)
        return ConsistencyTest(**told, layer=layer, reason=reason)


def number(value: Any) -> str:
    """A number in a sentence; anything else as it is."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def listed(paths: list[str], shown: int = 3) -> str:
    """Some layer paths in a sentence."""
    return ", ".join(paths[:shown]) + (f" and {len(paths) - shown} more" if len(paths) > shown else "")
