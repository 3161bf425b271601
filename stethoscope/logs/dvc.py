"""A DVC repository as it lies: which data each stage used by its hash, with which parameters and metrics. DVC is not needed.

Source: dvc.org/doc/user-guide/project-structure (dvc.yaml, dvc.lock, .dvc files), iterative/dvc `dvc/schema.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

from stethoscope.logs.dvc_values import flatten, metrics_of, parameters_of, read_yaml
from stethoscope.logs.walk import MAX_FILES, listing

_MAX_ITEMS = 20_000
_CODE = (".py", ".ipynb", ".sh", ".r", ".jl", ".js", ".ts", ".c", ".cc", ".cpp", ".h", ".java", ".go", ".rs", ".sql")
_HASHES = ("md5", "etag", "checksum", "sha256")


@dataclass(frozen=True)
class DataVersion:
    """A file or folder in the version that was used or made."""

    path: str
    """Below the repository."""
    hash: str
    """Of the content, as DVC keeps it; a folder's ends in ".dir". Empty when DVC has none yet."""
    algorithm: str = "md5"
    """"md5" of the bytes, "md5-dos2unix" (DVC before 3: of text with its line ends made alike), "etag" or "checksum"."""
    size_bytes: int | None = None
    files: int | None = None
    """In a folder."""

    @property
    def is_code(self) -> bool:
        """Whether it is a program rather than data, by its suffix."""
        return PurePosixPath(self.path).suffix.lower() in _CODE


@dataclass(frozen=True)
class Stage:
    """One step of a pipeline as it last ran."""

    name: str
    """With its folder before it, as DVC writes it, where the pipeline is not in the repository's root."""
    command: str = ""
    dependencies: tuple[DataVersion, ...] = ()
    outputs: tuple[DataVersion, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """By file and dotted name, "params.yaml:train.lr"."""
    ran: bool = True
    """False: in dvc.yaml, but dvc.lock says nothing of it."""


@dataclass(frozen=True)
class DvcProject:
    """What the files of a repository say."""

    name: str
    data: tuple[DataVersion, ...] = ()
    """Of .dvc files: data that was added or imported."""
    stages: tuple[Stage, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Of the parameter files as they are now, "params.yaml:train.lr"."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Of the metric files as they are now, "metrics.json:accuracy"."""
    problems: tuple[str, ...] = ()

    def sources(self, stage: Stage) -> tuple[DataVersion, ...]:
        """The data a stage rests on: what it and the stages before it read and no stage makes, by path."""
        found: dict[str, DataVersion] = {}
        waiting, seen = [stage], {stage.name}
        while waiting:
            for used in waiting.pop().dependencies:
                makers = [one for one in self.stages if any(_overlap(made.path, used.path) for made in one.outputs)]
                if not makers and not used.is_code:
                    found[used.path] = used
                for maker in makers:
                    if maker.name not in seen:
                        seen.add(maker.name)
                        waiting.append(maker)
        return tuple(found[path] for path in sorted(found))

    def outdated(self) -> dict[str, str]:
        """Stages whose last run used another version or parameter than there is now, each with what differs."""
        now = {one.path: one for one in self.data}
        now |= {made.path: made for stage in self.stages for made in stage.outputs if made.hash}
        found = {}
        for stage in self.stages:
            if not stage.ran:
                found[stage.name] = "it never ran"
                continue
            for used in stage.dependencies:
                current = now.get(used.path)
                if current and differ(used, current):
                    found[stage.name] = f"it used {used.path} as {used.hash[:8]}, which is {current.hash[:8]} now"
                    break
            for name, value in stage.parameters.items():
                if name in self.parameters and repr(self.parameters[name]) != repr(value):
                    said = f"it ran with {name} = {value}, which is {self.parameters[name]} now"
                    found.setdefault(stage.name, said)
        return found


def differ(one: DataVersion, other: DataVersion) -> bool:
    """Whether two versions have other content; False too where that cannot be told from their hashes."""
    return bool(one.hash and other.hash) and one.algorithm == other.algorithm and one.hash != other.hash


def read_project(place: Path) -> DvcProject:
    """Reads a repository's folder, or a single dvc.yaml, dvc.lock or .dvc file. Nothing outside the folder is opened."""
    root = place if place.is_dir() else place.parent
    files = list(_dvc_files(place))
    problems = [] if listing(place).complete else [f"only the first {MAX_FILES:,} files were looked at"]
    data: list[DataVersion] = []
    locked: dict[str, Stage] = {}
    pipelines: dict[str, Mapping[str, Any]] = {}
    for path in files:
        content = read_yaml(path)
        folder = _folder(path, root)
        if content is None:
            problems.append(f"{_below(folder, path.name)} is damaged or too large")
        elif path.suffix == ".dvc":
            data.extend(_versions(content.get("outs"), _below(folder, _text(content.get("wdir")))))
        elif path.suffix == ".lock":
            locked |= _locked(content, folder)
        else:
            pipelines[folder] = content
    stages = dict(locked)
    for folder, pipeline in pipelines.items():
        for name, command in _declared(pipeline):
            full = f"{folder}/dvc.yaml:{name}" if folder else name
            if full not in stages and not any(known.startswith(f"{full}@") for known in stages):
                stages[full] = Stage(full, command, ran=False)
    parameters, metrics = parameters_of(root, pipelines, problems), metrics_of(root, pipelines, problems)
    return DvcProject(
        name=place.name,
        data=tuple(sorted(data, key=lambda one: one.path)[:_MAX_ITEMS]),
        stages=tuple(list(stages.values())[:_MAX_ITEMS]),
        parameters=parameters,
        metrics=metrics,
        problems=tuple(problems),
    )


def has_dvc_files(place: Path) -> bool:
    """Whether there is anything for `read_project`."""
    return next(_dvc_files(place), None) is not None


def _dvc_files(place: Path) -> Iterator[Path]:
    if place.is_file():
        if place.suffix in (".dvc", ".lock") or place.name in ("dvc.yaml", "dvc.yml"):
            yield place
        return
    for one in listing(place).files:
        name = one.name
        if name in ("dvc.yaml", "dvc.lock") or (name.endswith(".dvc") and len(name) > 4):
            yield Path(one.path)


def _locked(content: Mapping[str, Any], folder: str) -> dict[str, Stage]:
    """Stages of a dvc.lock; before its schema 2.0 they were not under "stages"."""
    inner = content.get("stages") if "schema" in content or "stages" in content else content
    found = {}
    for name, stage in _mapping(inner).items():
        if not isinstance(stage, Mapping):
            continue
        full = f"{folder}/dvc.yaml:{name}" if folder else str(name)
        parameters = {
            f"{file}:{key}": value
            for file, values in _mapping(stage.get("params")).items()
            for key, value in flatten(values).items()
        }
        found[full] = Stage(
            full,
            _command(stage.get("cmd")),
            tuple(_versions(stage.get("deps"), folder)),
            tuple(_versions(stage.get("outs"), folder)),
            parameters,
        )
    return found


def _declared(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, stage in _mapping(content.get("stages")).items():
        body = _mapping(stage)
        yield str(name), _command(_mapping(body.get("do", body)).get("cmd"))


def _versions(items: Any, folder: str) -> Iterator[DataVersion]:
    """Entries of "deps" and "outs" with their paths made relative to the repository."""
    for item in items[:_MAX_ITEMS] if isinstance(items, list) else ():
        entry = _mapping(item)
        path = _text(entry.get("path"))
        if not path:
            continue
        name = next((name for name in _HASHES if _text(entry.get(name))), "")
        algorithm = "md5-dos2unix" if name == "md5" and entry.get("hash") != "md5" else name
        size, files = entry.get("size"), entry.get("nfiles")
        yield DataVersion(
            path if "://" in path else _below(folder, path),
            _text(entry.get(name)) if name else "",
            algorithm or "md5",
            size if type(size) is int and size >= 0 else None,
            files if type(files) is int and files >= 0 else None,
        )


def _overlap(one: str, other: str) -> bool:
    """Whether two paths are the same or one lies in the other."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _folder(path: Path, root: Path) -> str:
    folder = path.parent.relative_to(root).as_posix()
    return "" if folder == "." else folder


def _below(folder: str, path: str) -> str:
    joined = normpath(f"{folder}/{path}" if folder and not path.startswith("/") else path or folder or ".")
    return "" if joined == "." else joined


def _command(value: Any) -> str:
    lines = value if isinstance(value, list) else [value]
    return "\n".join(line for line in lines if isinstance(line, str))


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    """Hashes that look like numbers ("12345678…" or "1e5…") are texts all the same."""
    return "" if value is None or isinstance(value, (Mapping, list, bool)) else str(value)
