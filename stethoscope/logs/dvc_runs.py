"""Runs of a DVC repository: what DVCLive logged and what the metric files say, with the data each rests on.

Source: dvc.org/doc/dvclive: `<folder>/plots/metrics/<name>.tsv` with "step" and, when asked for, "timestamp" in
milliseconds; `<folder>/metrics.json` and `params.yaml` beside.

What changed between two states of a DVC repository, and the version of its data in a few characters.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from stethoscope.logs.dvc import DataVersion, DvcProject, Stage, differ, has_dvc_files, read_project
from stethoscope.logs.dvc_values import flatten, numbers, read_values
from stethoscope.logs.series import MAX_POINTS, MAX_TEXT_BYTES, Health, RunLog, Series, modified
from stethoscope.logs.walk import files_in, listing

_CURVES = ("plots/metrics", "plots/scalars")


class DvcRuns:
    """Reads a folder with dvc.yaml, dvc.lock or .dvc files, or one that DVCLive wrote to."""

    id = "dvc"
    title = "DVC and DVCLive"

    def sniff(self, place: Path) -> bool:
        """Whether such files are there."""
        return place.is_dir() and (next(_live_folders(place), None) is not None or has_dvc_files(place))

    def read(self, place: Path) -> tuple[RunLog, ...]:
        """A run per folder of DVCLive, oldest first; of a repository without any, one run of its metric files."""
        project = read_project(place)
        folders = sorted(_live_folders(place), key=modified)
        runs = [_live_run(folder, place, project) for folder in folders]
        if not runs and (project.metrics or project.stages):
            series = {name: _single(name, value) for name, value in project.metrics.items()}
            runs = [_run(project.name, "step", series, project.parameters, project, Health(), ())]
        return tuple(runs)


def _live_folders(place: Path) -> Iterator[Path]:
    found: dict[Path, None] = {}
    for one in listing(place).files:
        if one.path.endswith(".tsv"):
            below = Path(one.path).relative_to(place).parts[:-1]
            # A curve may lie in folders of its own below those: "plots/metrics/train/loss.tsv".
            starts = (at for at, pair in enumerate(pairwise(below)) if "/".join(pair) in _CURVES)
            found |= {place.joinpath(*below[:at]): None for at in starts}
    yield from found


def _live_run(folder: Path, place: Path, project: DvcProject) -> RunLog:
    series: dict[str, Series] = {}
    files, bad, cut, left_out = [], 0, 0, list[str]()
    for curves in _CURVES:
        for path in files_in(folder / curves):
            if path.suffix != ".tsv":
                continue
            name = path.relative_to(folder / curves).with_suffix("").as_posix()
            try:
                found, damaged, unfinished = _curve(name, path)
            except OSError as error:
                left_out.append(f"{name} cannot be read ({error.strerror})")
                continue
            bad, cut = bad + damaged, cut + unfinished
            if found is not None:
                series[name] = found
                files.append(path.relative_to(place).as_posix())
    last = read_values(folder / "metrics.json") or {}
    step = last.pop("step", 0)
    for name, value in numbers(last).items():
        tag = name.replace(".", "/") if name.replace(".", "/") in series else name
        if tag not in series:
            series[name] = _single(name, value, step if type(step) is int and abs(step) < 1 << 62 else 0)
    parameters = flatten(read_values(folder / "params.yaml") or {}) or dict(project.parameters)
    where = folder.relative_to(place).as_posix() if folder != place else place.name
    unit = "epoch" if any("epoch" in name.lower() for name in series) else "step"
    health = Health(bad_records=bad, truncated_bytes=cut, left_out=tuple(left_out))
    return _run(where, unit, series, parameters, project, health, tuple(files))


def _run(
    name: str,
    unit: str,
    series: dict[str, Series],
    parameters: Any,
    project: DvcProject,
    health: Health,
    files: tuple[str, ...],
) -> RunLog:
    data: dict[str, DataVersion] = {one.path: one for one in project.data}
    for stage in project.stages:
        data |= {one.path: one for one in project.sources(stage)}
    outdated = "; ".join(f"{stage}: {why}" for stage, why in project.outdated().items())
    notes = {f"data {path}": f"{one.algorithm} {one.hash}" for path, one in sorted(data.items()) if one.hash}
    return RunLog(
        run=name,
        tracker=DvcRuns.id,
        unit=unit,
        series=series,
        parameters={key: _plain(value) for key, value in parameters.items()},
        health=replace(health, left_out=(*health.left_out, *project.problems)),
        files=files,
        group=project.name,
        notes={**notes, "outdated": outdated} if outdated else notes,
    )


def _curve(name: str, path: Path) -> tuple[Series | None, int, int]:
    """(points, damaged rows, bytes of a last row that is still being written)."""
    with path.open("rb") as stream:
        content = stream.read(MAX_TEXT_BYTES)
    whole = content.rfind(b"\n") + 1
    lines = content[:whole].decode("utf-8", "replace").splitlines()
    header = [cell.strip() for cell in lines[0].split("\t")] if lines else []
    values = [at for at, cell in enumerate(header) if cell not in ("step", "timestamp")]
    if "step" not in header or len(values) != 1:
        return None, 0, 0
    at_step, at_value = header.index("step"), values[0]
    at_time = header.index("timestamp") if "timestamp" in header else None
    points, bad = [], 0
    for line in lines[1 : MAX_POINTS + 1]:
        cells = line.split("\t")
        try:
            if len(cells) != len(header):
                raise ValueError(line)
            time = math.nan if at_time is None else float(cells[at_time]) / 1000
            points.append((np.int64(int(cells[at_step])), time, float(cells[at_value])))
        except (ValueError, OverflowError):
            bad += 1
    steps, times, numbers_ = zip(*points, strict=True) if points else ((), (), ())
    series = Series(name, np.array(steps, np.int64), np.array(times, np.float64), np.array(numbers_, np.float64))
    return series, bad, len(content) - whole


def _single(name: str, value: float, step: int = 0) -> Series:
    """A value without a curve: one point."""
    return Series(name, np.array([step], np.int64), np.array([math.nan]), np.array([value], np.float64))


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, float, str, bool)) else "" if value is None else str(value)


TRACKER = DvcRuns()


ChangeKind = Literal["data", "code", "output", "stage", "parameter", "metric"]
"""No stage makes "data"; a stage makes "output"."""
_VERSIONED: tuple[ChangeKind, ...] = ("data", "code", "output")


@dataclass(frozen=True)
class Change:
    """One difference between two states."""

    kind: ChangeKind
    what: str
    """A path, a stage's name, or a value's file and name."""
    before: Any
    """The version (for data, code and output a `DataVersion`), command or value; None where there was none."""
    after: Any

    @property
    def text(self) -> str:
        """The change in one sentence."""
        if self.before is None or self.after is None:
            state = "was added" if self.before is None else "is gone"
            return f"{self.kind.capitalize()} {self.what} {state}."
        if isinstance(self.before, DataVersion) and isinstance(self.after, DataVersion):
            return f"{self.kind.capitalize()} {self.what}: {_version(self.before)} → {_version(self.after)}."
        difference = ""
        if self.kind == "metric":
            difference = f" ({self.after - self.before:+.4g})"
        return f"{self.kind.capitalize()} {self.what}: {self.before} → {self.after}{difference}."


def compare(before: DvcProject, after: DvcProject) -> tuple[Change, ...]:
    """Every difference: data first, then code, outputs, stages, parameters and metrics, each by name.

    Versions hashed in different ways (DVC before and after 3.0) cannot be compared and are no change.
    """
    found: list[Change] = []
    for kind in _VERSIONED:
        found.extend(_data_changes(kind, _versions(before, kind), _versions(after, kind)))
    found.extend(_stage_changes(before.stages, after.stages))
    found.extend(_value_changes("parameter", parameters_of(before), parameters_of(after)))
    found.extend(_value_changes("metric", before.metrics, after.metrics))
    return tuple(found)


def data_of(project: DvcProject) -> tuple[DataVersion, ...]:
    """The data that results rest on, by path."""
    return tuple(_versions(project, "data").values())


def version_of(data: Sequence[DataVersion]) -> str:
    """Eight characters that are the same exactly when the data is; empty where there is none."""
    content = "\n".join(f"{one.path}\t{one.algorithm}\t{one.hash}" for one in data)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8] if data else ""


def _versions(project: DvcProject, kind: ChangeKind) -> dict[str, DataVersion]:
    """Versions of one kind by path. What a stage read is what its results rest on, whatever a .dvc file says now."""
    made = {one.path: one for stage in project.stages for one in stage.outputs}
    used = {one.path: one for stage in project.stages for one in stage.dependencies if one.path not in made}
    if kind == "output":
        found = made
    elif kind == "code":
        found = {path: one for path, one in used.items() if one.is_code}
    else:
        found = {one.path: one for one in project.data if one.path not in made}
        found |= {path: one for path, one in used.items() if not one.is_code}
    return dict(sorted(found.items()))


def _data_changes(
    kind: ChangeKind, before: Mapping[str, DataVersion], after: Mapping[str, DataVersion]
) -> Iterator[Change]:
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old is None or new is None or differ(old, new):
            yield Change(kind, path, old, new)


def _stage_changes(before: Sequence[Stage], after: Sequence[Stage]) -> Iterator[Change]:
    old = {stage.name: stage.command for stage in before}
    new = {stage.name: stage.command for stage in after}
    yield from _value_changes("stage", old, new)


def _value_changes(kind: ChangeKind, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        # 1, 1.0 and True are one value to Python; NaN is none to itself.
        if repr(old) != repr(new) and not (old == new and isinstance(old, bool) == isinstance(new, bool)):
            yield Change(kind, name, old, new)


def parameters_of(project: DvcProject) -> dict[str, Any]:
    """Those the stages ran with; of a repository without stages, the files' own."""
    used: dict[str, Any] = {}
    for stage in project.stages:
        used |= stage.parameters
    return used or dict(project.parameters)


def _version(one: DataVersion) -> str:
    parts = [one.hash[:8] or "no hash"]
    if one.files is not None:
        parts.append(f"{one.files:,} files")
    if one.size_bytes is not None:
        parts.append(f"{one.size_bytes:,} bytes")
    return parts[0] + (f" ({', '.join(parts[1:])})" if parts[1:] else "")
