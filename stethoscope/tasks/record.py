"""Record what one model answers, outputs and layers, for comparisons in other processes.

What the model that is right answers, recorded once in a job of its own: outputs, layers and edge cases.

Random rows that every model of a comparison can hold: integers cut off what lies beyond their range, which is no fault of the model.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.model_rows import ModelRows
from stethoscope.compare.parity.configured import told_by_configuration
from stethoscope.compare.parity.edge_cases import edge_feed
from stethoscope.compare.parity.inputs_and_outputs import pair_inputs
from stethoscope.compare.parity.labelled_rows import predicted
from stethoscope.compare.parity.layer_tensors import LayerTensors, Recording
from stethoscope.compare.parity.precision import Way
from stethoscope.compare.parity.side import Side, described, layers_or_reason, opened, way_of
from stethoscope.data.dummy import draws
from stethoscope.errors import StethoscopeError
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.formats import format_of
from stethoscope.models.quantisation import STORED
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Budget, Feed, Job, ModelFile, WorkerKind

RECORDED = "recorded"
"""The role in which the task `compare` gets what `record` left of the first model."""
AGAINST = "against-"
"""What begins the roles in which the task `record` gets models that the first is compared with."""
_OF_THE_FIRST = ("rows", "layers", "edges", "batch_size", "seed", "preparation", "data_options", "trusted")


@dataclass(frozen=True)
class Compared:
    """A model that is compared, and how it is run."""

    files: Mapping[str, ModelFile]
    """"model", and what lies beside it ("beside-…")."""
    worker: WorkerKind
    """The kind of worker that its format needs."""
    settings: RunSettings | None = None
    """None for the usual way."""
    format_id: str = ""


def comparison_job(
    first: Compared,
    other: Compared,
    data: ModelFile | None,
    params: Mapping[str, Any],
    budget: Budget,
    beside: Sequence[Compared] = (),
) -> Job:
    """The job that compares two models; the recording of the first comes before it, once for all comparisons with it.

    Args:
        first: the model that is right.
        other: the one that should answer the same; it may be the same file, run in another way.
        data: rows to compare on; None for random ones.
        params: of the task `compare`.
        budget: of either job.
        beside: all others that are compared in the same breath: the random rows suit every one of them.
    """
    asked = {name: params[name] for name in _OF_THE_FIRST if name in params}
    if first.settings is not None:
        asked["settings"] = first.settings.to_json()
    files = dict(first.files) | ({"data": data} if data is not None else {})
    others = dict.fromkeys(one.files["model"] for one in (other, *beside) if one.files["model"] != files["model"])
    files |= {f"{AGAINST}{place}": file for place, file in enumerate(sorted(others, key=lambda one: str(one.path)))}
    record = Job("record", files, asked, budget, first.worker)
    more = dict(params)
    if first.settings is not None:
        more["settings"] = first.settings.to_json()
    if other.settings is not None:
        more["other_settings"] = other.settings.to_json()
    renamed = {
        "other" if role == "model" else f"other-{role}" if role.startswith("beside-") else role: file
        for role, file in other.files.items()
    }
    files = {**first.files, **renamed} | ({"data": data} if data is not None else {})
    return Job("compare", files, more, budget, other.worker, {RECORDED: record})


ROWS, LAYER_ROWS = 32, 8
_LAYER_BYTES = 320 << 20
"""Of one model's layers' answers, on disk: fewer rows where they would be more."""
_OPEN = 64


def recorded(context: TaskContext, way: Way, folder: Path) -> Recording:
    """Runs files["model"] on the job's rows, keeping the layers' answers below `folder`.

    params: {"rows" (32), "layers" (true), "edges" (true), "batch_size", "seed", "preparation", "data_options"}.

    Raises:
        StethoscopeError: as `open_model`, as `ModelRows`, or the model cannot be run on the rows.
    """
    params, name = context.params, context.files["model"].name
    rows, each = max(1, int(params.get("rows") or ROWS)), params.get("batch_size")
    context.memory.watch()
    with opened(context, "model", way) as side:
        with ModelRows(
            context, side.architecture, side.runner, dummy_rows=rows, seed=int(params.get("seed") or 0)
        ) as given:
            places, feed = given.at(range(min(rows, given.rows)))
            places, feed = places[:rows], given.batching.part(feed, 0, rows)
            described = given.described(places.tolist()) if given.source != "dummy" else []
            source = given.source
        said = list[str]()
        feed = side.real(feed)
        if source == "dummy":
            feed, said = within_ranges(context, side.architecture, feed, int(params.get("seed") or 0))
        context.report("run", 0.25, f"running {name}")
        outputs, time_s = timed(side, feed, each)
        few = side.batching.part(feed, 0, _layer_rows(side.architecture, len(places)))
        tensors, problem = LayerTensors(folder / "layers"), ""
        if params.get("layers", True):
            context.report("layers", 0.5, f"reading the layers of {name}")
            tensors, problem = layers_or_reason(side, few, folder / "layers")
        made = Recording(
            inputs=side.runner.inputs,
            feed=feed,
            outputs=outputs,
            predicted=side.predicted(feed),
            places=places,
            layers=tensors,
            problem=problem,
            layer_rows=side.batching.rows(few),
            source=source,
            described=described,
            time_s=time_s,
            way=way,
            notes=said,
            clipped=side.clipped(feed),
        )
        if params.get("edges", True):
            context.report("edges", 0.9, f"{name} on edge cases")
            _add_edges(made, side, each)
        made.peak_bytes = context.memory.peak_bytes()
        if source != "dummy":
            _add_labelled(made, context, side, each)
        return made


def _add_labelled(made: Recording, context: TaskContext, side: Side, batch_size: int | None) -> None:
    """What the model answers to the rows that have labels; nothing where there are none."""
    with ModelRows(context, side.architecture, side.runner) as given:
        found = predicted(
            given,
            lambda feed: side.outputs(feed, batch_size),
            lambda done: context.report("labelled rows", done, f"{side.file.name} on all rows with labels"),
            batch_size,
        )
    made.labelled, made.labelled_outputs, made.targets = found.places, found.outputs, found.targets


def timed(side: Side, feed: Feed, batch_size: int | None) -> tuple[Feed, float]:
    """The outputs for all rows, and the seconds it took."""
    start = time.perf_counter()
    found = side.outputs(feed, batch_size)
    return found, time.perf_counter() - start


def _add_edges(made: Recording, side: Side, batch_size: int | None) -> None:
    edges = edge_feed(made.feed, made.inputs, draws(side.architecture, made.inputs), side.batching.names)
    if edges is None:
        return
    try:
        made.edge_outputs = side.outputs(edges, batch_size)
        made.edges = edges
    except StethoscopeError as error:
        made.notes.append(f"Edge cases are not compared: {error}")


def _layer_rows(architecture: Architecture, rows: int) -> int:
    each = sum(
        4 * math.prod(size or _OPEN for size in layer.output_shape[1:])
        for layer in architecture.layers
        if layer.output_shape
    )
    return max(1, min(rows, LAYER_ROWS, _LAYER_BYTES // max(1, each)))


_BEYOND = 0.01
"""Share of random values beyond a range from which they are drawn inside of it."""


def within_ranges(context: TaskContext, architecture: Architecture, feed: Feed, seed: int) -> tuple[Feed, list[str]]:
    """Random rows with inputs drawn evenly from what all models can hold, where much of them would lie beyond; and what was done.

    Args:
        context: files in the roles "against-…" are the models that the first is compared with; none in the role "other".
        architecture: of the first.
        feed: random rows in real numbers, by the first model's names.
        seed: of the rows.

    Returns:
        (the rows, sentences on the inputs drawn anew).
    """
    narrowest: dict[str, Held] = {}
    for name, held in _ranges(context, architecture):
        before = narrowest.get(name)
        narrowest[name] = held if before is None else before.within(held)
    found, notes = dict(feed), list[str]()
    for place, (name, array) in enumerate(feed.items()):
        held = narrowest.get(name, Held(-np.inf, np.inf))
        if array.dtype.kind not in "fiu" or not held.low < held.high or held.mostly_holds(array):
            continue
        random = np.random.default_rng([seed, place])
        drawn = random.uniform(held.low, held.high, array.shape)
        found[name] = (np.round(drawn) if held.whole else drawn).astype(array.dtype)
        of_what = "whole numbers" if held.whole else "integers"
        notes.append(
            f"Random values of input {name!r} lie between {held.low:.3g} and {held.high:.3g}: that is what {of_what} hold."
        )
    return found, notes


@dataclass(frozen=True)
class Held:
    """Which real numbers an input can stand for."""

    low: float
    high: float
    whole: bool = False
    """Whether integers stand for themselves there."""

    def within(self, other: Held) -> Held:
        """What both can stand for."""
        return Held(max(self.low, other.low), min(self.high, other.high), self.whole or other.whole)

    def mostly_holds(self, array: npt.NDArray[Any]) -> bool:
        """Whether all but a few of the values can be held."""
        beyond = (array < self.low) | (array > self.high)
        if self.whole and array.dtype.kind == "f":
            beyond |= array != np.round(array)
        return bool(np.mean(beyond) <= _BEYOND)


def _ranges(context: TaskContext, architecture: Architecture) -> Iterator[tuple[str, Held]]:
    """(the first model's input, what it holds in one of the models)."""
    yield from _held(context.files["model"], architecture)
    for role, file in context.files.items():
        if role == "other" or role.startswith(AGAINST):
            there = described(file)
            pairs = pair_inputs(architecture.inputs, there.inputs)
            yield from ((pairs[name], held) for name, held in _held(file, there) if name in pairs)


def _held(file: ModelFile, architecture: Architecture) -> Iterator[tuple[str, Held]]:
    ranges = format_of(architecture).ends(file).ranges
    for spec, draw in zip(architecture.inputs, draws(architecture, architecture.inputs), strict=True):
        if spec.name in ranges:
            yield spec.name, Held(*ranges[spec.name])
        elif draw.kind == "integers" and spec.dtype not in STORED:
            yield spec.name, Held(float(draw.low), float(draw.high - 1), whole=True)
        elif spec.dtype in STORED:
            ends = np.iinfo(spec.dtype)
            yield spec.name, Held(float(ends.min), float(ends.max), whole=True)


@dataclass(frozen=True)
class Recorded:
    """What a recording holds: rows, layers whose answers were kept, and what the first call on all rows took."""

    rows: int
    layers: int
    time_s: float
    peak_bytes: int


class Record:
    """Files: "model", optionally "data". params: as the task `compare`, of which this is the first half."""

    kind = "record"
    answer = Recorded

    def run(self, context: TaskContext) -> Recorded:
        """Leaves the recording (see `parity.recording`).

        Raises:
            StethoscopeError: as `recorded`.
        """
        way = way_of(context, "model", alone=True)
        folder = context.folder / "out"
        with told_by_configuration(context.files, f"{AGAINST}0"):
            made = recorded(context, way, folder)
        made.save(folder)
        return Recorded(len(made.places), len(made.layers), made.time_s, made.peak_bytes)


TASK = Record()
