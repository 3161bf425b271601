"""What stands out in data that was studied: one sentence each, with rows to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import streamlit as st

from dashboard import escape, words
from dashboard.data.data_study_rows import Show, row_button
from stethoscope.data.study.marks import Categories, Marks
from stethoscope.data.study.numbers import Numbers
from stethoscope.data.study.pictures import Pictures
from stethoscope.data.study.study import StudiedData, StudiedField
from stethoscope.data.study.texts import Padding, Texts, Tokens

_IMBALANCE = 3.0


def draw(found: StudiedData, show_row: Show) -> None:
    """What a reader would want to know before any picture, each with rows to look at."""
    remarks = list(_remarks(found))
    if not remarks:
        st.markdown(
            "**Nothing stands out**: no repeated rows, contradicting labels, constant columns, missing values or damaged rows "
            "among what was read."
        )
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown("**What stands out**")
        for number, (sentence, places) in enumerate(remarks):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"- {sentence}", width="content")
                for place in places[:4]:
                    row_button(place, f"stands-out-{number}", show_row)


def _remarks(found: StudiedData) -> Iterator[tuple[str, Sequence[int]]]:
    read = max(1, found.rows_read)
    repeats = found.repeats
    if found.damaged:
        yield f"{words.plural(found.damaged, 'row')} cannot be read; the reasons are listed under Samples.", ()
    if repeats.conflicting_rows:
        yield (
            f"{words.plural(repeats.conflicting_rows, 'row has', 'rows have')} an equal twin with another label: no model can learn both.",
            repeats.conflicts[0],
        )
    if repeats.repeated_rows:
        share = words.share(repeats.repeated_rows, read)
        yield (
            f"{words.plural(repeats.repeated_rows, 'row repeats', 'rows repeat')} an earlier one ({share}). If copies fall on both sides of a "
            "split, the score on held-out rows is too good.",
            repeats.groups[0],
        )
    for one in found.fields:
        yield from _of_field(one, read)
    if found.constant:
        names = ", ".join(escape.code(name, 40) for name in found.constant[:6])
        more = f" and {len(found.constant) - 6} more" if len(found.constant) > 6 else ""
        yield f"{names}{more}: the same value in every row, so nothing can be learned from it.", ()
    if found.rows_with_missing:
        yield (
            f"{words.plural(found.rows_with_missing, 'row misses', 'rows miss')} a number ({words.share(found.rows_with_missing, read)}).",
            (),
        )
    yield from _of_classes(found)
    if found.marks is not None:
        yield from _of_marks(found.marks)


def _of_marks(marks: Marks) -> Iterator[tuple[str, Sequence[int]]]:
    if marks.outside_count:
        yield (
            f"{words.plural(marks.outside_count, 'picture has', 'pictures have')} marks that reach beyond their edge.",
            marks.outside,
        )
    if marks.tiny_count:
        yield (
            f"{words.plural(marks.tiny_count, 'picture has', 'pictures have')} marks thinner than a pixel.",
            marks.tiny,
        )
    if marks.without_count:
        yield (f"{words.plural(marks.without_count, 'picture has', 'pictures have')} no marks at all.", marks.without)


def _of_field(one: StudiedField, read: int) -> Iterator[tuple[str, Sequence[int]]]:
    name, of = escape.code(one.name, 40), one.of
    match of:
        case Pictures():
            if of.near_duplicates:
                yield (
                    f"{name}: {words.plural(of.near_duplicate_rows, 'picture looks', 'pictures look')} like another one.",
                    of.near_duplicates[0],
                )
            if of.one_coloured:
                yield f"{name}: {words.plural(len(of.one_coloured), 'picture')} of a single colour.", of.one_coloured
        case Numbers():
            if of.infinite:
                yield f"{name}: {words.plural(of.infinite, 'infinite value')}.", ()
            if of.nan:
                yield f"{name}: {words.plural(of.nan, 'value')} missing (NaN).", ()
        case Categories(missing=missing) if missing:
            yield f"{name}: missing in {words.plural(missing, 'row')} ({words.share(missing, read)}).", ()
        case Texts(empty=empty) if empty:
            yield f"{name}: {words.plural(empty, 'empty text')}.", ()
        case Tokens(padding=Padding(share=share)) if share > 0.5:
            share_of_all = words.share(share, 1)
            yield (
                f"{name}: {share_of_all} of all tokens are padding. Shorter rows, or batches of like length, cost less.",
                (),
            )


def _of_classes(found: StudiedData) -> Iterator[tuple[str, Sequence[int]]]:
    if found.empty_classes:
        names = ", ".join(escape.code(name, 30) for name in found.empty_classes[:5])
        yield f"{words.plural(len(found.empty_classes), 'class', 'classes')} without a single row: {names}.", ()
    told = found.classes
    if told is not None and len(told.values) > 1:
        most, least = told.values[0], told.values[-1]
        if told.distinct == len(told.values) and most.count > _IMBALANCE * least.count:
            times = words.significant(most.count / max(1, least.count))
            yield (
                f"Classes are uneven: {escape.code(most.value, 30)} has {times} times the rows of "
                f"{escape.code(least.value, 30)}. Always saying the commonest is right in {words.share(most.count, told.count)}.",
                (),
            )
