"""Rows of a data file as arrays: which array is which input or target, prepared as the user asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import open_data
from stethoscope.data.dataset import Dataset
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.errors import BadInput, TooLarge
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, ModelFile, TensorSpec

ROWS_AT_ONCE, FIRST_ROWS = 1_024, 16
PART_BYTES = 64 << 20
"""Of the rows read at once, before they are prepared: a photograph may be made a hundred times smaller."""
_MODEL_ARRAYS = ("x", "y")


def data_of(context: TaskContext, most_rows: int | None = None) -> Feed:
    """The arrays of a job's files["data"], prepared as its params["preparation"] and params["data_options"] say.

    All rows, or the first `most_rows`.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge, BadSetting: as `DataReader.open`.
        BadInput: rows of several shapes that no step makes one, or a step that does not apply.
    """
    params = context.params
    return read_rows(
        context.files["data"],
        context.budget.memory_bytes,
        Preparation.from_json(params.get("preparation") or ()),
        params.get("data_options") or {},
        most_rows,
    )


def read_rows(
    file: ModelFile,
    budget_bytes: int,
    preparation: Preparation,
    options: Mapping[str, Any] | None = None,
    most_rows: int | None = None,
) -> Feed:
    """Reads every row (or the first `most_rows`) as one array per name, in parts that are prepared one after another.

    An array beside x and y whose rows have no one shape is left out.

    Raises:
        TooLarge: the prepared arrays would take more than `budget_bytes`.
        BadInput: see `data_of`.
    """
    with open_data(file, budget_bytes, options) as data:
        whole = data.whole() if most_rows is None else None
        if whole is not None:
            return {name: preparation.apply_to(name, values) for name, values in whole.items()}
        return _Collected(file, budget_bytes, preparation).of(data, most_rows)


class _Collected:
    """Prepared parts of each array, counted against the budget."""

    def __init__(self, file: ModelFile, budget_bytes: int, preparation: Preparation) -> None:
        self._file, self._budget, self._preparation = file, budget_bytes, preparation
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}
        self._same_as: dict[str, str] = {}
        """Arrays that are another one under a second name ("x" and "image") and are held once."""
        self._uneven: set[str] = set()
        self._held = 0

    def of(self, data: Dataset, most_rows: int | None) -> Feed:
        """Reads every row, or the first `most_rows`; see `read_rows`."""
        start, step = 0, FIRST_ROWS
        while True:
            # How many rows there are may turn out only while they are read.
            rows, exact = data.about.rows, data.about.rows_exact
            stop = min(start + step, rows) if exact else start + step
            stop = stop if most_rows is None else min(stop, most_rows)
            if start and stop <= start:
                break
            part = data.feed(start, stop)
            if start == 0 or any(len(values) for values in part.values()):
                self._add(part, stop, rows)
            elif start >= data.about.rows:
                break
            if stop <= start:
                break
            step = _step(part, stop - start)
            start = stop
        feed = {name: _joined(self._file, name, arrays) for name, arrays in self._parts.items()}
        feed |= {name: feed[other] for name, other in self._same_as.items() if other in feed}
        return feed

    def _add(self, part: Mapping[str, Any], stop: int, rows: int) -> None:
        seen: dict[int, str] = {}
        for name in sorted(part, key=lambda one: one not in _MODEL_ARRAYS):
            values = part[name]
            first = seen.setdefault(id(values), name)
            if first != name and not self._preparation.of(name):
                self._same_as[name] = first
                continue
            if name in self._uneven:
                continue
            try:
                made = self._preparation.apply_to(name, values)
            except BadInput:
                # Only the arrays a model is known to get decide; a list of boxes beside them may be of any length.
                if name in _MODEL_ARRAYS or self._preparation.of(name):
                    raise
                self._uneven.add(name)
                self._parts.pop(name, None)
                continue
            self._held += made.nbytes
            if self._held > self._budget:
                raise TooLarge(
                    f"{self._file.name}: its arrays take more than the {self._budget:,} bytes allowed, at row {stop:,} of "
                    f"{rows:,}. Send fewer rows, or resize them first."
                )
            kept = self._parts.setdefault(name, [])
            if name not in _MODEL_ARRAYS and kept and kept[0].shape[1:] != made.shape[1:]:
                self._uneven.add(name)
                self._parts.pop(name)
                continue
            kept.append(made)


def _step(part: Mapping[str, Any], rows: int) -> int:
    """How many rows to read at once, going by what the last ones took: photographs are larger than numbers."""
    sizes = {id(values): _bytes(values) for values in part.values()}
    return max(1, min(ROWS_AT_ONCE, PART_BYTES * rows // max(1, sum(sizes.values()))))


def _bytes(values: Any) -> int:
    return sum(np.asarray(row).nbytes for row in values) if isinstance(values, list) else int(np.asarray(values).nbytes)


def _joined(file: ModelFile, name: str, arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if len(arrays) == 1:
        return arrays[0]
    shapes = {array.shape[1:] for array in arrays}
    if len(shapes) > 1:
        several = " and ".join(str(shape) for shape in sorted(shapes, key=str)[:3])
        raise BadInput(
            f"{file.name}: expected every row of {name!r} to have one shape, got {several}. Add the step Resize or Pad."
        )
    return np.concatenate(arrays)


_INPUT_WORDS = ("x", "x_train", "train_x", "inputs", "input", "features", "data", "images", "x_data")
_TARGET_WORDS = ("y", "y_train", "train_y", "targets", "target", "labels", "label", "outputs", "y_data")
_HELD_OUT = re.compile(r"(?:([xy])_?(test|val|valid|validation)|(test|val|valid|validation)_?([xy]))(_.+)?")
_HELD_OUT_PART = {"test": "test", "val": "val", "valid": "val", "validation": "val"}


@dataclass(frozen=True)
class Bound:
    """A data file's arrays, by what they are to one model. Shapes are as given: they may not fit the model."""

    inputs: Feed = field(default_factory=dict)
    """One array per model input; empty when they could not be matched."""
    targets: Feed = field(default_factory=dict)
    """One array per model output that has labels; empty without labels."""
    others: Feed = field(default_factory=dict)
    """Everything else. Held-out rows are called x_test, y_test, x_val, y_val whatever their spelling in the file."""
    problem: str = ""
    """Why the inputs could not be matched; one sentence and what to do."""

    @property
    def rows(self) -> int:
        """Rows of the first input, or of the first target without inputs; 0 when there is none."""
        first = next(iter((self.inputs or self.targets).values()), None)
        return int(first.shape[0]) if first is not None and first.ndim else 0


def bind_all(arrays: Mapping[str, npt.NDArray[Any]], architecture: Architecture) -> Bound:
    """Matches arrays to a model's inputs and outputs by name.

    Inputs: an array per input name (or x_<name>), x0, x1, … in the model's order, or x (x_train) for a single input.
    Targets likewise with y. A lone array goes to a lone input. Never raises; shapes are not looked at.
    """
    left = {_held_out(name): array for name, array in arrays.items()}
    inputs, used = _match(left, architecture.inputs, "x", _INPUT_WORDS)
    if not inputs and len(architecture.inputs) == 1 and len(left) == 1:
        used = set(left)
        inputs = {architecture.inputs[0].name: next(iter(left.values()))}
    left = {name: array for name, array in left.items() if name not in used}
    targets, used = _match(left, architecture.outputs, "y", _TARGET_WORDS)
    others = {name: array for name, array in left.items() if name not in used}
    missing = [spec.name for spec in architecture.inputs if spec.name not in inputs]
    problem = ""
    if missing:
        wanted = [spec.name for spec in architecture.inputs]
        advice = "Save the input as x and the labels as y" if len(wanted) == 1 else "Save one array under each name"
        problem = (
            f"The data: expected arrays for the inputs {wanted}, got {sorted(arrays)[:20]}. {advice} (numpy.savez)."
        )
    return Bound(inputs if not missing else {}, targets, others, problem)


def _match(arrays: Feed, specs: Sequence[TensorSpec], letter: str, words: Sequence[str]) -> tuple[Feed, set[str]]:
    """Returns what was found for `specs` and which arrays it took."""
    by_key: dict[str, str] = {}
    for name in arrays:
        by_key.setdefault(_key(name), name)
    found: dict[str, str] = {}
    for spec in specs:
        plain = _key(spec.name)
        for candidate in (plain, f"{letter}_{plain}", f"{letter}_train_{plain}"):
            if candidate in by_key and by_key[candidate] not in found.values():
                found[spec.name] = by_key[candidate]
                break
    if not found and len(specs) > 1:
        found = _numbered(by_key, specs, letter)
    if not found and len(specs) == 1:
        lone = [by_key[word] for word in (*words, f"{letter}0", f"{letter}1", f"{letter}_0") if word in by_key]
        found = {specs[0].name: lone[0]} if lone else {}
    return {spec: arrays[name] for spec, name in found.items()}, set(found.values())


def _numbered(by_key: Mapping[str, str], specs: Sequence[TensorSpec], letter: str) -> dict[str, str]:
    for stem in (letter, f"{letter}_", f"{letter}_train_"):
        for start in (0, 1):
            names = [f"{stem}{start + place}" for place in range(len(specs))]
            if all(name in by_key for name in names):
                return {spec.name: by_key[name] for spec, name in zip(specs, names, strict=True)}
    return {}


def _key(name: str) -> str:
    """Case, tensor suffix (":0") and TensorFlow's signature prefix do not tell names apart."""
    return re.sub(r":\d+$", "", name.strip()).removeprefix("serving_default_").lower()


def _held_out(name: str) -> str:
    match = _HELD_OUT.fullmatch(name.strip().lower())
    if match is None:
        return name
    letter, part = (match[1], match[2]) if match[1] else (match[4], match[3])
    return f"{letter}_{_HELD_OUT_PART[part]}{match[5] or ''}"
