"""Look at rows of data: what they hold and what is marked on them, as small pictures, curves, sounds and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import open_data
from stethoscope.data.dataset import DataAbout, DataField, Dataset, Region, Sample
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.data.view.marks import LARGEST, drawn, extent, regions_of
from stethoscope.data.view.picked import Only, Picked, classes_in, pick
from stethoscope.data.view.shown import (
    FieldScale,
    RowTable,
    Shown,
    ShownPicture,
    ShownRow,
    ShownWave,
    is_table,
    table_of,
)
from stethoscope.data.view.values import MOST_CURVES, Values
from stethoscope.errors import BadSetting
from stethoscope.task import TaskContext

CARDS, TABLE_ROWS = 24, 100
"""Rows that come where no number is asked for."""
MOST_ROWS, MOST_TABLE_ROWS = 60, 500
MOST_CLASSES = 1_000
CARD_MARKS, FULL_MARKS = 400, 5_000
_CARD_VALUES, _FULL_VALUES = 12, 400


@dataclass(frozen=True)
class RowsRead:
    """What data is, and some of its rows: as a `table` where they are single values, else as `samples`.

    Pictures are PNG files, curves .npy, sounds WAV, in the job's outputs.
    """

    about: DataAbout
    places: tuple[int, ...]
    """The rows that are here, by number."""
    matches: int
    """Rows that fit what was asked for, as far as was looked."""
    looked: int
    complete: bool
    """Whether all rows were looked at, rather than `looked` of them."""
    classes: tuple[str, ...] = ()
    """Those that the data does not name itself."""
    samples: tuple[ShownRow, ...] = ()
    table: RowTable | None = None
    scales: tuple[FieldScale, ...] = ()


class ReadData:
    """Files: "data".

    params, all optional: {"start", "count" (24; 100 of a table), "places" (these rows instead), "full" (one row, large, with all it holds),
    "thumbnail" (256 pixels), "seed" (shuffled), "only" ({"class", "split", "text", "problem"}), "data_options",
    "preparation" (what a model would get of each row is shown beside it)}.
    """

    kind = "read_data"
    answer = RowsRead

    def run(self, context: TaskContext) -> RowsRead:
        """Finds the rows and draws them.

        Raises:
            BadSetting: a parameter that makes no sense.
            UnreadableFile, UnsafeFile, TooLarge: as `open_data`.
        """
        params = context.params
        full = _whole(params, "full", 0, 1 << 40) if params.get("full") is not None else None
        preparation = None if params.get("preparation") is None else Preparation.from_json(params["preparation"])
        context.report("read", message=f"opening {context.files['data'].name}")
        options = params.get("data_options") or {}
        with open_data(context.files["data"], context.budget.memory_bytes, options) as data:
            table = is_table(data.about) and full is None and preparation is None
            picked = _picked(context, data, full, MOST_TABLE_ROWS if table else MOST_ROWS)
            context.report("read", message="reading the rows")
            samples = data.samples(picked.places)
            classes = classes_in(data, MOST_CLASSES) if full is None and params.get("start", 0) == 0 else []
            read = RowsRead(
                about=data.about,
                places=tuple(sample.place for sample in samples),
                matches=picked.matches,
                looked=picked.looked,
                complete=picked.complete,
                classes=tuple(classes),
            )
            if table:
                return replace(read, table=table_of(data.about, samples))
            longest = LARGEST if full is not None else _whole(params, "thumbnail", 16, 1_024, 256)
            shown = _Shown(context, data, longest, full is not None, preparation)
            return replace(read, samples=shown.all(samples), scales=shown.values.unusual_scales())


class _Shown:
    """Samples as they are shown, with their files."""

    def __init__(
        self, context: TaskContext, data: Dataset, longest: int, full: bool, preparation: Preparation | None
    ) -> None:
        self._context, self._data, self._full, self._preparation = context, data, full, preparation
        self.values = Values(longest, full, self._keep, context.save)

    def all(self, samples: Sequence[Sample]) -> tuple[ShownRow, ...]:
        self.values.learn(self._data.about.fields, [sample.values for sample in samples])
        fed = [self._as_fed(sample) for sample in samples]
        if self._preparation is not None:
            names = {name for one in fed for name in one}
            fields = [_fed_field(name, one[name]) for name in names for one in fed if name in one]
            self.values.learn(fields, fed)
        made = []
        for at, (sample, arrays) in enumerate(zip(samples, fed, strict=True)):
            self._context.report("draw", at / max(1, len(samples)), f"row {sample.place:,}")
            made.append(self._one(sample, at, arrays))
        return tuple(made)

    def _one(self, sample: Sample, at: int, fed: Mapping[str, npt.NDArray[Any]]) -> ShownRow:
        fields = [one for one in self._data.about.fields if one.name in sample.values]
        values: list[Shown] = []
        curves = 0
        for place, one in enumerate(fields[: _FULL_VALUES if self._full else _CARD_VALUES]):
            drawn_too = curves < MOST_CURVES or self._full
            value = self.values.of(one, sample.values[one.name], f"row-{at}-{place}", drawn=drawn_too)
            curves += isinstance(value, ShownWave)
            values.append(value)
        return replace(
            self._marked(sample, at, fields, values),
            values=tuple(values),
            values_total=len(fields),
            fed=tuple(
                self.values.of(_fed_field(name, array), array, f"fed-{at}-{place}")
                for place, (name, array) in enumerate(fed.items())
            ),
        )

    def _marked(self, sample: Sample, at: int, fields: Sequence[DataField], values: Sequence[Shown]) -> ShownRow:
        """The row with what is marked on it, and which of its values is the picture of that."""
        pictures = [(one, value) for one, value in zip(fields, values, strict=False) if isinstance(value, ShownPicture)]
        images = [pair for pair in pictures if pair[0].kind != "mask"] or pictures
        marks = list(sample.marks)
        if images and not any(isinstance(mark, Region) for mark in marks):
            for one, _ in pictures:
                if one.kind == "mask":
                    marks += regions_of(sample.values[one.name], self._data.about.classes)
        picture = None
        if images:
            one, value = images[0]
            height, width = sample.values[one.name].shape[:2]
            picture, shown = value.file, (value.width, value.height)
        else:
            width, height = extent(marks) if marks else (0, 0)
            shown = _fit(width, height, self.values.longest_px)
        made = drawn(marks, (width, height), shown, FULL_MARKS if self._full else CARD_MARKS)
        return ShownRow(
            place=sample.place,
            name=sample.name,
            label=sample.label,
            split=sample.split,
            problems=tuple(sample.problems),
            remarks=tuple(sample.remarks),
            width=int(width),
            height=int(height),
            picture=picture,
            marks=made.marks,
            marks_total=made.total,
            areas=None if made.areas is None else self._keep(f"areas-{at}.png", made.areas.png),
        )

    def _as_fed(self, sample: Sample) -> dict[str, npt.NDArray[Any]]:
        """The arrays a model gets of this row, without the rows' dimension."""
        if self._preparation is None:
            return {}
        given = self._data.feed(sample.place, sample.place + 1)
        made = {}
        for name, rows in given.items():
            if len(rows):
                prepared = self._preparation.apply_to(name, rows)
                made[name] = np.asarray(prepared[0])
        return made

    def _keep(self, name: str, content: bytes) -> str:
        path = self._context.folder / "out" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return name


def _fed_field(name: str, array: npt.NDArray[Any]) -> DataField:
    """What an array that a model gets is shown as."""
    picture = array.ndim == 3 and (array.shape[-1] in (1, 3, 4) or array.shape[0] in (1, 3, 4)) and min(array.shape) > 0
    return DataField(name, "image" if picture else "array", str(array.dtype), array.shape)


def _fit(width: int, height: int, longest: int) -> tuple[int, int]:
    scale = min(1.0, longest / max(width, height, 1))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _picked(context: TaskContext, data: Dataset, full: int | None, most: int) -> Picked:
    params = context.params
    rows = data.about.rows
    if full is not None:
        return Picked([full], rows, rows, True)
    places = params.get("places")
    if places is not None:
        if not isinstance(places, list) or not all(isinstance(place, int) and place >= 0 for place in places):
            raise BadSetting("The rows to show: expected a list of row numbers, got something else.")
        return Picked(places[:most], rows, rows, True)
    count = min(_whole(params, "count", 1, most, min(most, TABLE_ROWS) if most > MOST_ROWS else CARDS), most)
    seed = None if params.get("seed") is None else _whole(params, "seed", 0, 2**63 - 1)
    only = Only.from_json(params.get("only"))

    def report(fraction: float, message: str) -> None:
        context.report("read", fraction, message)

    return pick(data, _whole(params, "start", 0, 1 << 40, 0), count, seed, only, report)


def _whole(params: Mapping[str, Any], name: str, low: int, high: int, otherwise: int | None = None) -> int:
    value = params.get(name, otherwise)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadSetting(f"{name}: expected a whole number from {low:,} to {high:,}, got {value!r}.")
    return value


TASK = ReadData()
