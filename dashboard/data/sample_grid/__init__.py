"""Samples as cards, or one of them large: pictures with what is marked on them, curves, sounds, texts, numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dashboard import choices, escape, outputs, words
from dashboard.components import SCRIPT, component, nothing
from dashboard.data import class_colours
from dashboard.routes.job_media import address
from stethoscope.codec import plain
from stethoscope.data.view.shown import Shown, ShownNumber, ShownPicture, ShownRow, ShownSound, ShownText, ShownWave
from stethoscope.types import JobResult

FOLDER = Path(__file__).parent
TOLD = "opened"
SIZES = {"small": 132, "medium": 208, "large": 320}
_CARD_CHANNELS, _CARD_STEPS = 4, 200
_MOST_LEGEND = 300
_ROWS, _TEXT = 10, 700


@dataclass(frozen=True)
class Look:
    """What is shown of the marks."""

    marks: bool = True
    labels: bool = True
    hidden: tuple[str, ...] = ()
    """Classes that are not shown."""


def show(
    result: JobResult,
    job_id: str,
    samples: Sequence[ShownRow],
    classes: Sequence[str],
    look: Look,
    *,
    size: str,
    large: bool,
    key: str,
    notes: Mapping[int, str] | None = None,
) -> Look:
    """Draws rows that the task `read_data` answered. It tells the place of the one that is opened: see `opened`.

    Args:
        result: of the job.
        job_id: its id, under which its pictures are found.
        samples: the rows.
        classes: names of the classes in the order of their numbers.
        look: what is shown of the marks at first.
        size: of the cards, one of `SIZES`.
        large: whether the (only) sample fills the width; then arrow keys tell a step and Escape tells None.
        key: of the widget.
        notes: a few words about some rows, by place.

    Returns:
        What is shown of the marks now.
    """
    shown = [_sample(one, result, job_id, (notes or {}).get(one.place, "")) for one in samples]
    counts = Counter(mark.label for one in samples for mark in one.marks)
    labels = [*counts, *(one.label for one in samples if one.label)]
    told = component(FOLDER, ("marks.js", "cards.js", SCRIPT))(
        key=key,
        data={
            "samples": shown,
            "classes": _clipped(class_colours.colours_of(labels, classes)),
            "legend": [[escape.clip(label, 80), number] for label, number in counts.most_common(_MOST_LEGEND)],
            "hidden": [escape.clip(label, 80) for label in look.hidden],
            "marks": look.marks,
            "labels": look.labels,
            "size": SIZES[size],
            "height": 620,
            "large": large,
        },
        on_opened_change=nothing,
        on_view_change=nothing,
    )
    return _look(told.view, look)


def opened(key: str) -> choices.Choice | None:
    """What was chosen in the grid and has not been acted on: a place, {"step": ±1}, or None. Hostile."""
    choice = choices.newest({key: TOLD})
    if choice is not None:
        choices.take({key: TOLD})
    return choice


def curve(result: JobResult, name: str, channels: int = _CARD_CHANNELS) -> list[list[list[float | None]]]:
    """The [lows, highs] of each channel of a curve's file; empty where it is none."""
    path = result.files.get(name)
    array = None if path is None else outputs.load(path)
    if array is None or array.ndim != 3 or array.shape[1] != 2 or array.shape[2] > 5_000:
        return []
    return [
        [[None if not abs(value) < float("inf") else float(f"{value:.4g}") for value in row] for row in pair]
        for pair in array[:channels].tolist()
    ]


def said(value: Shown) -> str:
    """One value in words: a number, a text, or what its array is."""
    match value:
        case ShownNumber(number=number):
            told = str(number) if isinstance(number, bool | str) else words.given(number)
            return f"{told} {value.unit}" if value.unit else told
        case ShownText():
            return value.text + (f" … and {value.left_out:,} more" if value.left_out else "")
        case ShownSound():
            return f"{words.duration(value.seconds)} at {words.count(value.sample_rate_hz)} Hz"
        case _:
            return f"{words.shape(value.shape)} {value.dtype}"


def _sample(one: ShownRow, result: JobResult, job_id: str, note: str) -> dict[str, Any]:
    pictures = [value for value in one.values if isinstance(value, ShownPicture)]
    curves = [value for value in one.values if isinstance(value, ShownWave)]
    texts = [
        value.text
        for value in one.values
        if isinstance(value, ShownText) and value.kind in ("text", "tokens") and value.text and value.role == "input"
    ]
    sound = next((value.sound for value in curves if isinstance(value, ShownSound) and value.sound), None)
    return {
        "place": one.place,
        "name": escape.clip(one.name, 160),
        "label": escape.clip(one.label, 80),
        "split": escape.clip(one.split, 30),
        "note": note,
        "problems": [escape.clip(problem, 300) for problem in one.problems],
        "width": one.width,
        "height": one.height,
        "picture": address(job_id, one.picture) if one.picture else None,
        "areas": address(job_id, one.areas) if one.areas else None,
        "marks": [plain(replace(mark, label=escape.clip(mark.label, 80), details={})) for mark in one.marks],
        "pictures": [
            {"field": escape.clip(value.field, 60), "source": address(job_id, value.file), **_size(value)}
            for value in pictures
            if value.kind != "mask" or len(pictures) == 1
        ],
        "curve": curve(result, curves[0].file) if curves else None,
        "sound": address(job_id, sound) if sound else None,
        "text": escape.clip(texts[0], _TEXT) if texts else "",
        "rows": [
            {"field": escape.clip(value.field, 60), "said": escape.clip(said(value), 80)}
            for value in one.values
            if value.role != "split"
        ][:_ROWS],
        "fed": [_fed(value, result, job_id) for value in one.fed],
    }


def _fed(value: Shown, result: JobResult, job_id: str) -> dict[str, Any]:
    ends = ""
    if value.min is not None and value.max is not None:
        ends = f", {words.significant(float(value.min))} … {words.significant(float(value.max))}"
    return {
        "title": f"{escape.clip(value.field, 40)}: {words.shape(value.shape)} {value.dtype}{ends}",
        "source": address(job_id, value.file) if isinstance(value, ShownPicture) else None,
        "curve": curve(result, value.file) if isinstance(value, ShownWave) else None,
        "said": escape.clip(said(value), 200),
        **_size(value),
    }


def _size(value: Shown) -> dict[str, int]:
    if isinstance(value, ShownPicture):
        return {"width": value.width or 1, "height": value.height or 1}
    return {"width": 1, "height": 1}


def _clipped(rows: list[list[object]]) -> list[list[object]]:
    return [[escape.clip(label, 80), *rest] for label, *rest in rows]


def _look(told: Any, before: Look) -> Look:
    value = told.get("value") if isinstance(told, dict) else None
    if not isinstance(value, dict) or not isinstance(value.get("hidden"), list):
        return before
    hidden = tuple(label for label in value["hidden"][:_MOST_LEGEND] if isinstance(label, str))
    return Look(bool(value.get("marks")), bool(value.get("labels")), hidden)
