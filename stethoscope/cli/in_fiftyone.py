"""Data of every kind that is read here, opened in FiftyOne: `python -m stethoscope.cli.in_fiftyone DATA`.

The data is read in a contained worker; FiftyOne, which has to be installed beside, gets plain PNG files and their marks.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import importlib.util
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stethoscope.cli.run import run_job, short_engine
from stethoscope.codec import answer_of
from stethoscope.errors import CannotRun, StethoscopeError, by_name
from stethoscope.tasks.export_samples import ExportedSamples
from stethoscope.types import Budget, Job, ModelFile, Status

ROWS = 1_000
_BUDGET = Budget(4 << 30, 3_600)
_RESERVED = frozenset(
    {"id", "filepath", "tags", "metadata", "created_at", "last_modified_at", "label", "marks", "outlines"}
)


def load(data: Path | str, *, rows: int = ROWS, target: str = "", name: str | None = None) -> Any:
    """Reads data and makes a FiftyOne dataset of it.

    Args:
        data: a file, an archive or a folder of a kind that is read here, with pictures.
        rows: how many at most, from the start.
        target: the column with the labels, where the data does not say.
        name: of the data set in FiftyOne, which keeps it; without one it is forgotten at the end.

    Returns:
        A `fiftyone.Dataset`; samples have "label", "marks" (detections), "outlines", "points", "mask", and their values.

    Raises:
        CannotRun: FiftyOne is not installed.
        StethoscopeError: the data cannot be read, or has no pictures.
    """
    if not is_installed():
        raise CannotRun("FiftyOne: expected it to be installed, got nothing. Run: pip install fiftyone")
    folder = Path(tempfile.mkdtemp(prefix="stethoscope-fiftyone-"))
    return made(export(Path(data), folder, rows=rows, target=target), folder, name)


def is_installed() -> bool:
    """Whether FiftyOne can be imported here; imports nothing."""
    return importlib.util.find_spec("fiftyone") is not None


def export(data: Path, folder: Path, *, rows: int = ROWS, target: str = "", title: str = "") -> ExportedSamples:
    """Writes pictures and marks into `folder`, in a contained worker.

    Raises:
        StethoscopeError: the data cannot be read, or has no pictures.
    """
    params = {"rows": rows, "data_options": {"target": target} if target else {}}
    file = ModelFile(data, title or data.name)
    with short_engine() as engine:
        result = run_job(engine, Job("export_samples", {"data": file}, params, _BUDGET))
        if result.status is not Status.OK:
            raise by_name(result.error)(result.reason)
        for name, path in result.files.items():
            shutil.copyfile(path, folder / name)
    return answer_of(result, ExportedSamples)


def made(exported: ExportedSamples, folder: Path, name: str | None) -> Any:
    """The FiftyOne dataset of exported rows."""
    fiftyone = importlib.import_module("fiftyone")
    dataset = fiftyone.Dataset(name, persistent=name is not None, overwrite=name is not None)
    dataset.info = {"source": exported.about.title}
    classes = list(exported.about.classes)
    if classes:
        dataset.default_classes = classes
        dataset.default_mask_targets = {number: label for number, label in enumerate(classes) if number}
    rows = json.loads((folder / "samples.json").read_text())
    dataset.add_samples([_sample(fiftyone, row, folder) for row in rows])
    return dataset


def _sample(fiftyone: Any, row: Mapping[str, Any], folder: Path) -> Any:
    size = (max(1, row["width"]), max(1, row["height"]))
    sample = fiftyone.Sample(filepath=str(folder / row["file"]), tags=[row["split"]] if row["split"] else [])
    sample["row"] = row["place"]
    if row["name"]:
        sample["name"] = row["name"]
    marks = row["marks"]
    if row["label"] and not marks:
        sample["label"] = fiftyone.Classification(label=row["label"])
    boxes = [one for one in marks if one["type"] == "region" or (one["type"] == "box" and not one["box"][4])]
    lines = [one for one in marks if one["type"] == "polygon" or (one["type"] == "box" and one["box"][4])]
    points = [one for one in marks if one["type"] == "points"]
    if boxes:
        sample["marks"] = fiftyone.Detections(detections=[_detection(fiftyone, one, size) for one in boxes])
    if lines:
        sample["outlines"] = fiftyone.Polylines(polylines=[_polyline(fiftyone, one, size) for one in lines])
    if points:
        sample["points"] = fiftyone.Keypoints(
            keypoints=[fiftyone.Keypoint(label=one["label"], points=_within(one["points"], size)) for one in points]
        )
    if row["mask"] is not None:
        sample["mask"] = fiftyone.Segmentation(mask=_numbers(row["mask"]))
    for name, value in row["values"].items():
        plain = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_") or "value"
        sample[f"{plain}_value" if plain in _RESERVED or plain[0].isdigit() else plain] = _text_or_number(value)
    return sample


def _text_or_number(value: Any) -> Any:
    """FiftyOne gives a field one type: whole numbers and others are all floats."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _detection(fiftyone: Any, mark: Mapping[str, Any], size: tuple[int, int]) -> Any:
    x, y, width, height, _ = mark["box"]
    box = [x / size[0], y / size[1], width / size[0], height / size[1]]
    if mark["type"] == "region" and mark["bits"]:
        packed = np.frombuffer(base64.b64decode(mark["bits"]), np.uint8).reshape(int(height), -1)
        bits = np.unpackbits(packed, axis=1)[:, : int(width)].astype(bool)
        return fiftyone.Detection(label=mark["label"], bounding_box=box, mask=bits)
    return fiftyone.Detection(label=mark["label"], bounding_box=box)


def _polyline(fiftyone: Any, mark: Mapping[str, Any], size: tuple[int, int]) -> Any:
    rings = mark["rings"] if mark["type"] == "polygon" else [_corners(*mark["box"])]
    return fiftyone.Polyline(
        label=mark["label"], points=[_within(ring, size) for ring in rings], closed=True, filled=True
    )


def _corners(x: float, y: float, width: float, height: float, degrees: float) -> list[tuple[float, float]]:
    """The corners of a box that is turned clockwise about its centre."""
    angle = np.deg2rad(degrees)
    cx, cy = x + width / 2, y + height / 2
    halves = [(a * width / 2, b * height / 2) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    cos, sin = float(np.cos(angle)), float(np.sin(angle))
    return [(cx + dx * cos - dy * sin, cy + dx * sin + dy * cos) for dx, dy in halves]


def _within(points: Sequence[Sequence[float]], size: tuple[int, int]) -> list[tuple[float, float]]:
    return [(x / size[0], y / size[1]) for x, y in points]


def _numbers(mask: Mapping[str, Any]) -> Any:
    return np.frombuffer(base64.b64decode(mask["numbers"]), np.uint8).reshape(mask["height"], mask["width"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Opens data in FiftyOne until its window is closed or the program is stopped; returns the exit code."""
    parser = argparse.ArgumentParser("python -m stethoscope.cli.in_fiftyone", description="Open data in FiftyOne.")
    parser.add_argument("data", type=Path, help="a file, an archive or a folder")
    parser.add_argument("--rows", type=int, default=ROWS, help="how many at most, from the start")
    parser.add_argument("--target", default="", help="the column with the labels, where the data does not say")
    parser.add_argument("--title", default="", help="what the data is called, where its path does not say")
    parser.add_argument("--port", type=int, default=5151, help="where the app is served on this machine")
    given = parser.parse_args(arguments)
    try:
        if not is_installed():
            raise CannotRun("FiftyOne: expected it to be installed, got nothing. Run: pip install fiftyone")
        with tempfile.TemporaryDirectory(prefix="stethoscope-fiftyone-") as folder:
            exported = export(given.data, Path(folder), rows=given.rows, target=given.target, title=given.title)
            dataset = made(exported, Path(folder), None)
            session = importlib.import_module("fiftyone").launch_app(
                dataset, port=given.port, address="localhost", remote=True
            )
            sys.stdout.write(
                f"FiftyOne shows {exported.rows:,} of {exported.of:,} rows on http://localhost:{given.port}\n"
            )
            sys.stdout.flush()
            session.wait(-1)
    except StethoscopeError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
