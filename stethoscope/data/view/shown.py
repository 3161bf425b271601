"""What of a row is shown: one frozen type per look of a value, per mark, and the row they stand in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from stethoscope.data.dataset import DataAbout, DataField, FieldKind, Role, Sample

Number: TypeAlias = bool | int | float
"""As the data has it."""


@dataclass(frozen=True, kw_only=True)
class ShownValue:
    """One value of a row; texts are as the file has them, hostile."""

    field: str
    kind: FieldKind
    role: Role
    unit: str
    shape: tuple[int, ...]
    dtype: str
    min: Number | None = None
    max: Number | None = None
    """Of the finite numbers; None where there are none."""
    nonfinite: int = 0
    """Numbers that are NaN or infinite."""


@dataclass(frozen=True, kw_only=True)
class ShownPicture(ShownValue):
    """Drawn."""

    look: Literal["picture"] = "picture"
    file: str
    """PNG, in the job's outputs,"""
    width: int
    height: int
    """of this size in pixels."""
    channels: int
    """That are drawn."""


@dataclass(frozen=True, kw_only=True)
class ShownWave(ShownValue):
    """Numbers over time."""

    file: str
    """.npy in the job's outputs, see `envelope`."""
    steps: int
    channels: int
    drawn_channels: int


@dataclass(frozen=True, kw_only=True)
class ShownCurve(ShownWave):
    """Drawn."""

    look: Literal["curve"] = "curve"


@dataclass(frozen=True, kw_only=True)
class ShownSound(ShownWave):
    """A curve that can be heard."""

    look: Literal["sound"] = "sound"
    sample_rate_hz: int
    seconds: float
    sound: str | None = None
    """WAV in the job's outputs, its first `sound_s` seconds; None where there is nothing to hear."""
    sound_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ShownNumber(ShownValue):
    """One number; complex ones, NaN and infinities as text."""

    look: Literal["number"] = "number"
    number: Number | str


@dataclass(frozen=True, kw_only=True)
class ShownText(ShownValue):
    """Words, or a few numbers in words."""

    look: Literal["text", "numbers"]
    text: str
    left_out: int
    """Characters of a text, numbers of an array."""


@dataclass(frozen=True, kw_only=True)
class ShownArray(ShownValue):
    """Told by shape and dtype only."""

    look: Literal["array"] = "array"


Shown: TypeAlias = ShownPicture | ShownCurve | ShownSound | ShownNumber | ShownText | ShownArray


@dataclass(frozen=True, kw_only=True)
class ShownMark:
    """Something marked on a picture, in pixels of the image as stored."""

    label: str
    details: Mapping[str, Any] = field(default_factory=dict)
    """JSON values, as `Box.details`."""


@dataclass(frozen=True, kw_only=True)
class ShownBox(ShownMark):
    """A rectangle, turned clockwise about its centre."""

    type: Literal["box"] = "box"
    x: float
    y: float
    width: float
    height: float
    angle_degrees: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ShownPolygon(ShownMark):
    """Closed rings of (x, y)."""

    type: Literal["polygon"] = "polygon"
    rings: tuple[tuple[tuple[float, float], ...], ...]


@dataclass(frozen=True, kw_only=True)
class ShownPoints(ShownMark):
    """Dots, or a line through them."""

    type: Literal["points"] = "points"
    points: tuple[tuple[float, float], ...]
    joined: bool = False


@dataclass(frozen=True, kw_only=True)
class ShownRegion(ShownMark):
    """The box around an area; its pixels are in the picture of areas."""

    type: Literal["region"] = "region"
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    pixels: int = 0


Marked: TypeAlias = ShownBox | ShownPolygon | ShownPoints | ShownRegion


@dataclass(frozen=True)
class ShownRow:
    """One row: texts are as the file has them, hostile."""

    place: int
    name: str
    label: str
    split: str
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    width: int = 0
    height: int = 0
    """Of the image as stored, in pixels; of what holds all marks where there is none."""
    picture: str | None = None
    """The PNG the marks stand on, one of the files of `values`."""
    marks: tuple[Marked, ...] = ()
    marks_total: int = 0
    areas: str | None = None
    """PNG: see `Drawn.areas`."""
    values: tuple[Shown, ...] = ()
    values_total: int = 0
    fed: tuple[Shown, ...] = ()
    """What a model would get of it."""


@dataclass(frozen=True)
class FieldScale:
    """Which value of a field is black and which white; `broken` are not finite."""

    field: str
    low: float
    high: float
    broken: int


MOST_COLUMNS = 60
"""Columns that are shown; a row shown alone has all of them."""
_CELL = 200
_SINGLE = ("number", "category", "text")

Cell: TypeAlias = bool | int | float | str | None
"""A number, a text or nothing; complex numbers, NaN and infinities by name."""


@dataclass(frozen=True)
class TableColumn:
    """One column; its name is hostile."""

    name: str
    kind: FieldKind
    role: Role
    unit: str


@dataclass(frozen=True)
class RowTable:
    """Rows of single values."""

    columns: tuple[TableColumn, ...]
    columns_total: int
    """`columns` may be fewer."""
    rows: tuple[tuple[Cell, ...], ...]
    problems: tuple[tuple[int, str], ...]
    """Places of rows, and a sentence each."""


def is_table(about: DataAbout) -> bool:
    """Whether rows are best shown as a table: single values only, and more than a text with its label."""
    single = bool(about.fields) and all(one.shape in ((), (1,)) and one.kind in _SINGLE for one in about.fields)
    texts = sum(one.kind == "text" and one.role == "input" for one in about.fields)
    return single and (texts == 0 or len(about.fields) > 3)


def table_of(about: DataAbout, samples: Sequence[Sample]) -> RowTable:
    """The rows, with the first `MOST_COLUMNS` of their columns."""
    fields = about.fields[:MOST_COLUMNS]
    return RowTable(
        columns=tuple(TableColumn(one.name, one.kind, one.role, one.unit) for one in fields),
        columns_total=len(about.fields),
        rows=tuple(tuple(_cell(sample, one) for one in fields) for sample in samples),
        problems=tuple((sample.place, problem) for sample in samples for problem in sample.problems),
    )


def _cell(sample: Sample, one: DataField) -> Cell:
    value = sample.values.get(one.name)
    if value is None or not value.size:
        return None
    item = value.reshape(-1)[0]
    if value.dtype.kind in "OSU":
        return (item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item))[:_CELL]
    plain: Cell | complex = item.item()
    if isinstance(plain, complex) or (isinstance(plain, float) and not np.isfinite(plain)):
        return str(plain)
    return plain
