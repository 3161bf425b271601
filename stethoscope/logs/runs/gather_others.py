"""Logs that are no event files: read again as a whole when a file changed, kept as they were otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stethoscope.logs import all_trackers
from stethoscope.logs.runs.facts import RunFacts, Source, run_from_json
from stethoscope.logs.runs.gather_events import EVENTS
from stethoscope.logs.runs.gathered import Gathered, MediaPiece, Piece, bounded, digest
from stethoscope.logs.series import RunLog
from stethoscope.logs.walk import listing


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
