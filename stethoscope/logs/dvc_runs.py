"""Runs of a DVC repository: what DVCLive logged and what the metric files say, with the data each rests on.

Source: dvc.org/doc/dvclive: `<folder>/plots/metrics/<name>.tsv` with "step" and, when asked for, "timestamp" in
milliseconds; `<folder>/metrics.json` and `params.yaml` beside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from stethoscope.logs.dvc import DataVersion, DvcProject, has_dvc_files, read_project
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
