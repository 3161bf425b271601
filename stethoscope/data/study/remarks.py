"""What stands out in data that was studied: one sentence each, with rows to look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stethoscope.data.study.marks import Categories, Marks
from stethoscope.data.study.numbers import Numbers
from stethoscope.data.study.pictures import Pictures
from stethoscope.data.study.study import StudiedData, StudiedField
from stethoscope.data.study.texts import Padding, Texts, Tokens

IMBALANCE = 3.0
"""How many times the rows of the rarest class the commonest has before that is said."""


@dataclass(frozen=True)
class Remark:
    """One thing worth knowing."""

    text: str
    """With {} for each of `names`."""
    names: tuple[str, ...] = ()
    """Hostile."""
    rows: tuple[int, ...] = ()
    """To look at."""

    @property
    def plain(self) -> str:
        """The sentence with its names in quotes."""
        return self.text.format(*(repr(name[:60]) for name in self.names))


def remarks(found: StudiedData) -> Iterator[Remark]:
    """What a reader would want to know before any picture."""
    read = max(1, found.rows_read)
    repeats = found.repeats
    if found.damaged:
        yield Remark(f"{_count(found.damaged, 'row')} cannot be read; the reasons are listed under Samples.")
    if repeats.conflicting_rows:
        yield Remark(
            f"{_count(repeats.conflicting_rows, 'row has', 'rows have')} an equal twin with another label: no model can learn both.",
            rows=tuple(repeats.conflicts[0]),
        )
    if repeats.repeated_rows:
        yield Remark(
            f"{_count(repeats.repeated_rows, 'row repeats', 'rows repeat')} an earlier one ({_share(repeats.repeated_rows, read)}). If "
            "copies fall on both sides of a split, the score on held-out rows is too good.",
            rows=tuple(repeats.groups[0]),
        )
    for one in found.fields:
        yield from _of_field(one, read)
    if found.constant:
        names = found.constant[:6]
        more = f" and {len(found.constant) - 6} more" if len(found.constant) > 6 else ""
        listed = ", ".join(["{}"] * len(names))
        yield Remark(f"{listed}{more}: the same value in every row, so nothing can be learned from it.", names)
    if found.rows_with_missing:
        yield Remark(
            f"{_count(found.rows_with_missing, 'row misses', 'rows miss')} a number ({_share(found.rows_with_missing, read)})."
        )
    yield from _of_classes(found)
    if found.marks is not None:
        yield from _of_marks(found.marks)


def _of_marks(marks: Marks) -> Iterator[Remark]:
    pictures = "picture has", "pictures have"
    if marks.outside_count:
        yield Remark(
            f"{_count(marks.outside_count, *pictures)} marks that reach beyond their edge.", rows=marks.outside
        )
    if marks.tiny_count:
        yield Remark(f"{_count(marks.tiny_count, *pictures)} marks thinner than a pixel.", rows=marks.tiny)
    if marks.whole_count:
        yield Remark(
            f"{_count(marks.whole_count, *pictures)} a box over the whole picture, which is unusual for its class.",
            rows=marks.whole,
        )
    told = marks.classes
    if told.count:
        first = told.doubtful[0]
        yield Remark(
            f"{_count(told.count, 'mark looks', 'marks look')} like another class; the surest is called {{}} and looks like {{}}. Judged "
            f"by look, size and shape, which agree with the class in {_share(told.right or 0.0, 1)} of {_count(told.judged, 'mark')}: "
            "doubts, no proof.",
            (first.given, first.looks_like),
            tuple(one.place for one in told.doubtful),
        )
    if marks.without_count:
        yield Remark(f"{_count(marks.without_count, *pictures)} no marks at all.", rows=marks.without)


def _of_field(one: StudiedField, read: int) -> Iterator[Remark]:
    name, of = (one.name,), one.of
    match of:
        case Pictures():
            if of.near_duplicates:
                yield Remark(
                    f"{{}}: {_count(of.near_duplicate_rows, 'picture looks', 'pictures look')} like another one.",
                    name,
                    tuple(of.near_duplicates[0]),
                )
            if of.one_coloured:
                yield Remark(
                    f"{{}}: {_count(len(of.one_coloured), 'picture')} of a single colour.", name, of.one_coloured
                )
        case Numbers():
            if of.infinite:
                yield Remark(f"{{}}: {_count(of.infinite, 'infinite value')}.", name)
            if of.nan:
                yield Remark(f"{{}}: {_count(of.nan, 'value')} missing (NaN).", name)
        case Categories(missing=missing) if missing:
            yield Remark(f"{{}}: missing in {_count(missing, 'row')} ({_share(missing, read)}).", name)
        case Texts(empty=empty) if empty:
            yield Remark(f"{{}}: {_count(empty, 'empty text')}.", name)
        case Tokens(padding=Padding(share=share)) if share > 0.5:
            yield Remark(
                f"{{}}: {_share(share, 1)} of all tokens are padding. Shorter rows, or batches of like length, cost less.",
                name,
            )


def _of_classes(found: StudiedData) -> Iterator[Remark]:
    if found.empty_classes:
        names = found.empty_classes[:5]
        listed = ", ".join(["{}"] * len(names))
        yield Remark(f"{_count(len(found.empty_classes), 'class', 'classes')} without a single row: {listed}.", names)
    told = found.classes
    if told is not None and len(told.values) > 1:
        most, least = told.values[0], told.values[-1]
        if told.distinct == len(told.values) and most.count > IMBALANCE * least.count:
            times = f"{most.count / max(1, least.count):.3g}"
            yield Remark(
                f"Classes are uneven: {{}} has {times} times the rows of {{}}. Always saying the commonest is right in "
                f"{_share(most.count, told.count)}.",
                (most.value, least.value),
            )


def _count(value: int, singular: str, several: str = "") -> str:
    return f"{value:,} {singular if value == 1 else several or singular + 's'}"


def _share(part: float, whole: float) -> str:
    percent = 100 * part / whole if whole > 0 else 0.0
    return "< 0.1 %" if 0 < percent < 0.1 else f"{percent:.3g} %"
