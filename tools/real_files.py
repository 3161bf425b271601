"""Describes and runs every file of a folder of real models, and writes what happened as a table.

`python tools/real_files.py FOLDER docs/real-files.md`, where FOLDER holds manifest.json: a list of {"file", "kind",
"origin", "path", "commit"}. Nothing is skipped: what is declined is listed with the sentence a user would read.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stethoscope.activations.reach import CONSTANT
from stethoscope.codec import answer_of
from stethoscope.jobs.job_engine import Engine
from stethoscope.models.formats import all_formats
from stethoscope.tasks.describe import Description
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status

TITLES = {
    "h5": "Keras HDF5 (1.x to 2.x, weights, data)",
    "keras": "Keras 3 `.keras`",
    "savedmodel": "SavedModel folders (TF 1.0 to 2.14)",
    "frozen_pb": "frozen graphs `.pb`",
    "graph_pbtxt": "graphs as text `.pbtxt`",
    "tflite": "TensorFlow Lite",
    "onnx": "ONNX",
    "tfevents": "TensorBoard logs (not models)",
    "npz": "NumPy archives (not models)",
    "annotations": "annotation sets (not models)",
}


@dataclass(frozen=True)
class Row:
    """What happened to one file."""

    kind: str
    name: str
    described: JobResult
    predicted: JobResult | None
    watched: JobResult | None = None
    """The statistics of its layers."""


def examine(folder: Path) -> list[Row]:
    """Describes every file, then predicts and watches the layers on random input with those that were described."""
    entries = json.loads((folder / "manifest.json").read_text())
    with tempfile.TemporaryDirectory() as place:
        engine = Engine(Path(place), {"light": 2, "tensorflow": 2}, 1 << 62)
        try:
            files = [(entry, ModelFile.at(folder / entry["file"])) for entry in entries]
            jobs = [
                engine.submit(Job("describe", {"model": file}, {"skeleton": True}, Budget(2 << 30, 60)))
                for _, file in files
            ]
            described = [engine.wait(job, 600) for job in jobs]
            running: list[str | None] = []
            watching: list[str | None] = []
            for (_, file), result in zip(files, described, strict=True):
                running.append(None)
                watching.append(None)
                if result.status is Status.OK:
                    worker = all_formats()[result.value["format_id"]].worker
                    job = Job("predict", {"model": file}, {"batch_size": 2}, Budget(2 << 30, 120), worker)
                    running[-1] = engine.submit(job)
                    params = {"rows": 2, "batch_size": 2}
                    watching[-1] = engine.submit(
                        Job("activations", {"model": file}, params, Budget(3 << 30, 240), worker)
                    )
            return [
                Row(
                    entry["kind"],
                    entry["file"].split("/", 1)[1],
                    result,
                    None if job is None else engine.wait(job, 900),
                    None if watched is None else engine.wait(watched, 900),
                )
                for (entry, _), result, job, watched in zip(files, described, running, watching, strict=True)
            ]
        finally:
            engine.stop()


def markdown(rows: list[Row]) -> str:
    """The report: a table by kind, then every file that was declined or did not run, with its sentence."""
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        kinds[row.kind].append(row)
    lines = [
        "# Real files: what is read, what runs",
        "",
        f"{len(rows)} files out of public repositories, each described, and where that worked run on random input of batch 2,",
        "each in its own contained worker. Made by `tools/real_files.py`.",
        "",
        "| kind | files | described | run | declined, with a sentence | described but not run |",
        "|---|---|---|---|---|---|",
    ]
    for kind, group in kinds.items():
        described = [row for row in group if row.described.status is Status.OK]
        ran = [row for row in described if row.predicted and row.predicted.status is Status.OK]
        lines.append(
            f"| {TITLES.get(kind, kind)} | {len(group)} | {len(described)} | {len(ran)} "
            f"| {len(group) - len(described)} | {len(described) - len(ran)} |"
        )
    lines += ["", *activations(kinds), "", "## Why, file by file", "", "| file | ending | sentence |", "|---|---|---|"]
    for row in rows:
        last = row.predicted or row.described
        if last.status is not Status.OK:
            stage = "described, not run" if row.predicted else "declined"
            lines.append(
                f"| {row.kind}/{row.name} | {stage}, {last.status.value} | {last.reason.replace('|', chr(92) + '|')} |"
            )
    return "\n".join(lines) + "\n"


def activations(kinds: Mapping[str, list[Row]]) -> list[str]:
    """The section on layers: how many of each kind could be watched, and why not the others."""
    lines = [
        "## Activations",
        "",
        "Every model that is described, with the task behind the Activations page: statistics of all layers on two rows of",
        "random input, within 3 GB. A layer counts as constant where its output is the same for every input.",
        "",
        "| kind | described | activations shown | layers of these | shown | constant | not shown, with the reason |",
        "|---|---|---|---|---|---|---|",
    ]
    reasons: Counter[str] = Counter()
    apart: list[str] = []
    for kind, group in kinds.items():
        watched = [(row, row.watched) for row in group if row.watched is not None]
        shown = [(row, result.value) for row, result in watched if result.status is Status.OK]
        if not watched:
            continue
        layers = sum(len(answer_of(row.described, Description).layers) for row, _ in shown)
        hidden = Counter(one["reason"] for _, value in shown for one in value["unreachable"])
        constant = hidden.pop(CONSTANT, 0)
        reasons += hidden
        lines.append(
            f"| {TITLES.get(kind, kind)} | {len(watched)} | {len(shown)} | {layers:,} "
            f"| {layers - constant - hidden.total():,} | {constant:,} | {hidden.total():,} |"
        )
        apart += [
            f"| {row.kind}/{row.name} | {result.reason} |"
            for row, result in watched
            if result.status is not Status.OK and row.predicted and row.predicted.status is Status.OK
        ]
    lines += ["", "| why a layer is not shown | layers |", "|---|---|"]
    lines += [f"| {reason} | {count:,} |" for reason, count in reasons.most_common()]
    if not apart:
        return [*lines, "", "Each model that runs shows its activations; why the others do not run is said below."]
    return [*lines, "", "| runs, but its activations are not shown | sentence |", "|---|---|", *apart]


def main() -> None:
    """Writes the report."""
    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    target.write_text(markdown(examine(folder)))


if __name__ == "__main__":
    main()
