"""Event files: each is a source of its own, and goes on where the last reading stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stethoscope.logs.event_folder import EventFolder, EventSource
from stethoscope.logs.runs.facts import RunFacts, Source
from stethoscope.logs.runs.gathered import Gathered, MediaPiece, Piece, bounded
from stethoscope.logs.series import most_restarts, restarts_by_tag

EVENTS = "tensorboard"
_MAX_RESTARTS = 100


def gather_events(
    place: Path, known: Mapping[str, Any], found: Gathered, progress: Callable[[str, float], None]
) -> None:
    """Adds runs of event files to `found`, with the points that came since the states in `known`."""
    folder = EventFolder(place, {name: one["reader"] for name, one in known.items()})
    folder.refresh(lambda done, files: progress("event files", done / max(files, 1)))
    runs: dict[str, list[EventSource]] = {}
    for one in folder.sources():
        runs.setdefault(one.run, []).append(one)
    for sources in runs.values():
        for place_in_run, one in enumerate(sources):
            _gather_source(one, place_in_run, known.get(one.name), found)
        found.runs.append(_facts(sources, found.state["events"]))


def _gather_source(one: EventSource, place_in_run: int, old: Mapping[str, Any] | None, found: Gathered) -> None:
    if old is None or old["reader"]["started_over"] != one.reader.started_over:
        old = {"serial": found.next_serial(), "restarts": {}, "first": {}, "last": {}}
    series = {tag: points for tag, points in one.reader.points.series().items() if len(points.step)}
    first = {tag: int(points.step[0]) for tag, points in series.items()}
    restarts = _added(old["restarts"], old["last"], first, restarts_by_tag(series))
    source = len(found.sources)
    found.sources.append(Source(f"{EVENTS}:{one.name}", len(found.runs), old["serial"], one.prefix))
    found.pieces.extend(Piece(source, points) for points in series.values())
    found.media.extend(MediaPiece(source, media) for media in one.reader.points.media(place_in_run) if len(media.step))
    found.state["events"][one.name] = {
        "reader": one.reader.state(),
        "serial": old["serial"],
        "restarts": restarts,
        "first": first | old["first"],
        "last": old["last"] | {tag: int(points.step[-1]) for tag, points in series.items()},
    }


def _facts(sources: list[EventSource], states: Mapping[str, Any]) -> RunFacts:
    healths = [one.reader.health(one.name) for one in sources]
    parameters: dict[str, Any] = {}
    restarts: dict[str, list[int]] = {}
    reached: dict[str, int] = {}
    for one in sources:
        state = states[one.name]
        parameters.update(one.reader.points.parameters)
        first, own = ({one.prefix + tag: at for tag, at in state[name].items()} for name in ("first", "restarts"))
        restarts = _added(restarts, reached, first, own)
        reached.update({one.prefix + tag: step for tag, step in state["last"].items()})
    epochs = any(tag.rsplit("/", 1)[-1].startswith("epoch_") for tag in reached)
    return RunFacts(
        run=sources[0].run,
        group=sources[0].group,
        tracker=EVENTS,
        unit="epoch" if epochs else "step",
        parameters=bounded(parameters),
        bad_records=sum(health.bad_records for health in healths),
        truncated_bytes=sum(health.truncated_bytes for health in healths),
        restarts=most_restarts(restarts.values()),
        left_out=tuple(dict.fromkeys(text for health in healths for text in health.left_out)),
        files=tuple(one.name for one in sources),
    )


def _added(
    restarts: Mapping[str, list[int]],
    reached: Mapping[str, int],
    first: Mapping[str, int],
    more: Mapping[str, list[int]],
) -> dict[str, list[int]]:
    """Restarts by tag, and those of points that came after them: first of all where a tag goes on below what it had reached."""
    found = dict(restarts)
    for tag, step in first.items():
        begun = [step] if step < reached.get(tag, step) else []
        if begun or tag in more:
            found[tag] = [*found.get(tag, ()), *begun, *more.get(tag, ())][:_MAX_RESTARTS]
    return found
