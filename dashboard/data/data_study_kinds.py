"""Pictures, marks, texts, tokens and sequences as a whole: a few facts, then how they are distributed."""

from __future__ import annotations

import streamlit as st

from dashboard import cards, escape, words
from dashboard.data import data_study_figures
from dashboard.data.data_study_rows import Show, histogram, picture, rows
from stethoscope.data.study.marks import Marks
from stethoscope.data.study.numbers import Dates
from stethoscope.data.study.pictures import Masks, Pictures
from stethoscope.data.study.texts import Sequences, Texts, Tokens


def pictures(name: str, one: Pictures, show_row: Show) -> None:
    """Sizes, channels, brightness, and pictures that look alike."""
    st.markdown(f"**Pictures**, {escape.code(name, 60)}")
    sizes = one.sizes
    size = f"{sizes[0].width} × {sizes[0].height}" if one.distinct_sizes == 1 else words.count(one.distinct_sizes)
    kinds = ", ".join(f"{channels} ({words.count(count)})" for channels, count in one.channels.items())
    cards.facts(
        [
            ("Pictures", words.count(one.rows), ", ".join(escape.markdown(name) for name in one.dtypes)),
            (
                "Size" if one.distinct_sizes == 1 else "Different sizes",
                size,
                "pixels" if one.distinct_sizes == 1 else "",
            ),
            ("Channels", kinds if len(one.channels) > 1 else next(iter(one.channels)), ""),
            ("Mean brightness", words.share(one.brightness.mean or 0, 1), "of full scale"),
            ("Look alike", words.count(one.near_duplicate_rows), "pictures that repeat another"),
        ]
    )
    grid = st.grid(2, min_column_width=340, gap=("small", "medium"))
    if one.distinct_sizes > 1:
        with grid.cell():
            picture(data_study_figures.sizes(one.sizes), f"sizes-{name}", "Widths and heights of pictures")
    with grid.cell():
        picture(data_study_figures.channels(one.by_channel), f"channels-{name}", "Values of each channel")
    with grid.cell():
        histogram(
            one.brightness,
            "Brightness (share of full scale)",
            f"brightness-{name}",
            "Brightness of pictures",
            height=300,
            unit="Pictures",
        )
    rows("Darkest", one.darkest[:4], f"dark-{name}", show_row)
    rows("Brightest", one.brightest[:4], f"bright-{name}", show_row)
    groups = one.near_duplicates
    if groups:
        with st.expander(f"Pictures that look alike ({words.plural(len(groups), 'group')} shown)"):
            for number, group in enumerate(groups[:20]):
                rows(f"{len(group)} pictures", group[:8], f"alike-{name}-{number}", show_row)
            st.caption(
                "Found by a difference hash of 8 × 8 areas: small changes of size, quality and light are not told apart."
            )


def marks(found: Marks, show_row: Show) -> None:
    """Marks by class, place, size and shape."""
    st.markdown("**Marks**")
    kinds = ", ".join(_of_kind(kind, count) for kind, count in found.kinds.items())
    small = found.sizes
    cards.facts(
        [
            ("Marks", words.count(found.labels.count), escape.markdown(kinds)),
            (
                "In each picture",
                words.significant(found.per_picture.mean or 0),
                f"on average, at most {words.count(int(found.per_picture.max or 0))}",
            ),
            ("Small", words.count(small.get("small", 0)), "below 32 × 32 pixels"),
            ("Medium", words.count(small.get("medium", 0)), "below 96 × 96 pixels"),
            ("Large", words.count(small.get("large", 0)), ""),
        ]
    )
    picture(data_study_figures.classes(found.labels, {}, (), "Marks"), "mark-classes", "Marks of each class")
    more = len(found.pictures_of) - data_study_figures.MOST_BARS
    if more > 0:
        st.caption(f"{words.plural(more, 'other class', 'other classes')} with fewer marks are not drawn.")
    grid = st.grid(2, min_column_width=340, gap=("small", "medium"))
    with grid.cell():
        picture(data_study_figures.centres(found.centres), "centres", "Where marks lie on the picture")
    with grid.cell():
        histogram(found.area_share, "Area (share of the picture)", "areas", "Areas of marks", height=300, unit="Marks")
    with grid.cell():
        histogram(found.per_picture, "Marks in a picture", "per-picture", "Marks in each picture", unit="Pictures")
    with grid.cell():
        histogram(found.aspect, "Width over height", "aspects", "Shapes of marks", unit="Marks")
    if found.without:
        rows("Without marks", found.without[:8], "unmarked", show_row)


def _of_kind(kind: str, count: int) -> str:
    """ "60 regions"; key points are told as groups."""
    singular, several = {"box": ("box", "boxes"), "points": ("group of points", "groups of points")}.get(
        kind, (kind, "")
    )
    return words.plural(count, singular, several)


def masks(name: str, one: Masks, names: tuple[str, ...]) -> None:
    """The share of pixels that each class has."""
    if not one.rows:
        return
    distinct = "" if one.distinct is None else f", {words.plural(one.distinct, 'class', 'classes')} in them"
    st.markdown(f"**Masks**, {escape.code(name, 60)}: {words.plural(one.rows, 'mask')}{distinct}")
    picture(data_study_figures.mask_classes(one, names), f"mask-{name}", "Share of pixels of each class")


def dates(name: str, one: Dates) -> None:
    """From when to when, and how the rows lie between."""
    if not one.seconds.count:
        return
    said = [f"from {str(one.first)[:16].replace('T', ' ')} to {str(one.last)[:16].replace('T', ' ')}"]
    said += [f"{words.count(one.missing)} missing"] if one.missing else []
    said += [f"{words.count(one.unread)} that are no dates"] if one.unread else []
    st.markdown(f"**Dates**, {escape.code(name, 60)}: {', '.join(said)}")
    picture(data_study_figures.dates(one, name, height=220), f"dates-{name}", "Rows over time")


def texts(name: str, one: Texts) -> None:
    """Lengths and commonest words."""
    st.markdown(f"**Texts**, {escape.code(name, 60)}")
    grid = st.grid(2, min_column_width=340, gap=("small", "medium"))
    with grid.cell():
        histogram(one.words, "Length (words)", f"words-{name}", "Words in each text", unit="Texts")
    with grid.cell():
        picture(
            data_study_figures.categories(one.common, "Commonest words", height=240),
            f"common-{name}",
            "Commonest words",
        )


def tokens(name: str, one: Tokens) -> None:
    """Lengths, padding and commonest tokens."""
    st.markdown(f"**Tokens**, {escape.code(name, 60)}")
    padding, lengths = one.padding, one.row_lengths
    cards.facts(
        [
            (
                "Row length",
                words.count(lengths[0])
                if len(lengths) == 1
                else f"{words.count(lengths[0])} to {words.count(lengths[-1])}"
                if lengths
                else "none",
                "tokens, as stored",
            ),
            ("Without padding", words.significant(one.lengths.mean or 0), "tokens on average"),
            (
                "Padding",
                words.share(padding.share, 1) if padding else "none seen",
                f"value {padding.value}, at the {padding.side}" if padding else "",
            ),
            ("Largest token", words.count(int(one.ids.max or 0)), "the embedding needs one more row than that"),
        ]
    )
    grid = st.grid(2, min_column_width=340, gap=("small", "medium"))
    with grid.cell():
        histogram(one.lengths, "Length without padding (tokens)", f"lengths-{name}", "Lengths without padding")
    with grid.cell():
        picture(
            data_study_figures.categories(one.common, "Commonest tokens", height=240),
            f"tokens-{name}",
            "Commonest tokens",
        )


def sequences(name: str, one: Sequences, title: str) -> None:
    """The mean course, lengths, and the values of each channel."""
    if not one.rows:
        return
    st.markdown(f"**{title}**, {escape.code(name, 60)}")
    grid = st.grid(2, min_column_width=340, gap=("small", "medium"))
    with grid.cell():
        if one.course is not None:
            picture(data_study_figures.course(one.course), f"course-{name}", "Mean over the length")
    with grid.cell():
        histogram(one.lengths, "Length (steps)", f"steps-{name}", "Lengths", height=260)
    for number, channel in enumerate(one.channels[:4]):
        with grid.cell():
            histogram(
                channel,
                f"Channel {number}",
                f"channel-{name}-{number}",
                f"Values of channel {number}",
                height=220,
                unit="Values",
            )
