"""One side of a comparison: rows of a data set chosen at random, every field as columns of numbers or words.

Which columns of a log of predictions hold the moment, the prediction, how sure it was, and the label that came later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import DataField, Dataset
from stethoscope.drift.field_columns import MEDIA, Collected, Field
from stethoscope.drift.settings import MEDIA_ROWS, DriftSettings
from stethoscope.errors import BadSetting

Report = Callable[[float, str], None]

MOST_FIELDS = 1_000
_MOST_CELLS = 20_000_000
_TABLE_PART, _MEDIA_PART = 4_096, 64
_LARGEST_PART, _PART_CELLS = 65_536, 2_000_000


@dataclass(frozen=True)
class Side:
    """What was read of one data set."""

    name: str
    fields: Mapping[str, Field]
    rows: int
    """Of the data."""
    used: int
    places: npt.NDArray[np.int64]
    """Which rows were read."""
    classes: tuple[str, ...]
    damaged: int
    notes: tuple[str, ...]

    @property
    def sampled(self) -> bool:
        """Whether rows were left out on purpose."""
        return self.used + self.damaged < self.rows


def read_side(data: Dataset, name: str, settings: DriftSettings, report: Report) -> Side:
    """Reads at most `settings.rows` rows (fewer of media and of wide tables), each equally likely to be among them.

    Raises:
        UnreadableFile, TooLarge: as the data's reader.
    """
    while not data.about.rows_exact:
        # How many rows there are shows only at their end.
        before = data.about.rows
        data.columns(before, before + _TABLE_PART, [])
        if not data.about.rows_exact and data.about.rows <= before:
            break
    about = data.about
    chosen, notes = _chosen_fields(about.fields, settings)
    heavy = any(one.kind in ("image", "mask", "audio") for one in chosen)
    wide = sum(int(np.prod([size or 1 for size in one.shape or ()])) for one in chosen) or 1
    most = min(settings.rows, max(50, _MOST_CELLS // wide), MEDIA_ROWS if heavy and about.any_order else settings.rows)
    places = np.arange(about.rows)
    if about.rows > most:
        places = np.sort(np.random.default_rng(settings.seed).choice(about.rows, most, replace=False))
        notes.append(f"{name}: {most:,} of {about.rows:,} rows were read, chosen at random (seed {settings.seed}).")
    collected = {one.name: Collected(one) for one in chosen}
    read, damaged = [], 0
    parts = _by_sample(data, places, chosen) if about.any_order else _by_column(data, places, chosen)
    for found, columns in parts:
        kept = _readable(columns, len(found))
        damaged += len(found) - len(kept)
        for one in chosen:
            values = columns[one.name]
            collected[one.name].add(values[kept] if isinstance(values, np.ndarray) else [values[row] for row in kept])
        read += found[kept].tolist()
        report(len(read) / max(1, len(places)), f"{name}: {len(read):,} of {len(places):,} rows")
    if damaged:
        notes.append(f"{name}: {damaged:,} rows could not be read and are left out.")
    fields = {one.name: collected[one.name].made(about.classes) for one in chosen}
    return Side(name, fields, about.rows, len(read), np.array(read, np.int64), about.classes, damaged, tuple(notes))


def _chosen_fields(fields: Sequence[DataField], settings: DriftSettings) -> tuple[list[DataField], list[str]]:
    named = (settings.time, settings.prediction, settings.confidence, settings.label)
    notes = []
    chosen = [
        one
        for one in fields
        if one.name in named or (one.role not in ("split", "other") and one.name not in settings.ignore)
    ]
    if settings.columns:
        chosen = [one for one in chosen if one.name in settings.columns or one.name in named]
    if len(chosen) > MOST_FIELDS:
        notes.append(f"Only the first {MOST_FIELDS:,} of {len(chosen):,} columns are compared.")
    return chosen[:MOST_FIELDS], notes


def _readable(columns: Mapping[str, Any], count: int) -> npt.NDArray[np.int64]:
    """Rows of which at least something could be read."""
    if any(isinstance(values, np.ndarray) for values in columns.values()):
        return np.arange(count)
    return np.array([row for row in range(count) if any(one[row] is not None for one in columns.values())], np.int64)


def _by_sample(
    data: Dataset, places: npt.NDArray[np.int64], fields: Sequence[DataField]
) -> Iterator[tuple[npt.NDArray[np.int64], dict[str, list[Any]]]]:
    for start in range(0, len(places), _MEDIA_PART):
        part = places[start : start + _MEDIA_PART]
        samples = {one.place: one for one in data.samples([int(place) for place in part])}
        columns: dict[str, list[Any]] = {one.name: [] for one in fields}
        for place in part:
            sample = samples.get(int(place))
            readable = sample is not None and bool(sample.values or not sample.problems)
            for one in fields:
                value: Any = sample.values.get(one.name) if sample is not None else None
                if value is None and sample is not None and readable and one.role == "target" and sample.label:
                    value = sample.label
                columns[one.name].append(value)
        yield part, columns


def _by_column(
    data: Dataset, places: npt.NDArray[np.int64], fields: Sequence[DataField]
) -> Iterator[tuple[npt.NDArray[np.int64], dict[str, Any]]]:
    names = [one.name for one in fields]
    media = any(one.kind in MEDIA for one in fields)
    wide = sum(int(np.prod([size or 1 for size in one.shape or ()])) for one in fields) or 1
    step = 512 if media else max(_TABLE_PART, min(_LARGEST_PART, _PART_CELLS // wide))
    for start in range(0, data.about.rows, step):
        first, last = np.searchsorted(places, (start, start + step))
        if first == last:
            continue
        part = places[first:last]
        columns = data.columns(start, min(start + step, data.about.rows), names)
        length = min((len(values) for values in columns.values()), default=0)
        part = part[part - start < length]
        yield (
            part,
            {
                name: columns[name][part - start]
                if isinstance(columns[name], np.ndarray)
                else [columns[name][int(place) - start] for place in part]
                for name in names
            },
        )


_PREDICTION = re.compile(
    r"(?:y_?pred(?:icted)?|pred(?:iction|icted)?s?|predicted_(?:label|class|value)|model_output)", re.I
)
_CONFIDENCE = re.compile(r"(?:confidence|conf|score|prob(?:ability|a)?|max_prob(?:ability)?|certainty)", re.I)
_LABEL = re.compile(r"(?:y|y_?true|labels?|target|truth|ground_?truth|actual|true_(?:label|class|value)|outcome)", re.I)


@dataclass(frozen=True)
class LogColumns:
    """Names of columns; "" for what there is not."""

    time: str = ""
    prediction: str = ""
    confidence: str = ""
    label: str = ""

    def role(self, name: str) -> Literal["prediction", "confidence", "label"] | None:
        """What a column is in the log."""
        if not name:
            return None
        if name == self.prediction:
            return "prediction"
        if name == self.confidence:
            return "confidence"
        return "label" if name == self.label else None


def log_columns(settings: DriftSettings, reference: Side, current: Side | None) -> LogColumns:
    """The columns that were named, else those whose names say what they are.

    Raises:
        BadSetting: a column was named that the reference does not have, or a column of moments that holds none.
    """
    for what, name in (
        ("time", settings.time),
        ("prediction", settings.prediction),
        ("confidence", settings.confidence),
        ("label", settings.label),
    ):
        if name not in ("", "none") and name not in reference.fields:
            known = ", ".join(list(reference.fields)[:20])
            raise BadSetting(f"--{what} {name[:60]!r}: expected a column of {reference.name} ({known}). Choose one.")
    moments = [one.name for one in reference.fields.values() if one.moments is not None]
    time = "" if settings.time == "none" else settings.time or (moments[0] if moments else "")
    if current is not None and time and time not in current.fields:
        time = ""
    found = [
        ""
        if asked == "none"
        else asked or next((name for name in reference.fields if form.fullmatch(name.strip())), "")
        for asked, form in (
            (settings.prediction, _PREDICTION),
            (settings.confidence, _CONFIDENCE),
            (settings.label, _LABEL),
        )
    ]
    prediction, confidence, label = found
    if not prediction and not settings.label:
        # Without predictions a column called "y" or "score" is data like any other.
        confidence, label = settings.confidence, ""
    return LogColumns(time, prediction, confidence if confidence != "none" else "", label)
