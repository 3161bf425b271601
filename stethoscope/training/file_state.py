"""Whether a file's weights have been trained: its optimizer's step count, or predictions better than chance."""

from __future__ import annotations

import contextlib
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from stethoscope.program.setup import Setup
from stethoscope.training.skill import Scorer

PROBE_ROWS = 512
TRAINED_SKILL, TRAINED_SKILL_AT_ZERO = 0.6, 0.8
"""Skill that random initial weights hardly reach on a few hundred rows; more is asked where the optimizer says no step was taken."""
_MAX_MEMBER_BYTES = 2 << 30
_ITERATIONS = re.compile(r"(^|/)(iterations?|iter)(:0)?$")


def looks_trained(path: Path, setup: Setup) -> bool:
    """Whether the weights of the file at `path` are the result of training rather than initial ones."""
    steps = optimizer_steps(path)
    if steps:
        return True
    if setup.live is None or any(
        not np.isfinite(array).all() for array in setup.weights or () if array.dtype.kind == "f"
    ):
        return setup.live is not None
    return _skill(setup) > (TRAINED_SKILL if steps is None else TRAINED_SKILL_AT_ZERO)


def optimizer_steps(path: Path) -> int | None:
    """The step count of the optimizer stored in a .keras or .h5 file; None when there is none or it cannot be read."""
    import h5py

    with contextlib.suppress(OSError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                member = next(
                    name for name in [*archive.namelist(), ""] if name.endswith("model.weights.h5") or not name
                )
                if not member or archive.getinfo(member).file_size > _MAX_MEMBER_BYTES:
                    return None
                with archive.open(member) as stream, h5py.File(io.BytesIO(stream.read()), "r") as weights:
                    return _whole(weights["optimizer/vars/0"])
        with h5py.File(path, "r") as weights:
            found: list[int] = []

            def visit(name: str, item: Any) -> None:
                if isinstance(item, h5py.Dataset) and item.shape == () and _ITERATIONS.search(name):
                    found.append(_whole(item))

            if "optimizer_weights" in weights:
                weights["optimizer_weights"].visititems(visit)
            return found[0] if found else None
    return None


def _whole(dataset: Any) -> int:
    return int(dataset[()])


def _skill(setup: Setup) -> float:
    """The file's weights' skill on a few rows; 0 when the data does not fit the model."""
    from stethoscope.training.model import call

    rows = min(PROBE_ROWS, setup.rows)
    order = np.random.default_rng(0).permutation(setup.rows)[:rows]
    scorer = Scorer.of(setup)
    try:
        feed = [np.asarray(array)[order] for array in setup.x.values()]
        outputs = [np.asarray(value) for value in call(setup.live, setup.modern, feed, training=False)]
        return scorer.scores([np.asarray(item)[order] for item in setup.y], outputs).skill
    except Exception:  # noqa: BLE001 - what cannot run here cannot train either: the training says why
        return 0.0
