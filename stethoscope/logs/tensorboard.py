"""TensorBoard event files, as Keras' TensorBoard callback, tf.summary and PyTorch write them.

A folder of TensorBoard event files, followed while trainings write to it: files grow and rotate, runs appear.

A run is a folder with event files. Keras writes two folders, "train" and "validation", which are one run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stethoscope.logs.event_file import MAX_POINTS, EventReader, is_event_file
from stethoscope.logs.series import Health, Media, RunLog, Series, restarts_of
from stethoscope.logs.walk import listing

TRAIN = ("train", "training")
HELD_OUT = ("validation", "val", "valid", "eval", "test")
"""The first of these that is there is taken for the validation data."""
MAX_FOLLOWED_POINTS = 20_000_000
"""Scalars kept of everything in one folder: 480 MB."""
_MAX_NAMED = 100


class EventSource(NamedTuple):
    """One event file and what it is a part of."""

    reader: EventReader
    name: str
    """Its path below the folder that is read."""
    run: str
    group: str
    prefix: str
    """What goes before its tags."""


class EventFolder:
    """Reads every event file in a folder, or one file; `poll` takes in what came since.

    Args:
        place: the folder or file.
        states: by the names of files, where to go on in them: `EventReader.state` of an earlier reading.
    """

    def __init__(self, place: Path, states: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.place = place
        self._readers: dict[Path, EventReader] = {}
        for name, state in (states or {}).items():
            path = place / name if place.is_dir() else place
            self._readers[path] = EventReader.resumed(path, state)
        self._foreign: dict[Path, int] = {}
        """Files that were no event files, by their size then."""
        self._runs: dict[Path, RunLog] = {}

    def poll(self) -> tuple[RunLog, ...]:
        """Every run found so far, oldest first; runs nothing was added to are the same objects as before."""
        changed = self.refresh()
        folders = self._folders()
        for folder in changed:
            self._runs.pop(folder, None)
        for folder, paths in folders.items():
            if folder not in self._runs:
                self._runs[folder] = self._run(folder, paths)
        return tuple(self._runs[folder] for folder in folders)

    def sources(self) -> list[EventSource]:
        """Every event file as of the last `refresh`: runs oldest first, the files of a run in the order of their names."""
        found = []
        for folder, paths in self._folders().items():
            prefixes = _prefixes(folder, paths)
            run, group = self._names(folder)
            for path in paths:
                found.append(EventSource(self._readers[path], self._name(path), run, group, prefixes[path.parent]))
        return found

    def refresh(self, progress: Callable[[int, int], None] = lambda _done, _files: None) -> set[Path]:
        """Takes in what was written since; returns the folders of runs that changed. `progress` is told of files done, and all."""
        present = self._candidates()
        changed = {_run_folder(path, self.place) for path in self._readers.keys() - present}
        for path in self._readers.keys() - present:
            del self._readers[path]
        for path in present:
            if path not in self._readers:
                self._readers[path] = EventReader(path)
                changed.add(_run_folder(path, self.place))
        room = MAX_FOLLOWED_POINTS - sum(reader.points.count for reader in self._readers.values())
        for done, path in enumerate(sorted(self._readers)):
            progress(done, len(self._readers))
            reader = self._readers[path]
            before = reader.points.count
            reader.limit = min(MAX_POINTS, before + max(room, 0))
            try:
                changed.update([_run_folder(path, self.place)] if reader.poll() else [])
            except FileNotFoundError:
                # Gone since it was listed, as rotated files go.
                del self._readers[path]
                changed.add(_run_folder(path, self.place))
                continue
            room -= reader.points.count - before
        return changed

    def _folders(self) -> dict[Path, list[Path]]:
        """Folders of runs, oldest first, and their files."""
        folders: dict[Path, list[Path]] = {}
        for path in sorted(self._readers, key=lambda one: (one.name, one)):
            folders.setdefault(_run_folder(path, self.place), []).append(path)
        ages = {folder: max(self._readers[path].modified_s for path in paths) for folder, paths in folders.items()}
        return {folder: folders[folder] for folder in sorted(ages, key=lambda one: (ages[one], one))}

    def _candidates(self) -> set[Path]:
        found = set()
        for path in event_files(self.place):
            try:
                size = path.stat().st_size
                unknown = path not in self._readers and self._foreign.get(path) != size
                foreign = unknown and not is_event_file(path)
            except FileNotFoundError:
                continue
            if unknown:
                if foreign:
                    self._foreign[path] = size
                    continue
                self._foreign.pop(path, None)
            if path not in self._foreign:
                found.add(path)
        return found

    def _run(self, folder: Path, paths: list[Path]) -> RunLog:
        prefixes = _prefixes(folder, paths)
        series: dict[str, list[Series]] = {}
        media: dict[str, list[Media]] = {}
        parameters: dict[str, object] = {}
        names = tuple(self._name(path) for path in paths)
        healths = []
        for at, path in enumerate(paths):
            points = self._readers[path].points
            prefix = prefixes[path.parent]
            for tag, one in points.series().items():
                series.setdefault(prefix + tag, []).append(one)
            for medium in points.media(at):
                media.setdefault(prefix + medium.tag, []).append(medium)
            parameters.update(points.parameters)
            healths.append(self._readers[path].health(names[at]))
        joined = {tag: _joined(tag, parts) for tag, parts in series.items()}
        epochs = any(tag.rsplit("/", 1)[-1].startswith("epoch_") for tag in joined)
        run, group = self._names(folder)
        return RunLog(
            run,
            "tensorboard",
            "epoch" if epochs else "step",
            joined,
            {tag: _joined_media(tag, parts) for tag, parts in media.items()},
            parameters,
            _health(healths, joined),
            names,
            group,
        )

    def _names(self, folder: Path) -> tuple[str, str]:
        """Of a run: its name and its group."""
        if folder == self.place:
            return self.place.name, ""
        run = self._name(folder)
        return run, run.rpartition("/")[0]

    def _name(self, path: Path) -> str:
        return path.relative_to(self.place).as_posix() if path != self.place else path.name


def event_files(place: Path) -> list[Path]:
    """Files that by their names are event files; one file that was named is taken as it is."""
    named = place.is_file()
    return [Path(one.path) for one in listing(place).files if named or "tfevents" in one.name]


def _run_folder(path: Path, place: Path) -> Path:
    if path == place:
        return place
    folder = path.parent
    return folder.parent if folder != place and folder.name.lower() in (*TRAIN, *HELD_OUT) else folder


def _prefixes(run: Path, paths: Iterable[Path]) -> Mapping[Path, str]:
    """What goes before the tags of each folder; nothing where no folder holds validation."""
    folders = {path.parent for path in paths}
    held = sorted(
        (folder for folder in folders if folder != run and folder.name.lower() in HELD_OUT),
        key=lambda folder: HELD_OUT.index(folder.name.lower()),
    )
    found = dict.fromkeys(folders, "")
    for folder in folders if held else ():
        if folder != run:
            name = folder.name.lower()
            found[folder] = "train/" if name in TRAIN else "validation/" if folder == held[0] else f"{name}/"
    return found


def _joined(tag: str, parts: list[Series]) -> Series:
    if len(parts) == 1:
        return dataclasses.replace(parts[0], tag=tag)
    return Series(
        tag,
        np.concatenate([one.step for one in parts]),
        np.concatenate([one.wall_time for one in parts]),
        np.concatenate([one.value for one in parts]),
    )


def _joined_media(tag: str, parts: list[Media]) -> Media:
    """Points of one tag; where it was used for media of several kinds, those of the first."""
    kind = parts[0].kind
    alike = [one for one in parts if one.kind == kind]
    columns = (
        np.concatenate([getattr(one, name) for one in alike]) for name in ("step", "wall_time", "file", "start", "size")
    )
    return Media(tag, kind, *columns)


def _health(parts: list[Health], series: Mapping[str, Series]) -> Health:
    return Health(
        sum(one.bad_records for one in parts),
        tuple(place for one in parts for place in one.resynchronised)[:_MAX_NAMED],
        sum(one.truncated_bytes for one in parts),
        restarts_of(series),
        tuple(dict.fromkeys(said for one in parts for said in one.left_out)),
    )


class TensorBoard:
    """Reads files with "tfevents" in their name."""

    id = "tensorboard"
    title = "TensorBoard event files"

    def sniff(self, place: Path) -> bool:
        """Whether an event file is there."""
        return any(is_event_file(path) for path in event_files(place))

    def read(self, place: Path) -> tuple[RunLog, ...]:
        """One run per folder, by the time of its last file."""
        return EventFolder(place).poll()


TRACKER = TensorBoard()
