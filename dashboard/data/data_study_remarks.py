"""What stands out in data that was studied: one sentence each, with rows to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import escape, words
from dashboard.data.data_study_rows import Show, row_button

_IMBALANCE = 3.0


def draw(found: Mapping[str, Any], show_row: Show) -> None:
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


def _remarks(found: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[int]]]:
    read = max(1, int(found["rows_read"]))
    repeats = found["repeats"]
    if found["damaged"]:
        yield f"{words.plural(found['damaged'], 'row')} cannot be read; the reasons are listed under Samples.", ()
    if repeats["conflicting_rows"]:
        yield (
            f"{words.plural(repeats['conflicting_rows'], 'row has', 'rows have')} an equal twin with another label: no model can learn both.",
            repeats["conflicts"][0],
        )
    if repeats["repeated_rows"]:
        share = words.share(repeats["repeated_rows"], read)
        yield (
            f"{words.plural(repeats['repeated_rows'], 'row repeats', 'rows repeat')} an earlier one ({share}). If copies fall on both sides of a "
            "split, the score on held-out rows is too good.",
            repeats["groups"][0],
        )
    for one in found["fields"]:
        yield from _of_field(one, read)
    if found["constant"]:
        names = ", ".join(escape.code(name, 40) for name in found["constant"][:6])
        more = f" and {len(found['constant']) - 6} more" if len(found["constant"]) > 6 else ""
        yield f"{names}{more}: the same value in every row, so nothing can be learned from it.", ()
    if found["rows_with_missing"]:
        yield (
            f"{words.plural(found['rows_with_missing'], 'row misses', 'rows miss')} a number ({words.share(found['rows_with_missing'], read)}).",
            (),
        )
    yield from _of_classes(found)
    marks = found.get("marks") or {}
    if marks.get("outside_count"):
        yield (
            f"{words.plural(marks['outside_count'], 'picture has', 'pictures have')} marks that reach beyond their edge.",
            marks["outside"],
        )
    if marks.get("tiny_count"):
        yield (
            f"{words.plural(marks['tiny_count'], 'picture has', 'pictures have')} marks thinner than a pixel.",
            marks["tiny"],
        )
    if marks.get("without_count"):
        yield (
            f"{words.plural(marks['without_count'], 'picture has', 'pictures have')} no marks at all.",
            marks["without"],
        )


def _of_field(one: Mapping[str, Any], read: int) -> Iterator[tuple[str, Sequence[int]]]:
    name = escape.code(one["name"], 40)
    if one["study"] == "picture":
        groups = one["near_duplicates"]
        if groups:
            yield (
                f"{name}: {words.plural(one['near_duplicate_rows'], 'picture looks', 'pictures look')} like another one.",
                groups[0],
            )
        if one["one_coloured"]:
            yield (
                f"{name}: {words.plural(len(one['one_coloured']), 'picture')} of a single colour.",
                one["one_coloured"],
            )
    if one["study"] == "number" and one["infinite"]:
        yield f"{name}: {words.plural(one['infinite'], 'infinite value')}.", ()
    if one["study"] == "number" and one["nan"]:
        yield f"{name}: {words.plural(one['nan'], 'value')} missing (NaN).", ()
    if one["study"] == "category" and one["missing"]:
        yield f"{name}: missing in {words.plural(one['missing'], 'row')} ({words.share(one['missing'], read)}).", ()
    if one["study"] == "text" and one["empty"]:
        yield f"{name}: {words.plural(one['empty'], 'empty text')}.", ()
    if one["study"] == "token" and one["padding"] and one["padding"]["share"] > 0.5:
        share = words.share(one["padding"]["share"], 1)
        yield f"{name}: {share} of all tokens are padding. Shorter rows, or batches of like length, cost less.", ()


def _of_classes(found: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[int]]]:
    if found["empty_classes"]:
        names = ", ".join(escape.code(name, 30) for name in found["empty_classes"][:5])
        yield f"{words.plural(len(found['empty_classes']), 'class', 'classes')} without a single row: {names}.", ()
    told = found.get("classes")
    if told and len(told["values"]) > 1:
        most, least = told["values"][0], told["values"][-1]
        if told["distinct"] == len(told["values"]) and most["count"] > _IMBALANCE * least["count"]:
            times = words.significant(most["count"] / max(1, least["count"]))
            yield (
                f"Classes are uneven: {escape.code(most['value'], 30)} has {times} times the rows of "
                f"{escape.code(least['value'], 30)}. Always saying the commonest is right in {words.share(most['count'], told['count'])}.",
                (),
            )
