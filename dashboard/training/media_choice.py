"""Which histograms, images or texts of a log are looked at, and what a worker decoded of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import streamlit as st

from dashboard import escape, linked, outputs, progress, render, words
from dashboard.training import followed, log_choice
from dashboard.training.log_choice import LogView
from stethoscope.codec import answer_of
from stethoscope.logs.series import Media, latest_places
from stethoscope.tasks.read_media import DecodedMedia, FilePlace, ImagePlace, MediaPoint, MediaRun
from stethoscope.types import Status

MOST_RUNS = 4
"""Runs shown beside each other."""
MOST_STEPS = {"histogram": 240, "image": 75, "text": 100, "pr_curve": 100, "graph": 5}
"""Steps decoded of each run, spread over all of them."""


@dataclass(frozen=True)
class RunShown(MediaRun):
    """What was decoded of one run, and what it was taken from."""

    unit: str
    """What steps count."""
    of: int
    """How many steps there are in all."""


@dataclass(frozen=True)
class Decoded:
    """What was decoded of one tag."""

    tag: str
    runs: Sequence[RunShown]
    arrays: Mapping[str, npt.NDArray[Any]] = field(repr=False)
    """By name, mapped: "buckets", "curves", "images" or "graphs"."""

    def rows(self, name: str, point: MediaPoint) -> npt.NDArray[np.float64]:
        """The rows of an array that belong to a point; empty where the answer does not fit together."""
        array = self.arrays.get(name)
        if array is None or array.ndim != 2 or point.at < 0 or point.at + point.count > len(array):
            return np.empty((0, 3))
        return np.asarray(array[point.at : point.at + point.count], np.float64)

    def file(self, name: str, place: FilePlace | ImagePlace) -> bytes:
        """The file among "images" (PNG) or "graphs" (GraphDef)."""
        array = self.arrays.get(name)
        return b"" if array is None else array[place.start : place.start + place.size].tobytes()


def choose(log: LogView, kinds: Sequence[str], noun: str) -> tuple[str, str, list[int]] | None:
    """Draws the choice of a tag and of runs; returns (kind, tag, indices of runs), or None after saying that there is none."""
    found = [one for one in log.index.get("media", ()) if one["kind"] in kinds]
    if not found:
        render.empty(f"**This log holds no {noun}.**")
        return None
    tags = {quote(str(one["tag"]), safe="/ "): str(one["tag"]) for one in found}
    first, second = st.columns(2, vertical_alignment="bottom")
    with first:
        titles = {one: escape.clip(tag, 80) for one, tag in sorted(tags.items(), key=lambda item: _natural(item[1]))}
        tag = tags[linked.select("Tag", titles, next(iter(titles)), f"{kinds[0]}-tag")]
    runs = {int(one["run"]): str(one["kind"]) for one in found if one["tag"] == tag}
    names = {at: str(log.index["runs"][at]["run"]) for at in runs}
    ids = {quote(name, safe="/ "): at for at, name in names.items()}
    default = next(iter(names.values()))
    with second:
        chosen = linked.several(
            "Runs",
            {one: escape.clip(names[at], 60) for one, at in ids.items()},
            "media-runs",
            most=MOST_RUNS,
            placeholder=escape.clip(default, 60),
        )
    places = [ids[one] for one in chosen] or [next(iter(names))]
    kind = runs[places[0]]
    return kind, tag, [at for at in places if runs[at] == kind]


def decoded(log: LogView, kind: str, tag: str, runs: Sequence[int]) -> Decoded | None:
    """What a worker makes of these media; None after drawing how far it is, or why there is nothing."""
    table = followed.opened(log.job_id).table
    if table is None:
        return None
    asked, of, units = [], [], []
    for at in runs:
        facts = table.runs[at]
        try:
            places, total = _points(table.media_of(at, tag), MOST_STEPS[kind])
        except KeyError:
            continue
        asked.append({"run": facts.run, "files": list(facts.files), "points": places})
        of.append(total)
        units.append(facts.unit)
    state = log_choice.submit("read_media", log, {"kind": kind, "tag": tag, "runs": asked})
    if state.result is None:
        progress.watch(state, subject=log.title, may_cancel=True)
        st.skeleton(height=420)
        return None
    if state.result.status is not Status.OK:
        render.ending(state)
        return None
    answer, files = answer_of(state.result, DecodedMedia), state.result.files
    arrays = {
        name: outputs.load(path)
        for name in ("buckets", "curves", "images", "graphs")
        if (path := files.get(f"{name}.npy"))
    }
    shown = [RunShown(run.run, run.points, units[at], of[at]) for at, run in enumerate(answer.runs)]
    _say(answer, shown)
    if not any(run.points for run in shown):
        render.empty(
            f"**Nothing of {escape.code(tag)} could be read.** Its records are damaged, or the log has changed since."
        )
        return None
    return Decoded(tag, shown, {name: array for name, array in arrays.items() if array is not None})


def _points(media: Media, most: int) -> tuple[list[list[Any]], int]:
    """Places of at most so many records, spread evenly with the first and the last, and how many there are."""
    kept = latest_places(media.step)
    places = np.arange(len(media.step)) if kept is None else kept
    total = len(places)
    if total > most:
        places = places[np.unique(np.linspace(0, total - 1, most).round().astype(int))]
    columns = (media.file, media.start, media.size, media.step)
    walls = [time if np.isfinite(time) else None for time in media.wall_time[places].tolist()]
    rows = zip(*(column[places].tolist() for column in columns), walls, strict=True)
    return [list(row) for row in rows], total


def _say(answer: DecodedMedia, shown: Sequence[RunShown]) -> None:
    said = []
    if answer.damaged:
        said.append(
            f"{words.plural(answer.damaged, 'record')} could not be read and {'is' if answer.damaged == 1 else 'are'} left out"
        )
    if answer.left_out:
        said.append(f"{words.plural(answer.left_out, 'record')} were too many to show at once")
    thinned = [run for run in shown if run.of > len(run.points) + 1 and len(run.points) > 1]
    if thinned:
        most = max(run.of for run in thinned)
        said.append(
            f"of up to {words.plural(most, 'step')} of a run, {len(thinned[0].points)} are shown, evenly spread"
        )
    if said:
        text = "; ".join(said)
        st.caption(f"{text[:1].upper()}{text[1:]}.")


def _natural(text: str) -> tuple[Any, ...]:
    """Orders layer_2 before layer_10."""
    parts: list[Any] = []
    number = ""
    for character in text:
        if character.isdecimal() and character.isascii():
            number += character
            continue
        if number:
            parts.append((0, int(number), ""))
            number = ""
        parts.append((1, 0, character))
    return (*parts, (0, int(number), "")) if number else tuple(parts)
