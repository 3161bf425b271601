"""Which rows are looked at: in order, shuffled, or only those of a class, of a split, with a word, or with a problem."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stethoscope.data.dataset import DataField, Dataset, Outlined, Sample
from stethoscope.errors import BadSetting

SCAN_S = 12.0
"""How long rows that must be decoded are looked through."""
CLASSES_S = 0.7
"""How long classes that the data does not name are looked for."""
MOST_SHUFFLED = 20_000_000
_COLUMN_ROWS = 8_192
_SAMPLE_ROWS = 256
_DECODED_ROWS = 16
_FILTERS = frozenset({"class", "split", "text", "problem"})


@dataclass(frozen=True)
class Only:
    """What rows must have; what is empty does not matter."""

    label: str = ""
    split: str = ""
    text: str = ""
    """In the name, the label or a text, whatever its case."""
    problem: bool = False

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | None) -> Only:
        """Reads {"class", "split", "text", "problem"}, all optional.

        Raises:
            BadSetting: something else.
        """
        given = value or {}
        if not isinstance(given, Mapping) or set(given) - _FILTERS:
            raise BadSetting(f"The rows to show: expected {sorted(_FILTERS)}, got {str(value)[:80]!r}.")
        label, split, text = (str(given.get(name) or "") for name in ("class", "split", "text"))
        return cls(label, split, text, bool(given.get("problem")))

    def __bool__(self) -> bool:
        return bool(self.label or self.split or self.text or self.problem)

    def fits(self, sample: Sample) -> bool:
        """Whether a row has all of it."""
        return (
            (not self.split or sample.split == self.split)
            and (not self.problem or bool(sample.problems))
            and (not self.label or self.label in labels_of(sample))
            and (not self.text or any(self.text.casefold() in one.casefold() for one in _texts(sample)))
        )


@dataclass(frozen=True)
class Picked:
    """The rows to show."""

    places: list[int]
    matches: int
    """Rows that fit, as far as was looked."""
    looked: int
    """Rows that were looked at; fewer than there are where that would have taken too long."""
    complete: bool
    """Whether all rows were looked at, so that `matches` is the whole number."""


def labels_of(sample: Sample) -> set[str]:
    """The classes of a row: its own, and those of what is marked on it."""
    whole = {sample.label} if sample.label else set()
    return (
        whole | {part.strip() for part in sample.label.split(",") if part.strip()} | {one.label for one in sample.marks}
    )


def pick(
    data: Dataset, start: int, count: int, seed: int | None, only: Only, report: Callable[[float, str], None]
) -> Picked:
    """Finds rows `start` to `start + count` of those that fit.

    Args:
        data: opened data.
        start: how many fitting rows are passed over.
        count: rows wanted.
        seed: shuffles all rows, always alike; None keeps their order.
        only: what they must have.
        report: told how far it is, and where.
    """
    rows = max(0, data.about.rows)
    if not only:
        if seed is None or rows > MOST_SHUFFLED:
            places = list(range(start, min(start + count, rows) if data.about.rows_exact else start + count))
        else:
            places = [int(place) for place in np.random.default_rng(seed).permutation(rows)[start : start + count]]
        return Picked(places, rows, rows, True)
    fitting, looked = _search(data, only, report)
    if seed is not None:
        fitting = [fitting[place] for place in np.random.default_rng(seed).permutation(len(fitting))]
    return Picked(fitting[start : start + count], len(fitting), looked, looked >= rows)


def _search(data: Dataset, only: Only, report: Callable[[float, str], None]) -> tuple[list[int], int]:
    """Returns the places of all rows that fit, and how many rows were looked at."""
    rows, began, found, looked = data.about.rows, time.monotonic(), [], 0
    for places, fits in _judged(data, only):
        found += [place for place, fit in zip(places, fits, strict=False) if fit]
        looked = places[-1] + 1
        report(min(1.0, looked / max(1, rows)), f"looked at {looked:,} of {rows:,} rows")
        if time.monotonic() - began > SCAN_S:
            break
    return found, looked


def _judged(data: Dataset, only: Only) -> Iterator[tuple[range, list[bool]]]:
    """Yields consecutive rows and whether each fits, as cheaply as the data allows."""
    rows = data.about.rows
    columns = _deciding(data, only)
    if columns is not None:
        for start in range(0, rows, _COLUMN_ROWS):
            stop = min(start + _COLUMN_ROWS, rows)
            values = data.columns(start, stop, [one.name for one, _ in columns])
            fits = [True] * (stop - start)
            for one, wanted in columns:
                said = words_of(values.get(one.name, ()), data.about.classes if one.role == "target" else ())
                fits = [fit and word == wanted for fit, word in zip(fits, said, strict=False)]
            yield range(start, start + len(fits)), fits
        return
    # Only decoding tells that an image is damaged.
    outlined = isinstance(data, Outlined) and not only.problem
    ask = data.outlines if isinstance(data, Outlined) and outlined else data.samples
    step = _SAMPLE_ROWS if outlined or not _decodes(data) else _DECODED_ROWS
    for start in range(0, rows, step):
        part = range(start, min(start + step, rows))
        fitting = {sample.place for sample in ask(part) if only.fits(sample)}
        yield part, [place in fitting for place in part]


def classes_in(data: Dataset, most: int) -> list[str]:
    """The classes of the rows that the data itself does not name, as far as a column of them tells at no great cost."""
    fields = [one for one in data.about.fields if one.role == "target" and one.kind == "category"]
    if data.about.classes or len(fields) != 1:
        return []
    found: dict[str, None] = {}
    began = time.monotonic()
    for start in range(0, data.about.rows, _COLUMN_ROWS):
        values = data.columns(start, min(start + _COLUMN_ROWS, data.about.rows), [fields[0].name])
        found |= dict.fromkeys(words_of(values.get(fields[0].name, ())))
        if len(found) > most or time.monotonic() - began > CLASSES_S:
            break
    words = [word for word in found if word]
    whole = all(word.lstrip("-").isdecimal() for word in words)
    return sorted(words, key=lambda word: (int(word), "") if whole else (0, word))[:most]


def _decodes(data: Dataset) -> bool:
    return any(one.kind in ("image", "mask", "audio") for one in data.about.fields)


def _deciding(data: Dataset, only: Only) -> list[tuple[DataField, str]] | None:
    """The columns that alone decide, and the word each must say; None where rows themselves must be looked at."""
    if only.text or only.problem:
        return None
    found = []
    for role, wanted in (("target", only.label), ("split", only.split)):
        if wanted:
            fields = [one for one in data.about.fields if one.role == role and one.shape in ((), (1,))]
            if len(fields) != 1 or fields[0].kind not in ("category", "number", "text"):
                return None
            found.append((fields[0], wanted))
    return found


def words_of(values: Any, classes: Sequence[str] = ()) -> list[str]:
    """The values of one column as words; numbers of classes by their names."""
    said = []
    for value in values:
        if value is None:
            said.append("")
            continue
        item = np.asarray(value).reshape(-1)[:1].tolist()
        plain = item[0] if item else ""
        if isinstance(plain, bytes):
            plain = plain.decode("utf-8", "replace")
        if isinstance(plain, float) and plain.is_integer():
            plain = int(plain)
        if isinstance(plain, int) and not isinstance(plain, bool) and 0 <= plain < len(classes):
            plain = classes[plain]
        said.append(str(plain))
    return said


def _texts(sample: Sample) -> Iterator[str]:
    yield sample.name
    yield from labels_of(sample)
    for value in sample.values.values():
        if value.dtype.kind in "US" and value.ndim == 0:
            yield str(value)
