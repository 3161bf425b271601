"""Read which data trainings used: versions in a DVC repository, or a plain fingerprint of data files; and what changed."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stethoscope.codec import plain
from stethoscope.containers.archive import is_archive
from stethoscope.errors import BadInput, UnreadableFile
from stethoscope.logs.data_fingerprint import DataFingerprint, changes, fingerprint_of
from stethoscope.logs.dvc import DataVersion, DvcProject, Stage, has_dvc_files, read_project
from stethoscope.logs.dvc_versions import Change, by_data_version, compare
from stethoscope.task import TaskContext
from stethoscope.tasks.log_place import log_place
from stethoscope.types import ModelFile

MAX_STATES = 200
"""Copies of a repository side by side in one upload."""
MAX_CHANGES = 5_000
_MAX_ITEMS = 2_000
_ARRAYS = (".npy", ".npz")


class ReadVersions:
    """Files: "after", a repository (folder, archive, dvc.yaml, dvc.lock or .dvc) or data; optionally "before", its older state."""

    kind = "read_versions"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns {"states", "changes"} of repositories, or {"fingerprints", "changes"} of data.

        states: per copy of the repository {"name", "version", "data", "stages", "parameters", "metrics", "problems"}, oldest
        first where "before" was given, else by name. fingerprints: {"name", "sha256", "parts"}. changes: {"kind", "what",
        "text", "from", "to"} with the places of the two states; of data each as a sentence only.

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
            return {
                "fingerprints": [_fingerprint(name, one) for name, one in data],
                "changes": list(changes(data[0][1], data[1][1]))[:MAX_CHANGES] if len(data) == 2 else [],
            }
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


def _versions(states: list[DvcProject], *, in_order: bool) -> Mapping[str, Any]:
    if not states:
        raise UnreadableFile(
            "Versions: expected a DVC repository or data, got neither. Send dvc.yaml and dvc.lock with it."
        )
    ordered = states if in_order else sorted(states, key=lambda one: one.name)
    found = []
    for earlier, (before, after) in enumerate(itertools.pairwise(ordered)):
        found += [_change(one, earlier) for one in compare(before, after)]
    return {
        "states": [_state(one) for one in ordered],
        "changes": found[:MAX_CHANGES],
        "left_out": max(0, len(found) - MAX_CHANGES),
    }


def _state(project: DvcProject) -> dict[str, Any]:
    (row,) = by_data_version([project])
    outdated = project.outdated()
    value: dict[str, Any] = plain(
        {
            "name": project.name,
            "version": row.version,
            "data": [dataclasses.asdict(one) for one in row.data[:_MAX_ITEMS]],
            "stages": [_stage(one, project, outdated.get(one.name, "")) for one in project.stages[:_MAX_ITEMS]],
            "parameters": _first(row.parameters),
            "metrics": _first(row.metrics),
            "problems": list(project.problems[:_MAX_ITEMS]),
        }
    )
    return value


def _stage(stage: Stage, project: DvcProject, outdated: str) -> dict[str, Any]:
    return {
        "name": stage.name,
        "command": stage.command,
        "ran": stage.ran,
        "outdated": outdated,
        "sources": [f"{one.path} {one.hash[:8]}".strip() for one in project.sources(stage)[:_MAX_ITEMS]],
        "outputs": [one.path for one in stage.outputs[:_MAX_ITEMS]],
    }


def _first(values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(list(values.items())[:_MAX_ITEMS])


def _change(change: Change, earlier: int) -> dict[str, Any]:
    def shown(value: Any) -> Any:
        return dataclasses.asdict(value) if isinstance(value, DataVersion) else value

    value: dict[str, Any] = plain(
        {
            "kind": change.kind,
            "what": change.what,
            "text": change.text,
            "before": shown(change.before),
            "after": shown(change.after),
            "from": earlier,
            "to": earlier + 1,
        }
    )
    return value


def _fingerprint(name: str, found: DataFingerprint) -> dict[str, Any]:
    value: dict[str, Any] = plain(
        {
            "name": name,
            "sha256": found.sha256,
            "parts": [dataclasses.asdict(part) for part in found.parts[:_MAX_ITEMS]],
        }
    )
    return value


TASK = ReadVersions()
