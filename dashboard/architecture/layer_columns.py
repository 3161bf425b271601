"""The columns of the layer table: which a visitor wants, what stands in them, and all of it as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from dashboard import escape, session, words
from dashboard.architecture.layer_measures import Measure
from dashboard.architecture.layer_table import MAX_ROWS, Column
from dashboard.kept_answers import kept
from stethoscope.architecture.receptive_field import ReceptiveField, receptive_fields
from stethoscope.types import Architecture, Layer

OFFERED = {
    "shape": "Output shape",
    "parameters": "Parameters",
    "share": "Share of parameters",
    "trainable": "Trainable parameters",
    "flops": "FLOPs",
    "bytes": "Output bytes",
    "field": "Receptive field",
    "dtype": "Type of numbers",
    "initialiser": "Initialiser",
    "time": "Measured time",
    "dead": "Dead units",
    "findings": "Findings",
    "parity": "Parity error",
}
"""Columns to choose from, in the order they stand. The layer's name and type always do."""
USUAL = ("shape", "parameters", "share")
_SHORT = {
    "share": "Share",
    "trainable": "Trainable",
    "bytes": "Bytes",
    "field": "Receptive",
    "dtype": "dtype",
    "time": "Time",
    "dead": "Dead",
    "parity": "Error",
}
_ABOUT = {
    "share": "of the model's parameters",
    "trainable": "parameters that training changes",
    "field": "how much of the input one value of the output sees, in steps of the input",
    "initialiser": "how its weights were set before training, as the file says",
}
_EVERYTHING = 1e15
"""Where a field of everything sorts: after every other."""
_FIRST_INITIALISERS = ("kernel_initializer", "embeddings_initializer", "depthwise_initializer", "gamma_initializer")


def choose(measures: Mapping[str, Measure], coloured: str) -> tuple[str, ...]:
    """Draws the choice of columns; returns their ids in order. What the graph is coloured by is always among them."""
    titles = {one: title for one, title in OFFERED.items() if known(one, measures)}
    asked = session.recalled("columns")
    said = [one for one in (USUAL if asked is None else asked.split(",")) if one in titles]
    chosen = st.multiselect(
        "Columns",
        list(titles),
        said,
        format_func=lambda one: titles[one],
        key="layer-columns",
        placeholder="Only names and types",
    )
    session.remember("columns", None if set(chosen) == set(USUAL) else ",".join(chosen) or "none")
    return tuple(one for one in titles if one in chosen or one == coloured)


def known(one: str, measures: Mapping[str, Measure]) -> bool:
    """Whether there is anything to put into a column."""
    return one in measures or one not in _MEASURED


_MEASURED = ("flops", "bytes", "time", "dead", "findings", "parity")


def columns(
    architecture: Architecture, measures: Mapping[str, Measure], wanted: Sequence[str], *, short: bool = True
) -> list[Column]:
    """Name and type, then the wanted columns, a row for each layer. Plain text, never markup."""
    return [*_names(architecture), *(_column(architecture, measures, one, short) for one in wanted)]


@kept
def _names(architecture: Architecture) -> list[Column]:
    layers = architecture.layers[:MAX_ROWS]
    names, types = [escape.clip(layer.path, 300) for layer in layers], [escape.clip(layer.type) for layer in layers]
    return [Column("name", "Layer", names, width=(9, 2.2)), Column("type", "Type", types, width=(6.5, 1.2))]


def _column(architecture: Architecture, measures: Mapping[str, Measure], one: str, short: bool) -> Column:
    title = _SHORT.get(one, OFFERED[one]) if short else OFFERED[one]
    if one in _MEASURED:
        return _measured(architecture, measures[one], title)
    return _of_file(architecture, one, title)


def _measured(architecture: Architecture, measure: Measure, title: str) -> Column:
    values = [measure.values.get(layer.path) for layer in architecture.layers[:MAX_ROWS]]
    texts = ["–" if value is None else measure.text(value) for value in values]
    return Column(measure.id, title, texts, values, measure.about, width=(6.2, 0.6))


@kept
def _of_file(architecture: Architecture, one: str, title: str) -> Column:
    layers = architecture.layers[:MAX_ROWS]
    if one in _NUMBERS:
        values, texts = _NUMBERS[one](architecture, layers)
        total = architecture.parameters or 1
        bar = [min(1.0, (value or 0) / total) for value in values] if one == "share" else None
        width = (4, 0) if one == "share" else (5.8, 0.4)
        return Column(one, title, texts, values, _ABOUT.get(one, ""), bar, width)
    told = [_TEXTS[one](layer) for layer in layers]
    return Column(one, title, told, about=_ABOUT.get(one, ""), width=(text_width(told), 1.2))


def text_width(texts: Sequence[str]) -> float:
    """Rem for a column of short texts: as wide as the longest, within reason, since a shape that is cut off says little."""
    return min(13.0, max(6.5, 0.5 * max(map(len, texts), default=0)))


Numbers = tuple[Sequence[float | None], Sequence[str] | None]


def _parameters(architecture: Architecture, layers: Sequence[Layer]) -> Numbers:
    return [layer.parameters for layer in layers], None


def _share(architecture: Architecture, layers: Sequence[Layer]) -> Numbers:
    return [layer.parameters for layer in layers], [
        words.share(layer.parameters, architecture.parameters) for layer in layers
    ]


def _trainable(architecture: Architecture, layers: Sequence[Layer]) -> Numbers:
    if architecture.trainable_parameters is None:
        return [None] * len(layers), ["not stated"] * len(layers)
    return [layer.trainable_parameters for layer in layers], None


def _field(architecture: Architecture, layers: Sequence[Layer]) -> Numbers:
    found = fields(architecture)
    told = [found.get(layer.path) for layer in layers]
    return [_reach(field) for field in told], [field_text(field) for field in told]


@kept
def fields(architecture: Architecture) -> dict[str, ReceptiveField]:
    """The receptive fields of the layers that have one, by path."""
    return receptive_fields(architecture)


def _reach(field: ReceptiveField | None) -> float | None:
    if field is None:
        return None
    return _EVERYTHING if field.is_global else float(math.prod(field.size))


def field_text(field: ReceptiveField | None) -> str:
    """A receptive field as people read it: "35 × 35", "all" where every position counts, a dash where it is not known."""
    if field is None:
        return "–"
    return "all" if field.is_global else " × ".join(words.count(size) for size in field.size)


def initialiser(layer: Layer) -> str:
    """How the layer's main weights were set before training: "GlorotUniform"; "" where the file does not say."""
    keys = [key for key in layer.config if key.endswith("_initializer")]
    key = next((one for one in _FIRST_INITIALISERS if one in keys), keys[0] if keys else None)
    value = layer.config.get(key) if key else None
    name = value.get("class_name") if isinstance(value, Mapping) else value
    return escape.clip(name, 40) if isinstance(name, str) else ""


_NUMBERS: Mapping[str, Callable[[Architecture, Sequence[Layer]], Numbers]] = {
    "parameters": _parameters,
    "share": _share,
    "trainable": _trainable,
    "field": _field,
}
_TEXTS: Mapping[str, Callable[[Layer], str]] = {
    "shape": lambda layer: words.shape(layer.output_shape),
    "dtype": lambda layer: escape.clip(layer.dtype or "not stated", 24),
    "initialiser": initialiser,
}


def as_csv(found: Sequence[Column]) -> bytes:
    """The columns as they stand, numbers in full; text cells never start a spreadsheet formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.title for column in found])
    for place in range(len(found[0].texts or ())):
        writer.writerow([_cell(column, place) for column in found])
    return out.getvalue().encode()


def _cell(column: Column, place: int) -> str:
    if column.values is not None and column.id not in ("findings", "field", "share"):
        value = column.values[place]
        return "" if value is None else repr(int(value) if value == int(value) else value)
    text = (column.texts or ())[place]
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text
