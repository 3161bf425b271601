"""What a log holds besides curves: histograms over the steps, images with a step slider, texts and precision against recall."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence

import streamlit as st

from dashboard import escape, figures, fragments, linked, session, words
from dashboard.training import media_figures
from dashboard.training.log_choice import LogView
from dashboard.training.media_choice import Decoded, RunShown, choose, decoded
from stethoscope.tasks.read_media import MediaPoint, common_edges

BINS = 90
_TRIMMED = 0.005
_AXES = {"step": "Number", "relative": "Time since the first"}
_VIEWS = {"both": "Ridges and heat map", "ridges": "Ridges", "heat": "Heat map"}
_RANGES = {"all": "All values", "most": "Without the outer 1 %"}
_COLOURS = {"linear": "Share", "log": "Share, logarithmic"}
_SIZES = {"small": "Small", "medium": "Medium", "large": "Large"}
_WIDTHS = {"small": 128, "medium": 256, "large": 640}
_MOST_TEXT_ROWS = 100


def histograms(log: LogView) -> None:
    """The view Histograms of the page Training."""
    chosen = choose(log, ["histogram"], "histograms")
    if chosen is None:
        return
    row = st.grid(4, min_column_width=190, vertical_alignment="bottom")
    with row.cell():
        view = linked.select("Picture", _VIEWS, "both", "hist-view")
    with row.cell():
        axis = linked.select("Steps by", _AXES, "step", "hist-axis")
    with row.cell():
        limits = linked.select("Values", _RANGES, "all", "hist-range")
    with row.cell():
        colour = linked.select("Colour", _COLOURS, "linear", "hist-colour", disabled=view == "ridges")
    found = decoded(log, *chosen)
    if found is None:
        return
    runs = [run for run in found.runs if run.points]
    tables = [[found.rows("buckets", point) for point in run.points] for run in runs]
    edges = common_edges([table for one in tables for table in one], BINS, _TRIMMED if limits == "most" else 0.0)
    title = "Time since the first step (s)" if axis == "relative" else runs[0].unit.capitalize()
    columns = st.columns(len(runs))
    for place, (column, run, table) in enumerate(zip(columns, runs, tables, strict=True)):
        steps = media_figures.Steps.of(*_positions(run, axis), table, edges)
        height = 430 if len(runs) == 1 else 340
        with column:
            if len(runs) > 1:
                st.markdown(escape.code(run.run, 48))
            halves = st.columns(2) if view == "both" and len(runs) == 1 else [st.container(), st.container()]
            if view != "heat":
                halves[0].plotly_chart(
                    media_figures.ridges(steps, title, height),
                    config=figures.CONFIG,
                    key=f"ridges-{place}",
                    alt="Histograms of the steps as ridges, the newest in front",
                )
            if view != "ridges":
                picture = media_figures.heat_map(steps, title, height, logarithmic=colour == "log")
                halves[1].plotly_chart(
                    picture,
                    config=figures.CONFIG,
                    key=f"heat-{place}",
                    alt="Histograms of the steps as a heat map, with the median",
                )
            if steps.broken.any():
                bad = [name for name, broken in zip(steps.shown, steps.broken, strict=True) if broken]
                others = f" and {words.plural(len(bad) - 1, 'other')}" if len(bad) > 1 else ""
                st.caption(f"{escape.markdown(bad[0].capitalize())}{others}: not a single number, all NaN or infinite.")
    if view != "ridges":
        st.caption("The line is the median of the values shown.")


def images(log: LogView) -> None:
    """The view Images of the page Training."""
    chosen = choose(log, ["image"], "images")
    found = None if chosen is None else decoded(log, *chosen)
    if found is None:
        return

    def show(point: MediaPoint) -> None:
        width = _WIDTHS[str(st.session_state.get("image-size", "medium"))]
        row = st.container(horizontal=True, gap="small")
        sizes = [f"{place.width:,} × {place.height:,} pixels" for place in point.images]
        for place, size in zip(point.images, sizes, strict=True):
            row.image(
                found.file("images", place),
                width=_shown_width(place.width, place.height, width),
                caption=size if len(set(sizes)) > 1 else None,
            )
        said = sizes[:1] if len(set(sizes)) == 1 else []
        if point.of > len(sizes):
            said.append(f"{words.plural(point.of, 'image')} in the record, {len(sizes)} shown")
        st.caption(" · ".join(said))

    _over_steps(found, show, sized=True)


def _shown_width(pixels_across: int, pixels_down: int, width: int) -> int:
    """As wide as asked for; narrower where it would be more than twice as high, but never too narrow to be seen."""
    return max(8, min(width, round(2 * width * pixels_across / max(pixels_down, 1))))


def texts(log: LogView) -> None:
    """Texts, a step at a time."""
    chosen = choose(log, ["text"], "texts")
    found = None if chosen is None else decoded(log, *chosen)
    if found is None:
        return

    def show(point: MediaPoint) -> None:
        shape = point.shape
        if len(shape) == 2 and shape[0] * shape[1] == len(point.texts) and shape[1]:
            cells = [[escape.clip(text, 500) for text in point.texts[at :: shape[1]]] for at in range(shape[1])]
            st.dataframe({str(at + 1): column[:_MOST_TEXT_ROWS] for at, column in enumerate(cells)}, hide_index=True)
            return
        for text in point.texts[:_MOST_TEXT_ROWS]:
            # Not as Markdown: what a log says is shown, not carried out.
            st.code(text, language=None, wrap_lines=True)

    _over_steps(found, show)


def precision_recall(log: LogView) -> None:
    """Precision against recall, a step at a time."""
    chosen = choose(log, ["pr_curve"], "precision–recall curves")
    found = None if chosen is None else decoded(log, *chosen)
    if found is None:
        return

    @fragments.part()
    def picture() -> None:
        at = _step(found)
        curves = []
        for run in found.runs:
            point = _point_at(run.points, at)
            if point is not None:
                curves.append((run.run, found.rows("curves", point)))
        st.plotly_chart(
            media_figures.precision_recall(curves), config=figures.CONFIG, key="pr", alt="Precision against recall"
        )

    picture()


def _over_steps(found: Decoded, show: Callable[[MediaPoint], None], *, sized: bool = False) -> None:
    """A slider over all steps, and what each run has at the last one of its own up to there."""

    @fragments.part()
    def moving() -> None:
        if sized:
            left, right = st.columns([4, 1], vertical_alignment="bottom")
            with right:
                linked.select("Size", _SIZES, "medium", "image-size")
        else:
            left = st.container()
        with left:
            at = _step(found)
        runs = [run for run in found.runs if run.points]
        for column, run in zip(st.columns(len(runs)), runs, strict=True):
            with column:
                point = _point_at(run.points, at)
                if len(runs) > 1:
                    st.markdown(escape.code(run.run, 48))
                if point is None:
                    st.caption(f"Nothing up to {run.unit} {words.count(at)}.")
                    continue
                if point.step != at:
                    st.caption(f"from {run.unit} {words.count(point.step)}")
                show(point)

    moving()


def _step(found: Decoded) -> int:
    """The step chosen on a slider over those of all runs; in the address unless it is the last."""
    steps = sorted({point.step for run in found.runs for point in run.points})
    if len(steps) == 1:
        st.caption(f"{found.runs[0].unit.capitalize()} {words.count(steps[0])} is the only one.")
        return steps[0]
    key = "media-step"
    if st.session_state.get(key) not in steps:
        asked = session.recalled(key) or ""
        wanted = int(asked) if asked.lstrip("-").isdecimal() and asked.isascii() else steps[-1]
        st.session_state[key] = min(steps, key=lambda step: abs(step - wanted))
    chosen = int(st.select_slider(found.runs[0].unit.capitalize(), steps, key=key, format_func=words.count))
    session.remember(key, None if chosen == steps[-1] else str(chosen))
    return chosen


def _point_at(points: Sequence[MediaPoint], step: int) -> MediaPoint | None:
    """The last point up to a step; points are ascending."""
    at = bisect.bisect_right(points, step, key=lambda point: point.step)
    return points[at - 1] if at else None


def _positions(run: RunShown, axis: str) -> tuple[list[float], list[str]]:
    """Where a run's steps are on the axis, and in words."""
    names = [f"{run.unit} {words.count(point.step)}" for point in run.points]
    times = [point.wall_time for point in run.points if point.wall_time is not None]
    if axis == "relative" and len(times) == len(names):
        since = [time - times[0] for time in times]
        return since, [f"{name}, after {words.duration(time)}" for name, time in zip(names, since, strict=True)]
    return [float(point.step) for point in run.points], names
