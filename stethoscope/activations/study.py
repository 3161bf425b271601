"""Statistics of every layer over all rows of the data, streamed: batches come and go, a few numbers for each unit stay.

Whole outputs of the first rows, one file per layer, for those who compare them elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stethoscope.activations.layer_totals import TOP_SAMPLES, LayerStatistics, LayerTotals
from stethoscope.activations.model_rows import ModelRows
from stethoscope.activations.reach import UnseenLayer, base, fed_by, known_layers, reachable, unseen
from stethoscope.activations.watching import Watching, output_bytes
from stethoscope.errors import BadSetting
from stethoscope.models.capabilities import LayersTimed
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Layer, Refusal, Runner

BATCH_SIZE = 32
ROW_OUTPUTS_BYTES = 12 << 20
"""Of one layer, for the rows of one call: several layers' outputs wait to be read at a time."""
MOST_LAYER_FILES = 2_000
"""Layers whose units are written as files; a graph of more operators has statistics for all, units for the first."""


@dataclass(frozen=True)
class StudySettings:
    """What was asked for."""

    batch_size: int
    """Rows in one call: those asked for, or fewer where the outputs of a row are large."""
    rows: int | None
    """None for all."""
    seed: int
    layers: tuple[str, ...] | None
    """None for all."""


@dataclass(frozen=True)
class LayerActivations:
    """What every layer puts out over the rows."""

    layers: tuple[LayerStatistics, ...]
    unreachable: tuple[UnseenLayer, ...]
    order: tuple[int, ...]
    """Of each of `layers` its place among the model's; -1 where it is none of them."""
    rows: int
    rows_in_data: int
    batches: int
    source: str
    """The data's name; "dummy" for random input."""
    way: str
    """How the sums were made."""
    wall_s: float
    top_samples: int
    kept_rows: int
    not_kept: tuple[str, ...]
    """Layers whose outputs found no room."""
    settings: StudySettings


class Study:
    """One job: the params "layers", "rows", "batch_size", "seed" of the task `activations`."""

    def __init__(self, context: TaskContext, architecture: Architecture, runner: Runner) -> None:
        params = context.params
        self._context, self._architecture, self._runner = context, architecture, runner
        self._seed = int(params.get("seed") or 0)
        rows = params.get("rows")
        self._rows = None if rows is None else max(1, int(rows))
        self._expected = reachable(architecture, runner)
        self._wanted = wanted_layers(architecture, self._expected, params.get("layers"), context.files["model"].name)
        widest = max((output_bytes(layer, 1) for layer in architecture.layers), default=1)
        self._asked = max(1, int(params.get("batch_size") or BATCH_SIZE))
        self._batch_size = min(self._asked, max(1, ROW_OUTPUTS_BYTES // widest))
        self._watching = Watching(architecture, runner, self._wanted, context.budget.memory_bytes, self._seed)
        self._totals: dict[str, LayerTotals] = {}
        self._kept: dict[str, str] = {}
        self._times: Mapping[str, float] = {}
        self._left_out: list[str] = []

    def run(self) -> LayerActivations:
        """Runs the model over the rows and returns the answer of the task."""
        batches = seen = 0
        dummy = self._rows or self._asked
        with ModelRows(self._context, self._architecture, self._runner, dummy_rows=dummy, seed=self._seed) as given:
            planned = given.rows if self._rows is None else min(self._rows, given.rows)
            self._context.report("activations", 0.0, f"first of {planned:,} rows")
            self._context.memory.watch()
            started = time.monotonic()
            for places, feed in given.batches(self._rows, self._batch_size):
                for key, reduced in self._watching.reduce(feed).items():
                    self._of(key, reduced).add(reduced, places)
                if not batches:
                    self._context.memory.enforce()
                    self._context.memory.rest()
                batches, seen = batches + 1, seen + len(places)
                self._context.report("activations", min(1.0, seen / max(1, planned)), f"{seen:,} of {planned:,} rows")
            wall_s = time.monotonic() - started
            self._times = self._timed(given)
            kept = int(self._context.params.get("keep_rows") or 0)
            if kept > 0:
                self._kept, self._left_out = keep_outputs(
                    self._context, self._architecture, self._runner, self._wanted, given, kept
                )
            return self._answer(given, batches, seen, wall_s, min(kept, given.rows))

    def _timed(self, given: ModelRows) -> Mapping[str, float]:
        """Seconds of each layer in one call, where the format tells them."""
        timed = self._runner.can(LayersTimed)
        if not self._context.params.get("times") or isinstance(timed, Refusal):
            return {}
        self._context.report("times", message="time of each layer")
        rows = given.batching.fixed or min(self._batch_size, given.rows)
        return timed.layer_times(given.at(list(range(rows)))[1])

    def _of(self, key: str, reduced: Mapping[str, Any]) -> LayerTotals:
        if key not in self._totals:
            watching = self._watching
            layout = watching.layout(key, len(reduced["shape"]))
            self._totals[key] = LayerTotals(key, watching.kind(key), watching.activation(key), layout)
        return self._totals[key]

    def _answer(self, given: ModelRows, batches: int, seen: int, wall_s: float, kept: int) -> LayerActivations:
        order = {layer.path: place for place, layer in enumerate(self._architecture.layers)}
        hidden = unseen(self._architecture, self._expected, self._totals, self._watching.hidden)
        asked = self._context.params.get("layers")
        return LayerActivations(
            layers=tuple(self._entry(number, totals) for number, totals in enumerate(self._totals.values())),
            unreachable=tuple(one for one in hidden if asked is None or one.path in self._wanted),
            order=tuple(order.get(base(key, order), -1) for key in self._totals),
            rows=seen,
            rows_in_data=given.rows,
            batches=batches,
            source=given.source,
            way=self._watching.way,
            wall_s=round(wall_s, 4),
            top_samples=TOP_SAMPLES,
            kept_rows=kept,
            not_kept=tuple(self._left_out),
            settings=StudySettings(
                batch_size=given.batching.fixed or self._batch_size,
                rows=self._rows,
                seed=self._seed,
                layers=None if asked is None else tuple(map(str, asked)),
            ),
        )

    def _entry(self, number: int, totals: LayerTotals) -> LayerStatistics:
        written = number < MOST_LAYER_FILES and totals.units > 1
        return replace(
            totals.result(),
            layer=base(totals.path, self._expected),
            units_file=self._context.save(f"units-{number}", totals.by_unit) if written else None,
            top_file=self._context.save(f"top-{number}", totals.top) if written and totals.top_values.size else None,
            outputs_file=self._kept.get(totals.path),
            time_s=self._times.get(totals.path),
        )


def wanted_layers(architecture: Architecture, expected: Mapping[str, str], asked: Any, model: str) -> list[str]:
    """The layers to watch: those asked for (all without a choice) that can be seen.

    Raises:
        BadSetting: there is no such layer, or none of those asked for can be seen.
    """
    if asked is None:
        return [path for path, reason in expected.items() if not reason]
    bases = [base(str(path), expected) for path in asked]
    unknown = [path for path in bases if path not in expected]
    if unknown:
        raise BadSetting(f"Layer {unknown[0][:80]!r}: {model} has no such layer. Choose one from the layer table.")
    found = [path for path in dict.fromkeys(bases) if not expected[path]]
    if not found:
        why = f" ({expected[bases[0]]})" if bases else ""
        raise BadSetting(f"{model}: expected layers whose output can be seen, got none{why}. Choose others.")
    return found


_GROUP_BYTES = 256 << 20
_DISK_SHARE = 0.5
"""Of what the job may write."""


def keep_outputs(
    context: TaskContext, architecture: Architecture, runner: Runner, layers: Sequence[str], given: ModelRows, rows: int
) -> tuple[dict[str, str], list[str]]:
    """Writes the outputs of `layers` for the first `rows` rows, as the runtime gives them, as outputs-<n>.npy.

    Returns:
        The file's name by output key ("path", "path#2", "path:1"), and the layers left out for want of room.
    """
    places = list(range(min(rows, given.rows)))
    calls = [(len(found), feed) for found, feed in given.calls(places)]
    known = known_layers(architecture, runner)
    left = int(_DISK_SHARE * context.budget.disk_bytes)
    files: dict[str, str] = {}
    left_out: list[str] = []
    for group in _groups([known[path] for path in layers], len(places)):
        for key, values in _outputs(runner, [known[path] for path in group], calls, given.batching.fixed).items():
            if values.nbytes > left:
                left_out.append(key)
                continue
            left -= values.nbytes
            files[key] = context.save(f"outputs-{len(files)}", values)
        context.report("outputs", len(files) / max(1, len(layers)), f"outputs of {len(places):,} rows")
    return files, left_out


def _outputs(runner: Runner, layers: Sequence[Layer], calls: Sequence[tuple[int, Feed]], fixed: int | None) -> Feed:
    """The layers' outputs of all calls, one behind the other; of what has no entry for each row, the first call's."""
    parts: dict[str, list[Any]] = {}
    for rows, feed in calls:
        fed = {layer.path: fed_by(layer, feed) for layer in layers}
        asked = [path for path, name in fed.items() if not name]
        found: Feed = {path: feed[name] for path, name in fed.items() if name}
        found |= runner.activations(feed, asked) if asked else {}
        for key, array in found.items():
            by_row = fixed is not None and array.ndim > 0 and len(array) == fixed
            if by_row or key not in parts:
                parts.setdefault(key, []).append(array[:rows] if by_row else array)
    joinable = {key: len({array.shape[1:] for array in arrays}) == 1 for key, arrays in parts.items()}
    return {
        key: np.concatenate(arrays) if joinable[key] and len(arrays) > 1 else arrays[0] for key, arrays in parts.items()
    }


def _groups(layers: Sequence[Any], rows: int) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    held = 0
    for layer in layers:
        need = output_bytes(layer, rows)
        if groups[-1] and held + need > _GROUP_BYTES:
            groups.append([])
            held = 0
        groups[-1].append(layer.path)
        held += need
    return groups
