"""Which samples the page Activations looks at: rows of the data in view, or of random input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dashboard import analysis, asking, choices, escape, session, words
from dashboard.activations import sample_strip
from dashboard.data import data_choice
from dashboard.data.data_use import DataUse
from dashboard.session import View
from stethoscope.codec import answer_of
from stethoscope.data.view.shown import Cell, Shown, ShownNumber, ShownRow, ShownText, TableColumn
from stethoscope.settings import settings
from stethoscope.tasks.read_data import RowsRead
from stethoscope.types import Architecture, Budget, Job, JobResult, ModelFile

SHOWN = 16
MOST_CHOSEN = 8
RANDOM_ROWS = 8
_THUMBNAIL_PX = 96
_PLACES = "places"
_STRIP = "activation-samples"


@dataclass(frozen=True)
class Input:
    """What the model is run on."""

    view: View
    architecture: Architecture
    data: DataUse | None
    """None for random input."""
    places: tuple[int, ...] = (0,)
    """Rows chosen, the first one first; at least one."""
    labels: Mapping[int, str] = field(default_factory=dict)
    """What rows are called, as far as they were shown. Hostile text."""
    columns: tuple[str, ...] = ()
    """Names of a table's input columns, in the order in which they are fed. Hostile text."""

    def job(self, kind: str, params: Mapping[str, Any], **files: ModelFile) -> Job:
        """A job of the model on this data."""
        assert self.view.entry is not None
        made = analysis.model_job(kind, self.view.entry, self.architecture.format_id, params, data=self.data)
        return Job(made.kind, {**made.files, **files}, made.params, made.budget, made.worker) if files else made

    def called(self, place: int) -> str:
        """A row in words: plain text."""
        name = self.labels.get(place, "")
        row = f"row {place:,}" if self.data is not None else f"random input {place:,}"
        return f"{row} ({escape.clip(name, 40)})" if name else row


def choose(view: View, architecture: Architecture) -> Input | None:
    """Draws the data and the samples to choose from; returns what is chosen, None while the choice is not complete."""
    data, complete = data_choice.choose(
        view, architecture, none="Random input", key="input", label="Samples from", prefer_sample=True, in_address=True
    )
    if not complete:
        return None
    found = Input(view, architecture, data, _chosen())
    cards, total, columns = _cards(found, view) if data is not None else (_random(), 0, ())
    _take(found.places)
    places = _chosen()
    if cards:
        sample_strip.show(cards, places, key=_STRIP)
    _foot(found, total)
    return Input(view, architecture, data, places, {card.place: card.label or card.name for card in cards}, columns)


def _chosen() -> tuple[int, ...]:
    asked = [part for part in (session.recalled(_PLACES) or "").split(",") if part.isdecimal()]
    return tuple(dict.fromkeys(int(part) for part in asked[:MOST_CHOSEN])) or (0,)


def choose_places(places: Sequence[int]) -> None:
    """Makes other samples the chosen ones."""
    kept = list(dict.fromkeys(places))[:MOST_CHOSEN]
    session.remember(_PLACES, None if kept in ([0], []) else ",".join(map(str, kept)))


def _take(places: Sequence[int]) -> None:
    components = {_STRIP: sample_strip.TOLD}
    choice = choices.newest(components)
    if choice is None:
        return
    value = choice.value
    place = value.get("place") if isinstance(value, dict) else None
    if isinstance(place, int) and place >= 0:
        if value.get("also"):
            choose_places([one for one in places if one != place] if place in places else [*places, place])
        else:
            choose_places([place])
    choices.take(components)


def _foot(found: Input, total: int) -> None:
    start = _start()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        several = "" if len(found.places) < 2 else f"{len(found.places)} samples chosen. "
        st.caption(several + "Click a sample to look at it, Shift-click to add one to compare with.")
        if total <= SHOWN:
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            st.button(
                "‹",
                key="samples-back",
                disabled=start == 0,
                help="Earlier samples",
                on_click=_move,
                args=(start - SHOWN,),
            )
            st.caption(
                f"rows {words.count(start)} to {words.count(min(start + SHOWN, total) - 1)} of {words.count(total)}",
                width="content",
            )
            st.button(
                "›",
                key="samples-on",
                disabled=start + SHOWN >= total,
                help="Later samples",
                on_click=_move,
                args=(start + SHOWN,),
            )


def _start() -> int:
    asked = session.recalled("first") or ""
    return int(asked) if asked.isdecimal() else 0


def _move(start: int) -> None:
    session.remember("first", str(start) if start > 0 else None)


def _random() -> list[sample_strip.Card]:
    return [sample_strip.Card(place, words=f"random input {place}") for place in range(RANDOM_ROWS)]


def shown_rows(found: Input, places: Sequence[int] | None = None) -> Job:
    """The job that reads samples as small pictures: those of the strip, or the rows at `places`."""
    assert found.data is not None
    params: dict[str, Any] = {"thumbnail": _THUMBNAIL_PX, "data_options": found.data.params().get("data_options") or {}}
    params |= {"start": _start(), "count": SHOWN} if places is None else {"places": list(places)}
    return Job(
        "read_data",
        {"data": found.data.file},
        params,
        Budget(int(settings().job_memory_bytes), settings().job_timeout_s),
    )


def _cards(found: Input, view: View) -> tuple[list[sample_strip.Card], int, tuple[str, ...]]:
    assert found.data is not None
    result = asking.answer(shown_rows(found), view, found.data.name, slot="samples")
    if result is None:
        return [], 0, ()
    read = answer_of(result, RowsRead)
    fields = [one for one in read.about.fields if one.role == "input"]
    single = bool(fields) and all(not one.shape and one.kind in ("number", "category") for one in fields)
    columns = tuple(one.name for one in fields) if single else ()
    return cards_of(result, read), read.about.rows, columns


def cards_of(result: JobResult, read: RowsRead) -> list[sample_strip.Card]:
    """The samples of a finished `read_data` job."""
    if read.table is not None:
        columns = read.table.columns
        return [_row_card(place, columns, row) for place, row in zip(read.places, read.table.rows, strict=False)]
    return [_card(result, sample) for sample in read.samples]


def _row_card(place: int, columns: Sequence[TableColumn], row: Sequence[Cell]) -> sample_strip.Card:
    cells = list(zip(columns, row, strict=False))
    target = next((str(value) for one, value in cells if one.role == "target"), "")
    parts = [f"{one.name} {_short(value)}" for one, value in cells if one.role != "target"]
    return sample_strip.Card(place, label=target, words=", ".join(parts[:4]))


def _card(result: JobResult, sample: ShownRow) -> sample_strip.Card:
    path = result.files.get(sample.picture) if sample.picture else None
    values = [value for value in sample.values if value.role != "target"]
    spoken = ", ".join(part for part in (_words(value) for value in values[:4]) if part)
    return sample_strip.Card(
        sample.place,
        sample.name,
        sample.label,
        spoken or "; ".join(sample.problems),
        path.read_bytes() if path is not None else b"",
        sample.width,
    )


def _words(value: Shown) -> str:
    """One value of a row in a few words."""
    match value:
        case ShownText(text=text) if text:
            return text
        case ShownNumber(number=number) if number != "":
            return _short(number)
    size = " × ".join(str(one) for one in value.shape)
    ends = "" if value.min is None or value.max is None else f": {_short(value.min)} to {_short(value.max)}"
    return f"{value.field} {size}{ends}".strip()


def _short(value: Cell) -> str:
    return words.significant(float(value)) if isinstance(value, int | float) else str(value)
