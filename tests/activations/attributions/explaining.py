"""Runs the task `attribute` on a model as a worker would, in this process."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np

from stethoscope.models.formats import detect
from stethoscope.task import TaskContext
from stethoscope.tasks.attribute import TASK, Explanation
from stethoscope.types import Budget, ModelFile

_COUNT = itertools.count()


def explained(folder: Path, model: Path, data: Path | None = None, **params: Any) -> tuple[Explanation, np.ndarray]:
    """The task's answer and its attributions."""
    job = folder / f"job-{next(_COUNT)}"
    scratch = job / "scratch"
    scratch.mkdir(parents=True)
    file = ModelFile.at(model)
    kind = detect(file)
    files = {"model": file} | ({} if data is None else {"data": ModelFile.at(data)})
    context = TaskContext(
        files,
        params,
        job,
        Budget(4 << 30, 600),
        lambda *said, **more: None,
        None,
        lambda: (kind.describe(file), kind.open(file, scratch, trusted=True)),
    )
    explanation = TASK.run(context)
    return explanation, np.load(job / "out" / explanation.file)


def saved(path: Path, **arrays: np.ndarray) -> Path:
    """An .npz of these arrays."""
    np.savez(path, **arrays)
    return path
