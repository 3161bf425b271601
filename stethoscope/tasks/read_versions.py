"""Read which data trainings used: versions in a DVC repository, or a plain fingerprint of data files; and what changed."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stethoscope.errors import BadInput, UnreadableFile
from stethoscope.logs.data_fingerprint import DataFingerprint, changes, fingerprint_of
from stethoscope.logs.dvc import DataVersion, DvcProject, has_dvc_files, read_project
from stethoscope.logs.dvc_runs import ChangeKind, compare, data_of, parameters_of, version_of
from stethoscope.logs.walk import log_place
from stethoscope.models.containers.archive import is_archive
from stethoscope.task import TaskContext
from stethoscope.types import ModelFile

MAX_STATES = 200
"""Copies of a repository side by side in one upload."""
MAX_CHANGES = 5_000
_MAX_ITEMS = 2_000
_ARRAYS = (".npy", ".npz")


@dataclass(frozen=True)
class StageState:
    """One step of a pipeline as it last ran. All text is hostile, here and below."""

    name: str
    command: str
    ran: bool
    outdated: str
    """What it used that is another now; empty where it is up to date."""
    sources: tuple[str, ...]
    """The data it rests on: path and the beginning of the hash."""
    outputs: tuple[str, ...]
    """Paths."""


@dataclass(frozen=True)
class RepositoryState:
    """One copy of a DVC repository."""

    name: str
    version: str
    """Eight characters that are the same exactly when the data is; empty where there is none."""
    data: tuple[DataVersion, ...]
    stages: tuple[StageState, ...]
    parameters: Mapping[str, Any]
    """By file and dotted name, "params.yaml:train.lr"."""
    metrics: Mapping[str, float]
    problems: tuple[str, ...]


@dataclass(frozen=True)
class StateChange:
    """One difference between a state and the one before it."""

    kind: ChangeKind
    what: str
    """A path, a stage's name, or a value's file and name."""
    text: str
    """The change in one sentence."""
    before: Any
    """The version (for data, code and output as of a `DataVersion`), command or value; None where there was none."""
    after: Any
    to: int
    """Place of the later state; the earlier one is before it."""


@dataclass(frozen=True)
class NamedFingerprint(DataFingerprint):
    """The fingerprint of data without versions."""

    name: str


@dataclass(frozen=True)
class DataVersions:
    """Either states of a repository or fingerprints of data, and what changed between them."""

    changes: tuple[StateChange | str, ...]
    """Of data each as a sentence only."""
    states: tuple[RepositoryState, ...] = ()
    """Oldest first where "before" was given, else by name."""
    fingerprints: tuple[NamedFingerprint, ...] = ()
    left_out: int = 0
    """Changes that were too many."""


class ReadVersions:
    """Files: "after", a repository (folder, archive, dvc.yaml, dvc.lock or .dvc) or data; optionally "before", its older state."""

    kind = "read_versions"
    answer = DataVersions

    def run(self, context: TaskContext) -> DataVersions:
        """Reads the states or the data, oldest first, and compares each with the one before it.

        Raises:
            UnreadableFile: neither is there, or a file is damaged.
            BadInput: one is a repository and the other is data.
            TooLarge, UnsafeFile: see `fingerprint_of`.
        """
        places = [(role, context.files[role]) for role in ("before", "after") if role in context.files]
        states: list[DvcProject] = []
        data: list[tuple[str, DataFingerprint]] = []
        for done, (role, file) in enumerate(places):
            context.report("read", done / len(places), f"reading {file.name}")
            place = _place(file, context.folder / role)
            folders = list(_repositories(place))
            if folders:
                # Copies side by side go by their folders, a lone repository by the name of what was sent.
                names = [f"{file.name}: {folder.name}" if len(folders) > 1 else file.name for folder in folders]
                states.extend(
                    dataclasses.replace(read_project(folder), name=name)
                    for folder, name in zip(folders, names, strict=True)
                )
            else:
                data.append((file.name, fingerprint_of(place)))
        if states and data:
            raise BadInput(
                f"{data[0][0]}: expected a DVC repository beside another, got a file without versions. Send two of one kind."
            )
        if data:
            changed = changes(data[0][1], data[1][1])[:MAX_CHANGES] if len(data) == 2 else ()
            named = [NamedFingerprint(found.sha256, found.parts[:_MAX_ITEMS], name) for name, found in data]
            return DataVersions(changed, fingerprints=tuple(named))
        return _versions(states, in_order="before" in context.files)


def _place(file: ModelFile, folder: Path) -> Path:
    """Where the content lies: unpacked if it is an archive, else under a name that says its kind."""
    folder.mkdir()
    if file.path.is_dir():
        return file.path
    if file.suffix not in _ARRAYS and is_archive(file.path):
        return log_place(file, folder)
    name = re.sub(r"[^\w.\-]+", "_", Path(file.name).name)[-100:].lstrip(".")
    named = folder / (name or "data")
    named.symlink_to(file.path.resolve())
    return named


def _repositories(place: Path) -> Iterator[Path]:
    """The repository, or the folders of several copies side by side. An upload of one folder has that folder within it."""
    if place.is_file():
        # The link to it is ours, and readers follow none.
        if place.suffix in (".dvc", ".lock") or place.name in ("dvc.yaml", "dvc.yml"):
            yield _copied(place)
        return
    for _ in range(4):
        own = any(path.name in ("dvc.yaml", "dvc.lock", ".dvc") or path.suffix == ".dvc" for path in place.iterdir())
        below = sorted(path for path in place.iterdir() if path.is_dir() and not path.is_symlink())
        if own:
            break
        holding = [path for path in below if has_dvc_files(path)]
        if len(holding) != 1:
            yield from holding[:MAX_STATES]
            return
        place = holding[0]
    if has_dvc_files(place):
        yield place


def _copied(link: Path) -> Path:
    content = link.read_bytes()
    link.unlink()
    link.write_bytes(content)
    return link


def _versions(states: list[DvcProject], *, in_order: bool) -> DataVersions:
    if not states:
        raise UnreadableFile(
            "Versions: expected a DVC repository or data, got neither. Send dvc.yaml and dvc.lock with it."
        )
    ordered = states if in_order else sorted(states, key=lambda state: state.name)
    found = [
        StateChange(change.kind, change.what, change.text, change.before, change.after, to)
        for to, (before, after) in enumerate(itertools.pairwise(ordered), 1)
        for change in compare(before, after)
    ]
    left_out = max(0, len(found) - MAX_CHANGES)
    return DataVersions(tuple(found[:MAX_CHANGES]), tuple(_state(state) for state in ordered), left_out=left_out)


def _state(project: DvcProject) -> RepositoryState:
    data, outdated = data_of(project), project.outdated()
    stages = [
        StageState(
            stage.name,
            stage.command,
            stage.ran,
            outdated.get(stage.name, ""),
            tuple(f"{used.path} {used.hash[:8]}".strip() for used in project.sources(stage)[:_MAX_ITEMS]),
            tuple(made.path for made in stage.outputs[:_MAX_ITEMS]),
        )
        for stage in project.stages[:_MAX_ITEMS]
    ]
    return RepositoryState(
        project.name,
        version_of(data),
        data[:_MAX_ITEMS],
        tuple(stages),
        dict(itertools.islice(parameters_of(project).items(), _MAX_ITEMS)),
        dict(itertools.islice(project.metrics.items(), _MAX_ITEMS)),
        project.problems[:_MAX_ITEMS],
    )


TASK = ReadVersions()
