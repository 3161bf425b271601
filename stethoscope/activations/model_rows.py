"""The rows a model is run on, read in parts: the user's data prepared as asked, or random input; never all in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from stethoscope.data import open_data
from stethoscope.data.batching import Batching
from stethoscope.data.dataset import Dataset
from stethoscope.data.dummy import model_input
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.data.rows import bind_all
from stethoscope.errors import BadInput
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, ModelFile, TensorSpec

Places = npt.NDArray[np.int64]
DUMMY_ROWS = 32


class Called(Protocol):
    """What is needed of a runner."""

    inputs: tuple[TensorSpec, ...]

    def predict(self, feed: Feed) -> Feed:
        """Runs the model once."""
        ...


@dataclass
class Inputs:
    """The inputs of a model that is not open, whose rows are read for another one."""

    inputs: tuple[TensorSpec, ...]

    def predict(self, feed: Feed) -> Feed:
        """Never called: there is data."""
        raise NotImplementedError


class ModelRows(AbstractContextManager["ModelRows"]):
    """Rows as a model takes them, by their place in the data. Use as a context manager."""

    def __init__(
        self,
        context: TaskContext,
        architecture: Architecture,
        runner: Called,
        *,
        dummy_rows: int = DUMMY_ROWS,
        seed: int = 0,
    ) -> None:
        """Opens the data of the job, or makes `dummy_rows` rows of random input that the model accepts.

        Raises:
            UnreadableFile, UnsafeFile, TooLarge, BadSetting: as `DataReader.open`.
            BadInput: the data has no array for an input; or no random input is accepted.
        """
        self._stack = ExitStack()
        self._architecture = replace(architecture, inputs=runner.inputs)
        self.batching = Batching.of(runner.inputs)
        self.classes: tuple[str, ...] = ()
        self._data: Dataset | None = None
        self._held: Mapping[str, Any] = {}
        file = context.files.get("data")
        if file is None:
            given = model_input(context, architecture, runner, max(dummy_rows, self.batching.fixed or 1), seed, 1)
            self._held, self.source = given.feed, "dummy"
            self.rows = given.batching.rows(given.feed)
            self._names = {name: name for name in given.feed}
            self._preparation = Preparation()
            return
        self.source = file.name
        self._preparation = Preparation.from_json(context.params.get("preparation") or ())
        self._open(context, file)

    def _open(self, context: TaskContext, file: ModelFile) -> None:
        context.report("data", message=f"reading {file.name}")
        data = open_data(file, context.budget.memory_bytes, context.params.get("data_options") or {})
        self._stack.enter_context(data)
        self.classes = data.about.classes
        whole = data.whole()
        if whole is None:
            self._data, self.rows = data, data.about.rows
            names: list[str] = list(data.feed(0, 1)) if self.rows else []
        else:
            self._held, names = whole, list(whole)
        bound = bind_all({name: np.array(name) for name in names}, self._architecture)
        if bound.problem or not bound.inputs:
            raise BadInput(bound.problem or f"{file.name}: expected at least one row, got none. Add some.")
        self._names = {spec: str(name) for spec, name in bound.inputs.items()}
        self._targets = {spec: str(name) for spec, name in bound.targets.items()}
        if whole is not None:
            counts = {len(whole[name]) for spec, name in self._names.items() if spec in self.batching.names}
            self.rows = min(counts, default=1)

    _targets: Mapping[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def batches(self, rows: int | None, batch_size: int) -> Iterator[tuple[Places, Feed]]:
        """Yields (places, feed): all rows in order, or about `rows` of them in evenly spaced batches.

        A model with a fixed batch gets whole batches only: rows that do not fill one are left out, unless there are fewer
        than one batch; then they are repeated, and places repeat too.
        """
        size = self.batching.fixed or max(1, min(batch_size, self.rows))
        starts = list(range(0, self.rows, size))
        if self.batching.fixed and len(starts) > 1 and self.rows % size:
            starts.pop()
        if rows is not None and rows < self.rows:
            wanted = max(1, -(-rows // size))
            starts = [
                starts[at] for at in np.linspace(0, len(starts) - 1, min(wanted, len(starts))).round().astype(int)
            ]
        left = self.rows if rows is None else max(rows, size if self.batching.fixed else 1)
        for start in starts:
            stop = min(start + (size if self.batching.fixed else min(size, left)), self.rows)
            left -= stop - start
            yield from self._batch(start, stop)

    def shuffled(self, batch_size: int, seed: int = 0) -> Iterator[tuple[Places, Feed]]:
        """Yields (places, feed): all rows that fill a batch, in an order that is drawn; a place never comes twice."""
        size = self.batching.fixed or max(1, min(batch_size, self.rows))
        starts = np.arange(0, self.rows, size)
        if self.batching.fixed:
            starts = starts[starts + size <= self.rows]
        for start in np.random.default_rng(seed).permutation(starts).tolist():
            yield from self._batch(start, min(start + size, self.rows))

    def at(self, places: Sequence[int]) -> tuple[Places, Feed]:
        """The rows at `places` (those that can be read); repeated to a whole batch where the model's is fixed.

        Raises:
            BadInput: a place beyond the data, or none of the rows can be read.
        """
        beyond = [place for place in places if not 0 <= place < self.rows]
        if beyond:
            of = "the random input" if self.source == "dummy" else self.source
            raise BadInput(f"Row {beyond[0]:,} of {of}: expected 0 to {self.rows - 1:,}. Choose another row.")
        parts = [part for place in places for part in self._batch(place, place + 1, whole_batch=False)]
        if not parts:
            raise BadInput(f"{self.source}: none of the chosen rows can be read. Choose other rows.")
        found = np.concatenate([one for one, _ in parts])
        feed = _joined([one for _, one in parts], self.batching.names, self.source)
        return found, self.batching.take(feed, self.batching.fixed) if self.batching.fixed else feed

    def calls(self, places: Sequence[int]) -> Iterator[tuple[Places, Feed]]:
        """As `at`, in as many calls as a model with a fixed batch needs; one for every other model.

        The rows of a call come first in it; the repeated ones that fill it come after them.
        """
        size = self.batching.fixed or len(places)
        for start in range(0, len(places), size):
            yield self.at(places[start : start + size])

    def described(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """[{"place", "name", "label"}] of rows, as far as the data says; for a few rows."""
        samples = {one.place: one for one in self._data.samples(list(places))} if self._data is not None else {}
        labels = None if self._data is not None else self.target(np.asarray(places, np.int64))
        found = []
        for number, place in enumerate(places):
            sample = samples.get(place)
            label = "" if sample is None else sample.label
            if labels is not None and labels[number].size == 1:
                label = str(labels[number].reshape(-1)[0])
            found.append({"place": place, "name": "" if sample is None else sample.name, "label": label})
        return found

    def labels(self, places: Places) -> list[str | float] | None:
        """One label per row: the class's name or number, or the target's value; None where rows have no single label."""
        values = self.target(places)
        if values is None or values.ndim == 0:
            return None
        flat = values.reshape(len(values), -1)
        if flat.shape[1] != 1:
            one_hot = flat.dtype.kind in "fiub" and bool(
                np.all((flat == 0) | (flat == 1)) and np.all(flat.sum(axis=1) == 1)
            )
            if not one_hot:
                return None
            flat = flat.argmax(axis=1)[:, None]
        column = flat[:, 0]
        if column.dtype.kind in "OSU":
            return [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in column.tolist()]
        whole = column.dtype.kind in "iub" or bool(np.all(np.isfinite(column)) and np.all(column == np.round(column)))
        if not whole:
            return [float(one) for one in column]
        names = self.classes
        return [names[int(one)] if 0 <= int(one) < len(names) else str(int(one)) for one in column]

    def target(self, places: Places) -> npt.NDArray[Any] | None:
        """The first label array's rows at `places`, as the data has them; None without labels."""
        name = next(iter(self._targets.values()), None)
        if name is None:
            return None
        if self._data is None:
            values = np.asarray(self._held[name])
            return values[places] if values.ndim and len(places) and len(values) > int(places.max()) else None
        rows = [self._data.feed(int(place), int(place) + 1).get(name) for place in places]
        if any(row is None or len(row) != 1 for row in rows):
            return None
        arrays = [np.asarray(row[0]) for row in rows if row is not None]
        return np.stack(arrays) if len({array.shape for array in arrays}) == 1 else None

    def targets(self, places: Places) -> Feed:
        """Labels of rows that follow each other, by the output that they belong to, prepared as asked; without those that cannot be read.

        Args:
            places: in ascending order, as `batches` yields them.
        """
        if self._data is None:
            part: Mapping[str, Any] = {
                name: np.asarray(self._held[name])[places]
                for name in self._targets.values()
                if np.ndim(self._held[name]) and len(self._held[name]) > int(places.max())
            }
        else:
            part = self._data.feed(int(places.min()), int(places.max()) + 1)
        return {
            spec: self._preparation.apply_to(name, part[name])
            for spec, name in self._targets.items()
            if name in part and len(part[name]) == len(places)
        }

    def _batch(self, start: int, stop: int, *, whole_batch: bool = True) -> Iterator[tuple[Places, Feed]]:
        if self._data is None:
            feed = {
                spec: self._held[name][start:stop] if spec in self.batching.names else np.asarray(self._held[name])
                for spec, name in self._names.items()
            }
            yield self._filled(np.arange(start, stop), self._prepared(feed), whole_batch)
            return
        part = self._data.feed(start, stop)
        feed = {spec: part[name] for spec, name in self._names.items() if name in part}
        if all(len(feed.get(spec, ())) == stop - start for spec in self._names):
            yield self._filled(np.arange(start, stop), self._prepared(feed), whole_batch)
        elif stop - start > 1:
            # Some rows cannot be read: one by one, so that each keeps its place.
            singles = [one for place in range(start, stop) for one in self._batch(place, place + 1, whole_batch=False)]
            if singles:
                joined = _joined([feed for _, feed in singles], self.batching.names, self.source)
                yield self._filled(np.concatenate([places for places, _ in singles]), joined, whole_batch)

    def _filled(self, places: Places, feed: Feed, whole_batch: bool) -> tuple[Places, Feed]:
        fixed = self.batching.fixed
        if not whole_batch or not fixed or not self.batching.names or len(places) == fixed:
            return places, feed
        return places[np.arange(fixed) % len(places)], self.batching.take(feed, fixed)

    def _prepared(self, feed: Mapping[str, Any]) -> Feed:
        return {spec: self._preparation.apply_to(self._names[spec], values) for spec, values in feed.items()}


def _joined(parts: Sequence[Feed], batched: frozenset[str], source: str) -> Feed:
    found: Feed = {}
    for name in parts[0]:
        arrays = [part[name] for part in parts]
        if name not in batched:
            found[name] = arrays[0]
            continue
        shapes = {array.shape[1:] for array in arrays}
        if len(shapes) > 1:
            several = " and ".join(str(shape) for shape in sorted(shapes, key=str)[:3])
            raise BadInput(
                f"{source}: expected rows of one shape for {name!r}, got {several}. Add the step Resize or Pad."
            )
        found[name] = np.concatenate(arrays)
    return found
