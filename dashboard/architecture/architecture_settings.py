"""The settings of the Architecture page: what colours mean, the batch that costs are for, and the columns. All in the address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import escape, linked, session, words
from dashboard.architecture import layer_colours, layer_columns, layer_measures
from dashboard.architecture.graph_view import Legend
from dashboard.architecture.layer_measures import NEEDED, TITLES, Measure
from dashboard.architecture.layer_table import MAX_ROWS
from stethoscope.architecture.layer_costs import TotalCost, total
from stethoscope.architecture.open_sizes import USUAL, Sizes, is_image, open_axes, sizes_of_file
from stethoscope.jobs.store import Entry
from stethoscope.types import Architecture

_NOTHING = "nothing"


@dataclass(frozen=True)
class Shown:
    """What the visitor wants to see of each layer."""

    batch: int
    sizes: Sizes
    measures: Mapping[str, Measure]
    columns: tuple[str, ...]
    colours: Mapping[str, str]
    """By path, of layers and of blocks; empty without colours."""
    legend: Legend | None

    def row_colours(self, architecture: Architecture) -> list[str | None] | None:
        """One colour per row of the table; None without colours."""
        if self.legend is None:
            return None
        return [self.colours.get(layer.path) for layer in architecture.layers[:MAX_ROWS]]


def choose(entry: Entry, architecture: Architecture) -> Shown:
    """Draws the settings in one row."""
    sequence, image = _open_kinds(architecture)
    row = st.grid(4 + sequence + image, min_column_width=140, vertical_alignment="bottom")
    colour_cell, batch_cell, *size_cells, column_cell, csv_cell = (row.cell() for _ in range(4 + sequence + image))
    with batch_cell:
        batch = int(
            st.number_input(
                "Batch size",
                1,
                100_000,
                1,
                key="batch",
                bind="query-params",
                help="FLOPs and bytes are of one call with it",
            )
        )
    sizes = _sizes(architecture, size_cells, sequence=sequence, image=image)
    measures = layer_measures.of(entry, architecture, batch, sizes)
    with colour_cell:
        asked = session.recalled("colour")
        coloured = _colour(measures)
    _say_if_unknown(entry, asked, coloured, measures)
    with column_cell.popover("Columns", width="stretch"):
        columns = layer_columns.choose(measures, coloured)
        missing = [TITLES[one] for one in TITLES if one not in measures]
        if missing:
            st.caption(f"Not known yet: {', '.join(missing).lower()}. {_invitation(measures)}")
    csv_cell.download_button(
        "CSV of all",
        lambda: _csv(architecture, measures),
        f"{escape.file_name(entry.name)}.layers.csv",
        "text/csv",
        key="layers-csv",
        on_click="ignore",
        width="stretch",
        help="Every layer with every column",
    )
    if coloured == _NOTHING:
        return Shown(batch, sizes, measures, columns, {}, None)
    measure = layer_colours.with_blocks(measures[coloured], architecture)
    colours, legend = layer_colours.colours(measure, "dark" if st.context.theme.type == "dark" else "light")
    return Shown(batch, sizes, measures, columns, colours, legend)


def _open_kinds(architecture: Architecture) -> tuple[bool, bool]:
    """Whether inputs leave a sequence length open, and whether they leave an image size open."""
    images = [is_image(spec) for spec, _ in open_axes(architecture.inputs)]
    return not all(images), any(images)


def _sizes(architecture: Architecture, cells: Sequence[DeltaGenerator], *, sequence: bool, image: bool) -> Sizes:
    left = iter(cells)
    length = side = None
    assumed = sizes_of_file(architecture.layers).or_else(USUAL)
    if sequence:
        usual_length = assumed.sequence_length or 1
        length = int(
            next(left).number_input("Sequence length", 1, 1 << 20, usual_length, key="length", bind="query-params")
        )
    if image:
        height = assumed.image_size[0] if assumed.image_size else 1
        side = int(next(left).number_input("Image size", 1, 1 << 14, height, key="side", bind="query-params"))
    return Sizes(length, None if side is None else (side, side))


def _colour(measures: Mapping[str, Measure]) -> str:
    titles = {_NOTHING: "Kind of layer", **{one: measure.title for one, measure in measures.items()}}
    return linked.select("Colour by", titles, _NOTHING, "colour", about=_invitation(measures) or None)


def _say_if_unknown(entry: Entry, asked: str | None, coloured: str, measures: Mapping[str, Measure]) -> None:
    """A link may ask for colours that nothing is known for yet; what it asked for stands until something is chosen."""
    key = f"_colour-asked-{entry.id}"
    if asked in TITLES and asked not in measures:
        st.session_state[key] = asked
    wanted = st.session_state.get(key)
    if wanted is None:
        return
    if coloured != _NOTHING or wanted in measures:
        del st.session_state[key]
        return
    st.caption(f"{TITLES[wanted]} of the layers: not known yet. {_invitation(measures)}")


def _invitation(measures: Mapping[str, Measure]) -> str:
    """What would make more known: "Measured time, dead units: run the statistics on the Activations page." """
    by_way: dict[str, list[str]] = {}
    for one, way in NEEDED.items():
        if one not in measures:
            by_way.setdefault(way, []).append(TITLES[one].lower())
    lines = [f"For {' and '.join(titles)}, {way}." for way, titles in by_way.items()]
    return " ".join(lines)


def _csv(architecture: Architecture, measures: Mapping[str, Measure]) -> bytes:
    every = tuple(one for one in layer_columns.OFFERED if layer_columns.known(one, measures))
    return layer_columns.as_csv(layer_columns.columns(architecture, measures, every, short=False))


def totals(architecture: Architecture, shown: Shown) -> None:
    """The cost of the whole model, and how much of it is not known."""
    if not architecture.layers:
        return
    found = total(layer_measures.layer_costs(architecture, shown.batch, shown.sizes))
    st.caption(" · ".join(_totals(found, shown.batch)))


def _totals(found: TotalCost, batch: int) -> Iterator[str]:
    at = f"for one call at batch {words.count(batch)}"
    if found.without_flops == found.layers:
        yield "FLOPs are not known"
    else:
        yield f"**{words.operations(found.flops)}** {at}"
        if found.without_flops:
            every = words.plural(found.layers, "layer")
            yield f"the work of {words.count(found.without_flops)} of {every} is not known"
    if found.without_bytes == found.layers:
        yield "sizes of outputs are not known"
    else:
        but = f", without {words.count(found.without_bytes)} of unknown size" if found.without_bytes else ""
        yield f"all outputs together {words.size(found.output_bytes)}{but}"
