"""Read every run of training logs into columns that the server can map, or what was appended since an earlier reading.

Reads every log in a folder with every tracker: all of it, or what came since an earlier reading.

Logs that are no event files: read again as a whole when a file changed, kept as they were otherwise.

Event files: each is a source of its own, and goes on where the last reading stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stethoscope.logs import all_trackers, no_logs
from stethoscope.logs.runs.columns import write
from stethoscope.logs.runs.facts import (
    Gathered,
    MediaPiece,
    Piece,
    RunFacts,
    Source,
    bounded,
    digest,
    first_state,
    run_from_json,
)
from stethoscope.logs.series import RunLog, most_restarts, restarts_by_tag
from stethoscope.logs.tensorboard import EventFolder, EventSource
from stethoscope.logs.walk import MAX_FILES, listing, log_place, walked_once
from stethoscope.task import TaskContext

Progress = Callable[[str, float], None]


def gather(
    place: Path, since: Mapping[str, Any] | None = None, progress: Progress = lambda _what, _part: None
) -> tuple[Gathered, bool]:
    """Reads the folder or file at `place`; returns what was found, and whether anything is new or gone.

    Args:
        place: what to read.
        since: `Gathered.state` of an earlier reading; only points that came after it are gathered then.
        progress: told what is read, and which part of it is done.
    """
    before = since or first_state()
    found = Gathered()
    found.state["serial"] = before["serial"]
    with walked_once(place) as walk:
        if not walk.complete:
            found.left_out.append(
                f"there are more than {MAX_FILES:,} files or folders: logs were looked for among the first"
            )
        gather_events(place, before["events"], found, progress)
        gather_others(place, before, found, progress)
    found.finish()
    return found, since is None or bool(found.pieces or found.media) or found.state["seen"] != before["seen"]


def gather_others(
    place: Path, before: Mapping[str, Any], found: Gathered, progress: Callable[[str, float], None]
) -> None:
    """Adds runs of every other tracker to `found`; points only of runs that are not as they were `before`."""
    known: Mapping[str, Any] = before["others"]
    files = listing(place).files
    own = [f"{one.path}\0{one.size}\0{one.time_ns}\n" for one in files if "tfevents" not in one.name]
    signature = digest(*(one.encode("utf-8", "replace") for one in own))
    if signature == before["signature"]:
        _keep(known, found)
        found.state["signature"] = signature
        return
    found.state["signature"] = signature
    trackers = [one for one in all_trackers().values() if one.id != EVENTS]
    for at, tracker in enumerate(trackers):
        progress(tracker.title, at / len(trackers))
        try:
            runs = tracker.read(place) if tracker.sniff(place) else ()
        except FileNotFoundError:
            # A file went while it was read: the next reading takes what is there then.
            found.state["signature"] = ""
            found.left_out.append(
                f"{tracker.title}: a file vanished while it was read; its runs are as they were before"
            )
            _keep({id_: one for id_, one in known.items() if one["facts"]["tracker"] == tracker.id}, found)
            continue
        for run in runs:
            _gather_run(run, known, found)


def _keep(known: Mapping[str, Any], found: Gathered) -> None:
    """Runs that are as they were."""
    for id_, one in known.items():
        found.sources.append(Source(id_, len(found.runs), one["serial"]))
        found.runs.append(run_from_json(one["facts"]))
        found.state["others"][id_] = one


def _gather_run(run: RunLog, known: Mapping[str, Any], found: Gathered) -> None:
    id_ = f"{run.tracker}:{run.notes.get('id', '')}:{run.run}"
    if id_ in found.state["others"]:
        id_ = f"{id_}:{len(found.sources)}"
    content = _content(run)
    old = known.get(id_)
    same = old is not None and old["content"] == content
    serial = old["serial"] if old is not None and same else found.next_serial()
    facts = _facts(run)
    source = len(found.sources)
    found.sources.append(Source(id_, len(found.runs), serial))
    found.runs.append(facts)
    if not same:
        found.pieces.extend(Piece(source, one) for one in run.series.values() if len(one.step))
        found.media.extend(MediaPiece(source, one) for one in run.media.values() if len(one.step))
    found.state["others"][id_] = {"serial": serial, "content": content, "facts": facts.to_json()}


def _facts(run: RunLog) -> RunFacts:
    return RunFacts(
        run=run.run,
        group=run.group,
        tracker=run.tracker,
        unit=run.unit,
        parameters=bounded(run.parameters),
        notes=bounded(run.notes),
        bad_records=run.health.bad_records,
        truncated_bytes=run.health.truncated_bytes,
        restarts=run.health.restarts,
        left_out=run.health.left_out,
        files=run.files,
    )


def _content(run: RunLog) -> str:
    """Another text when a point is another."""
    parts: list[bytes | memoryview] = []
    for tag, one in run.series.items():
        parts += [tag.encode("utf-8", "replace"), one.step.data, one.wall_time.data, one.value.data]
    for tag, media in run.media.items():
        parts += [tag.encode("utf-8", "replace"), media.step.data, media.start.data, media.size.data]
    return digest(*parts)


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
        found.runs.append(_event_facts(sources, found.state["events"]))


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


def _event_facts(sources: list[EventSource], states: Mapping[str, Any]) -> RunFacts:
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


POSITIONS = "positions.json"
"""Where to go on: handed back as the file "since"."""
_READING = 0.8


@dataclass(frozen=True)
class RunsRead:
    """What a reading found; the files beside it are what `RunTable` opens."""

    title: str
    changed: bool
    """Whether anything is new or gone since the reading it goes on from; there are no files where nothing is."""
    runs: int
    tags: int
    points: int
    left_out: tuple[str, ...]
    """What was left out of the log as a whole, in sentences."""


class ReadRuns:
    """Files: "logs", an archive, a folder or one log file; "since" (optional), `POSITIONS` of an earlier answer. Params: `follow`, whether to leave `POSITIONS`."""

    kind = "read_runs"
    answer = RunsRead

    def run(self, context: TaskContext) -> RunsRead:
        """Reads the whole log, or what came "since".

        Raises:
            UnreadableFile: no known kind of log is there, and nothing had been read before.
        """
        file = context.files["logs"]
        context.report("read", message=f"reading {file.name}")
        since = context.files.get("since")
        before = None if since is None else json.loads(since.path.read_bytes())
        place = log_place(file, context.folder)
        found, changed = gather(
            place, before, lambda what, part: context.report("read", part * _READING, f"reading {what} of {file.name}")
        )
        follow = bool(context.params.get("follow"))
        if not found.runs and not follow:
            raise no_logs(file.name)
        out = context.folder / "out"
        points = 0
        if changed:
            points = write(found, out, file.name, lambda part: context.report("save", _READING + part * (1 - _READING)))
            if follow:
                (out / POSITIONS).write_text(json.dumps(found.state))
        tags = len({one.series.tag for one in found.pieces})
        return RunsRead(file.name, changed, len(found.runs), tags, points, tuple(found.left_out))


TASK = ReadRuns()
