"""One sample large: its picture with everything marked on it, all of its values, its sound, and what a model gets of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures, rerun, session, words
from dashboard.data import chosen_data, class_colours, data_jobs, sample_grid
from dashboard.data.sample_grid import Look
from dashboard.session import View
from stethoscope.data.dataset import DataAbout
from stethoscope.data.view.shown import (
    Marked,
    Shown,
    ShownBox,
    ShownNumber,
    ShownPicture,
    ShownPolygon,
    ShownRegion,
    ShownRow,
    ShownSound,
    ShownText,
    ShownWave,
)
from stethoscope.jobs.store import Entry
from stethoscope.tasks.read_data import RowsRead
from stethoscope.types import JobResult

_MOST_MARKS = 500


def show(view: View, entry: Entry, about: DataAbout, place: int, look: Look) -> None:
    """Draws the row at `place` and the way to the others."""
    _way(place, about)
    params = {"full": place, "data_options": chosen_data.options(), "preparation": chosen_data.steps()}
    job = data_jobs.reading(entry, params)
    state = data_jobs.asked(job, entry, view)
    read = data_jobs.answer(state, job, RowsRead, entry, view)
    if read is None or state.result is None:
        return
    if not read.samples:
        st.info(f"There is no row {place:,}: the data ends before it.")
        return
    sample = read.samples[0]
    _head(sample)
    drawn = sample.picture or sample.marks
    sides = st.grid(2, min_column_width=380, gap="medium") if drawn else None
    left, right = (st.container(), st.container()) if sides is None else (sides.cell(), sides.cell())
    if drawn:
        with left:
            key = f"one-{entry.id}"
            now = sample_grid.show(
                state.result,
                state.id,
                [replace(sample, fed=())],
                about.classes,
                look,
                size="large",
                large=True,
                key=key,
            )
            _remember(now)
            choice = sample_grid.opened(key)
            if choice is not None:
                _chosen(choice.value, place, about)
    with right:
        _values(sample, state.result)
    if sample.fed:
        _fed(sample, state.result, state.id)


def _way(place: int, about: DataAbout) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("All samples", key="all-samples", on_click=session.remember, args=("place", None))
        st.button(
            "Previous",
            key="one-before",
            on_click=step,
            args=(place, -1, about.rows),
            disabled=_next(place, -1, about.rows) is None,
        )
        st.button(
            "Next",
            key="one-after",
            on_click=step,
            args=(place, 1, about.rows),
            disabled=_next(place, 1, about.rows) is None,
        )
        st.caption(f"row {words.count(place)}, of {words.count(about.rows)} counted from 0", width="content")


def step(place: int, by: int, rows: int) -> None:
    """Goes to the row before or after, in the order of the page it was opened from."""
    to = _next(place, by, rows)
    if to is not None:
        session.remember("place", str(to))


def _next(place: int, by: int, rows: int) -> int | None:
    places: list[int] = (st.session_state.get("_sample_order") or ([],))[0]
    if place in places:
        at = places.index(place) + by
        if 0 <= at < len(places):
            return int(places[at])
        if places != list(range(places[0], places[0] + len(places))):
            return None
    return place + by if 0 <= place + by < rows else None


def _chosen(value: Any, place: int, about: DataAbout) -> None:
    """What was pressed in the picture: arrows, or Escape. Hostile."""
    if value is None:
        session.remember("place", None)
        rerun.whole_page()
    by = value.get("step") if isinstance(value, dict) else None
    if by in (-1, 1) and _next(place, by, about.rows) is not None:
        step(place, by, about.rows)
        rerun.whole_page()


def _remember(now: Look) -> None:
    from dashboard.data.data_samples import remember_look

    remember_look(now)


def _head(sample: ShownRow) -> None:
    about = [escape.code(sample.name)] if sample.name else []
    if sample.label:
        about.append(f"label **{escape.markdown(sample.label, 200)}**")
    if sample.split:
        about.append(escape.markdown(sample.split, 40))
    if sample.width:
        about.append(f"{sample.width:,} × {sample.height:,} pixels")
    if sample.marks_total:
        left = f", {len(sample.marks):,} drawn" if len(sample.marks) < sample.marks_total else ""
        about.append(words.plural(sample.marks_total, "mark") + left)
    if about:
        st.markdown(" · ".join(about))
    for problem in sample.problems[:10]:
        st.warning(escape.sentences(problem))
    for remark in sample.remarks[:10]:
        st.caption(escape.sentences(remark))


def _values(sample: ShownRow, result: JobResult) -> None:
    rest: list[Shown] = []
    for value in sample.values:
        if isinstance(value, ShownText) and value.look == value.kind == "text":
            st.caption(escape.markdown(value.field, 60))
            st.code(value.text[:20_000] or " ", language=None, wrap_lines=True)
            if value.left_out:
                st.caption(f"{words.count(value.left_out)} more characters")
            continue
        rest.append(value)
        if isinstance(value, ShownWave):
            _curve(value, result)
    if rest:
        table = {
            "Field": [escape.clip(value.field, 80) for value in rest],
            "Value": [escape.clip(_said(value), 300) for value in rest],
            "Type": [f"{value.kind}, {value.dtype}" for value in rest],
        }
        if any(value.min is not None and not isinstance(value, ShownNumber) for value in rest):
            table["Range"] = [_range(value) for value in rest]
        st.dataframe(table, hide_index=True, height="content" if len(rest) <= 14 else 520)
    if sample.marks:
        _marks(sample.marks)


def _said(value: Shown) -> str:
    return words.shape(value.shape) if isinstance(value, ShownPicture) else sample_grid.said(value)


def _range(value: Shown) -> str:
    if isinstance(value, ShownNumber):
        return ""
    if value.min is None or value.max is None:
        return "not finite" if value.nonfinite else ""
    broken = f", {value.nonfinite:,} not finite" if value.nonfinite else ""
    return f"{words.significant(float(value.min))} … {words.significant(float(value.max))}{broken}"


def _curve(value: ShownWave, result: JobResult) -> None:
    channels = sample_grid.curve(result, value.file, 8)
    if channels:
        st.plotly_chart(
            _signal(channels, value), config=figures.CONFIG, key=f"curve-{value.file}", alt="Signal over time"
        )
    sound = result.files.get(value.sound or "") if isinstance(value, ShownSound) else None
    if sound is not None and sound.stat().st_size <= 128 << 20:
        st.audio(sound.read_bytes(), format="audio/wav")


def _signal(channels: list[list[list[float | None]]], value: ShownWave) -> go.Figure:
    """Each channel as the band between the lowest and highest value of every stretch."""
    figure = figures.base(240, showlegend=len(channels) > 1)
    steps, rate = value.steps, float(value.sample_rate_hz if isinstance(value, ShownSound) else 0)
    for at, (lows, highs) in enumerate(channels):
        colour = class_colours.COLOURS[at % len(class_colours.COLOURS)]
        x = [(place + 0.5) * steps / len(lows) / (rate or 1) for place in range(len(lows))]
        name = f"channel {at}"
        figure.add_scatter(
            x=x,
            y=lows,
            mode="lines",
            line={"color": colour, "width": 1},
            name=name,
            legendgroup=name,
            hovertemplate="%{x:.4g}: %{y:.4g}<extra></extra>",
        )
        if lows != highs:
            figure.add_scatter(
                x=x,
                y=highs,
                mode="lines",
                line={"color": colour, "width": 1},
                name=name,
                legendgroup=name,
                showlegend=False,
                fill="tonexty",
                hovertemplate="%{x:.4g}: %{y:.4g}<extra></extra>",
            )
    figure.update_xaxes(title_text="Time (s)" if rate else "Step")
    figure.update_yaxes(title_text=escape.figure(value.field))
    return figure


def _marks(marks: Sequence[Marked]) -> None:
    with st.expander(f"{words.plural(len(marks), 'mark')} as numbers"):
        rows = marks[:_MOST_MARKS]
        st.dataframe(
            {
                "Class": [escape.clip(mark.label, 80) for mark in rows],
                "Kind": [mark.type for mark in rows],
                "Where": [_where(mark) for mark in rows],
                "Also": [
                    escape.clip(", ".join(f"{key} {item}" for key, item in mark.details.items()), 120) for mark in rows
                ],
            },
            hide_index=True,
        )


def _where(mark: Marked) -> str:
    if isinstance(mark, ShownPolygon):
        return f"{words.plural(len(mark.rings), 'ring')}, {words.plural(sum(map(len, mark.rings)), 'point')}"
    if not isinstance(mark, ShownBox | ShownRegion):
        return words.plural(len(mark.points), "point")
    size = f"x {words.given(mark.x)}, y {words.given(mark.y)}, {words.given(mark.width)} × {words.given(mark.height)}"
    if isinstance(mark, ShownRegion):
        return f"{size}, {mark.pixels:,} pixels"
    return f"{size}, turned {words.given(mark.angle_degrees)}°" if mark.angle_degrees else size


def _fed(sample: ShownRow, result: JobResult, job_id: str) -> None:
    st.markdown("**What the model gets of it**")
    st.caption(" · ".join(chosen_data.step_words()))
    bare = replace(sample, picture=None, areas=None, marks=(), values=(), width=0, height=0)
    sample_grid.show(result, job_id, [bare], (), Look(), size="large", large=False, key="one-fed")
