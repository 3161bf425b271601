"""One sample large: its picture with everything marked on it, all of its values, its sound, and what a model gets of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures, rerun, session, words
from dashboard.data import chosen_data, class_colours, data_jobs, sample_grid
from dashboard.data.sample_grid import Look
from dashboard.session import View
from stethoscope.data.dataset import DataAbout
from stethoscope.store import Entry
from stethoscope.types import JobResult

_MOST_MARKS = 500


def show(view: View, entry: Entry, about: DataAbout, place: int, look: Look) -> None:
    """Draws the row at `place` and the way to the others."""
    _way(place, about)
    params = {"full": place, "data_options": chosen_data.options(), "preparation": chosen_data.steps()}
    job = data_jobs.reading(entry, params)
    state = data_jobs.asked(job, entry, view)
    found = data_jobs.answer(state, job, dict, entry, view)
    if found is None or state.result is None:
        return
    if not found["samples"]:
        st.info(f"There is no row {place:,}: the data ends before it.")
        return
    sample = found["samples"][0]
    _head(sample)
    drawn = sample["picture"] or sample["marks"]
    sides = st.grid(2, min_column_width=380, gap="medium") if drawn else None
    left, right = (st.container(), st.container()) if sides is None else (sides.cell(), sides.cell())
    if drawn:
        with left:
            key = f"one-{entry.id}"
            pictured = {**sample, "fed": []}
            now = sample_grid.show(
                state.result, state.id, [pictured], about.classes, look, size="large", large=True, key=key
            )
            _remember(now)
            choice = sample_grid.opened(key)
            if choice is not None:
                _chosen(choice.value, place, about)
    with right:
        _values(sample, state.result)
    if sample["fed"]:
        _fed(sample, state.result, state.id)


def _way(place: int, about: DataAbout) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("All samples", key="all-samples", on_click=session.remember, args=("place", None))
        st.button("Previous", key="one-before", on_click=step, args=(place, -1, about.rows), disabled=_next(place, -1, about.rows) is None)  # fmt: skip
        st.button("Next", key="one-after", on_click=step, args=(place, 1, about.rows), disabled=_next(place, 1, about.rows) is None)  # fmt: skip
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


def _head(sample: Mapping[str, Any]) -> None:
    about = [escape.code(sample["name"])] if sample["name"] else []
    if sample["label"]:
        about.append(f"label **{escape.markdown(sample['label'], 200)}**")
    if sample["split"]:
        about.append(escape.markdown(sample["split"], 40))
    if sample["width"]:
        about.append(f"{sample['width']:,} × {sample['height']:,} pixels")
    if sample["marks_total"]:
        left = f", {len(sample['marks']):,} drawn" if len(sample["marks"]) < sample["marks_total"] else ""
        about.append(words.plural(int(sample["marks_total"]), "mark") + left)
    if about:
        st.markdown(" · ".join(about))
    for problem in sample["problems"][:10]:
        st.warning(escape.sentences(problem))
    for remark in sample["remarks"][:10]:
        st.caption(escape.sentences(remark))


def _values(sample: Mapping[str, Any], result: JobResult) -> None:
    values = sample["values"]
    for value in values:
        if value.get("look") == "text" and value["kind"] == "text":
            st.caption(escape.markdown(value["field"], 60))
            st.code(str(value["text"])[:20_000] or " ", language=None, wrap_lines=True)
            if value.get("left_out"):
                st.caption(f"{words.count(int(value['left_out']))} more characters")
        elif value.get("look") in ("curve", "sound"):
            _curve(value, result)
    rest = [value for value in values if not (value.get("look") == "text" and value["kind"] == "text")]
    if rest:
        table = {
            "Field": [escape.clip(value["field"], 80) for value in rest],
            "Value": [escape.clip(_said(value), 300) for value in rest],
            "Type": [f"{value['kind']}, {value['dtype']}" for value in rest],
        }
        if any(isinstance(value.get("min"), int | float) and value.get("look") != "number" for value in rest):
            table["Range"] = [_range(value) for value in rest]
        st.dataframe(table, hide_index=True, height="content" if len(rest) <= 14 else 520)
    if sample["marks"]:
        _marks(sample)


def _said(value: Mapping[str, Any]) -> str:
    return words.shape(value["shape"]) if value.get("look") == "picture" else sample_grid.said(value)


def _range(value: Mapping[str, Any]) -> str:
    low, high = value.get("min"), value.get("max")
    if value.get("look") == "number":
        return ""
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return "not finite" if value.get("nonfinite") else ""
    broken = f", {value['nonfinite']:,} not finite" if value.get("nonfinite") else ""
    return f"{words.significant(float(low))} … {words.significant(float(high))}{broken}"


def _curve(value: Mapping[str, Any], result: JobResult) -> None:
    channels = sample_grid.curve(result, str(value["file"]), 8)
    if channels:
        st.plotly_chart(
            _signal(channels, value), config=figures.CONFIG, key=f"curve-{value['file']}", alt="Signal over time"
        )
    sound = result.files.get(str(value.get("sound") or ""))
    if sound is not None and sound.stat().st_size <= 128 << 20:
        st.audio(sound.read_bytes(), format="audio/wav")


def _signal(channels: list[list[list[float | None]]], value: Mapping[str, Any]) -> go.Figure:
    """Each channel as the band between the lowest and highest value of every stretch."""
    figure = figures.base(240, showlegend=len(channels) > 1)
    steps, rate = int(value["steps"]), float(value.get("sample_rate_hz") or 0)
    for at, (lows, highs) in enumerate(channels):
        colour = class_colours.COLOURS[at % len(class_colours.COLOURS)]
        x = [(place + 0.5) * steps / len(lows) / (rate or 1) for place in range(len(lows))]
        name = f"channel {at}"
        figure.add_scatter(x=x, y=lows, mode="lines", line={"color": colour, "width": 1}, name=name, legendgroup=name,
                           hovertemplate="%{x:.4g}: %{y:.4g}<extra></extra>")  # fmt: skip
        if lows != highs:
            figure.add_scatter(x=x, y=highs, mode="lines", line={"color": colour, "width": 1}, name=name,
                               legendgroup=name, showlegend=False, fill="tonexty",
                               hovertemplate="%{x:.4g}: %{y:.4g}<extra></extra>")  # fmt: skip
    figure.update_xaxes(title_text="Time (s)" if rate else "Step")
    figure.update_yaxes(title_text=escape.figure(value["field"]))
    return figure


def _marks(sample: Mapping[str, Any]) -> None:
    with st.expander(f"{words.plural(len(sample['marks']), 'mark')} as numbers"):
        rows = sample["marks"][:_MOST_MARKS]
        st.dataframe(
            {
                "Class": [escape.clip(mark["label"], 80) for mark in rows],
                "Kind": [str(mark["type"]) for mark in rows],
                "Where": [_where(mark) for mark in rows],
                "Also": [escape.clip(", ".join(f"{key} {item}" for key, item in (mark.get("details") or {}).items()), 120) for mark in rows],
            },
            hide_index=True,
        )  # fmt: skip


def _where(mark: Mapping[str, Any]) -> str:
    if mark["type"] in ("box", "region"):
        turned = f", turned {words.given(mark['angle_degrees'])}°" if mark.get("angle_degrees") else ""
        size = f"x {words.given(mark['x'])}, y {words.given(mark['y'])}, {words.given(mark['width'])} × {words.given(mark['height'])}"
        return size + turned + (f", {mark['pixels']:,} pixels" if "pixels" in mark else "")
    if mark["type"] == "polygon":
        return f"{words.plural(len(mark['rings']), 'ring')}, {words.plural(sum(map(len, mark['rings'])), 'point')}"
    return words.plural(len(mark["points"]), "point")


def _fed(sample: Mapping[str, Any], result: JobResult, job_id: str) -> None:
    st.markdown("**What the model gets of it**")
    st.caption(" · ".join(chosen_data.step_words()))
    bare = {**sample, "picture": None, "areas": None, "marks": [], "values": [], "width": 0, "height": 0}
    sample_grid.show(result, job_id, [bare], (), Look(), size="large", large=False, key="one-fed")
