"""MLflow's file store: `mlruns/<experiment>/<run>/metrics/<name>`, one line `time value step` per point.

Source: mlflow/store/tracking/file_store.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from io import FileIO
from pathlib import Path

from stethoscope.logs.dvc_values import read_yaml
from stethoscope.logs.mlflow_run import (
    MAX_RUNS,
    MAX_TAGS,
    MAX_TEXT,
    MAX_TOTAL_POINTS,
    STATUS,
    MlflowRun,
    Points,
    as_logs,
    dataset_text,
)
from stethoscope.logs.series import MAX_POINTS, MAX_TEXT_BYTES, RunLog

_META = "meta.yaml"
_MAX_DEPTH = 4
_PLAIN = re.compile(rb"(?:\d{1,16} [0-9a-z.+-]{1,30} -?\d{1,18}\n)*")
"""Lines as MLflow writes nearly all of them, which need not be looked at one by one."""
_MAX_LOOKED_AT = 50_000
_MAX_META_BYTES = 64 << 10
_BLOCK_BYTES = 256 << 10
_FLAT = re.compile(r"(?:\w+: (?:'[\w.]*'|\[\]|[\w./](?:[\w./:@+-]*[\w./])?)\n)+", re.ASCII)
"""A meta.yaml as MLflow writes nearly all of them: a name and a plain text in each line, which needs no YAML parser."""


class MlflowFiles:
    """Reads a folder `mlruns`, an experiment's or a run's folder, or a folder that holds one."""

    id = "mlflow-files"
    title = "MLflow runs (file store)"

    def sniff(self, place: Path) -> bool:
        """Whether a run's folder is there."""
        return next(_runs(place), None) is not None

    def read(self, place: Path) -> tuple[RunLog, ...]:
        """Every run that was not deleted, oldest first."""
        experiments: dict[Path, str | None] = {}
        found: list[MlflowRun] = []
        left = MAX_TOTAL_POINTS
        for folder in _runs(place):
            if folder.parent not in experiments:
                experiments[folder.parent] = _experiment(folder.parent)
            experiment = experiments[folder.parent]
            if experiment is None:
                continue
            try:
                run = _read(folder, place, experiment, left)
            except OSError as error:
                run = MlflowRun(folder.name, experiment, left_out=[f"it cannot be read ({error.strerror})"])
            if run is None:
                continue
            left -= sum(len(points.step) for points in run.metrics.values())
            found.append(run)
            if len(found) >= MAX_RUNS:
                run.left_out.append(f"only the first {MAX_RUNS:,} runs were read")
                break
        return as_logs(found, self.id)


def _runs(place: Path) -> Iterator[Path]:
    """Folders of runs, sorted by path."""
    waiting, looked_at = [(place, 0)], 0
    while waiting and looked_at < _MAX_LOOKED_AT:
        folder, depth = waiting.pop()
        looked_at += 1
        try:
            below = sorted(one.name for one in os.scandir(folder) if one.is_dir(follow_symlinks=False))
        except OSError:
            continue
        if "metrics" in below and "params" in below and (folder / _META).is_file():
            yield folder
        elif depth < _MAX_DEPTH:
            waiting.extend((folder / name, depth + 1) for name in reversed(below) if not name.startswith("."))


def _experiment(folder: Path) -> str | None:
    """Its name; the folder's name when it says none; None when it was deleted."""
    meta = _meta(folder) or {}
    return None if meta.get("lifecycle_stage") == "deleted" else str(meta.get("name") or folder.name)


def _meta(folder: Path) -> Mapping[str, object] | None:
    """What meta.yaml says, every value as text; None when it is damaged."""
    path = folder / _META
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as stream:
            text = stream.read(_MAX_META_BYTES).decode()
    except (OSError, ValueError):
        return read_yaml(path, texts=True)
    if not _FLAT.fullmatch(text):
        return read_yaml(path, texts=True)
    lines = (line.partition(": ") for line in text.splitlines())
    return {name: [] if value == "[]" else value.strip("'") for name, _, value in lines}


def _read(folder: Path, place: Path, experiment: str, left: int) -> MlflowRun | None:
    meta = _meta(folder)
    run = MlflowRun(folder.name, experiment)
    if meta is None:
        run.left_out.append("meta.yaml is damaged: name, status and times are unknown")
        meta = {}
    if meta.get("lifecycle_stage") == "deleted":
        return None
    run.name = _said(meta.get("run_name"))
    run.user = _said(meta.get("user_id"))
    run.status = STATUS.get(_said(meta.get("status")), _said(meta.get("status")))
    run.start_ms, run.end_ms = _milliseconds(meta.get("start_time")), _milliseconds(meta.get("end_time"))
    run.parameters, run.tags = _texts(f"{folder}/params"), _texts(f"{folder}/tags")
    run.datasets = list(_datasets(folder))
    files, within = [], (folder / "metrics").relative_to(place).as_posix()
    for name, path in _named_files(f"{folder}/metrics"):
        points = _points(path, run, left)
        left -= len(points.step)
        run.metrics[name] = points
        files.append(f"{within}/{name}")
    run.files = tuple(files)
    return run


def _named_files(folder: str) -> Iterator[tuple[str, str]]:
    """(name, path) of files, by the name MLflow knows them by: "train/loss" is a file in a folder."""
    waiting, count = [] if Path(folder).is_symlink() else [(folder, "")], 0
    while waiting:
        here, prefix = waiting.pop()
        try:
            with os.scandir(here) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        below = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        waiting.extend((entry.path, f"{prefix}{entry.name}/") for entry in reversed(below))
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                count += 1
                if count > MAX_TAGS:
                    return
                yield f"{prefix}{entry.name}", entry.path


def _content(path: str, most: int) -> bytes:
    """The first `most` bytes."""
    with FileIO(path) as stream:
        parts: list[bytes] = []
        while most > 0 and (part := stream.read(min(most, _BLOCK_BYTES))):
            parts.append(part)
            most -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _points(path: str, run: MlflowRun, left: int) -> Points:
    """Every whole line's point. A line without its end is still being written, so it may be half a number."""
    points = Points()
    content = _content(path, MAX_TEXT_BYTES + 1)
    if len(content) > MAX_TEXT_BYTES:
        run.left_out.append(f"only the first {MAX_TEXT_BYTES >> 20} MB of {Path(path).name} were read")
        content = content[: content.rfind(b"\n", 0, MAX_TEXT_BYTES) + 1]
    whole = content.rfind(b"\n") + 1
    run.truncated_bytes += len(content) - whole
    if len(content) == whole and _PLAIN.fullmatch(content) and content.count(b"\n") <= min(MAX_POINTS, left):
        words = content.split()
        try:
            points.extend(map(int, words[2::3]), map(int, words[::3]), map(float, words[1::3]))
        except ValueError:
            points = Points()
        else:
            return points
    for line in content[:whole].split(b"\n"):
        parts = line.split()
        if not parts:
            continue
        if len(points.step) >= min(MAX_POINTS, left):
            run.left_out.append(f"only the first {len(points.step):,} points of {Path(path).name} were read")
            break
        try:
            if len(parts) not in (2, 3, 5):
                raise ValueError(line)
            points.add(int(parts[2]) if len(parts) > 2 else 0, int(parts[0]), float(parts[1]))
        except (ValueError, OverflowError):
            run.bad_records += 1
    return points


def _texts(folder: str) -> dict[str, str]:
    return {
        name: _content(path, MAX_TEXT * 4).decode("utf-8", "replace")[:MAX_TEXT] for name, path in _named_files(folder)
    }


def _datasets(folder: Path) -> Iterator[str]:
    for _, path in _named_files(f"{folder}/inputs"):
        link = read_yaml(Path(path), texts=True) or {}
        source = _said(link.get("source_id"))
        if link.get("source_type") != "DATASET" or not source.isalnum():
            continue
        data = read_yaml(folder.parent / "datasets" / source / _META, texts=True) or {}
        tags = link.get("tags")
        context = _said(tags.get("mlflow.data.context")) if isinstance(tags, dict) else ""
        yield dataset_text(_said(data.get("name")) or source, _said(data.get("digest")), context)


def _said(value: object) -> str:
    return value if isinstance(value, str) and value not in ("null", "~", "''") else ""


def _milliseconds(value: object) -> float:
    text = _said(value)
    return float(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0.0


TRACKER = MlflowFiles()
