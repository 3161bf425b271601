"""TensorBoard event files, as Keras' TensorBoard callback and tf.summary write them.

A run is a folder with event files; Keras writes two folders, "train" and "validation", which are read as one run.
"""

from __future__ import annotations

from pathlib import Path

from stethoscope.evidence.curves import CurveEvidence
from stethoscope.logs.event_file import EventLog, is_event_file, read_events
from stethoscope.logs.named_columns import Column, as_curve, latest_attempt
from stethoscope.logs.tracker import files_in, modified

_TRAIN = ("train", "training")
_HELD_OUT = ("validation", "val", "valid", "eval", "test")


class TensorBoard:
    """Reads files with "tfevents" in their name."""

    id = "tensorboard"
    title = "TensorBoard event files"

    def sniff(self, place: Path) -> bool:
        """Whether an event file is there."""
        return any(is_event_file(path) for path in _candidates(place))

    def read(self, place: Path) -> tuple[CurveEvidence, ...]:
        """One run per folder, by the time of its last file."""
        folders: dict[Path, list[Path]] = {}
        for path in _candidates(place):
            folders.setdefault(_run_folder(path, place), []).append(path)
        found = []
        for folder, paths in sorted(folders.items(), key=lambda item: max(map(modified, item[1]))):
            curve = _read(_name(folder, place), paths)
            if curve is not None:
                found.append(curve)
        return tuple(found)


def _candidates(place: Path) -> list[Path]:
    return [path for path in files_in(place) if "tfevents" in path.name or place.is_file()]


def _run_folder(path: Path, place: Path) -> Path:
    folder = path.parent
    return folder.parent if folder != place and folder.name.lower() in (*_TRAIN, *_HELD_OUT) else folder


def _name(folder: Path, place: Path) -> str:
    return str(folder.relative_to(place)) if folder != place and folder.is_relative_to(place) else place.name


def _read(name: str, paths: list[Path]) -> CurveEvidence | None:
    logs = {"": EventLog(), "val_": EventLog()}
    for path in paths:
        read_events(path, logs["val_" if path.parent.name.lower() in _HELD_OUT else ""])
    columns: dict[str, Column] = {}
    for prefix, log in logs.items():
        for tag, points in log.points.items():
            columns[prefix + tag] = latest_attempt(
                [float(step) for step, _, _ in points], [value for _, _, value in points]
            )
    problem = "; ".join(log.problem for log in logs.values() if log.problem)
    epochs = any(tag.startswith("epoch_") for log in logs.values() for tag in log.points)
    return as_curve(name, "epoch" if epochs else "step", columns, problem)


TRACKER = TensorBoard()
