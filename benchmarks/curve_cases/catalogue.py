"""All cases, and writing one: train, prove that the label is true, keep the log."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.curve_cases import (
    dev_faulty,
    dev_generalisation,
    dev_healthy,
    dev_special,
    fresh_faulty,
    fresh_healthy,
    held_out_faulty,
    held_out_generalisation,
    held_out_healthy,
    held_out_special,
    shown,
)
from benchmarks.curve_cases.case import DEV, FRESH, HELD_OUT, KINDS, CurveCase
from benchmarks.curve_cases.training import Curves, fit

LABEL, LOG = "label.json", "log"
OTHER_SEEDS, EVERY = "other_seeds", "every"
_PROVABLE = frozenset({"nonfinite", "divergence", "explosion", "oscillation", "jump"})
_MODULES = {
    DEV: (dev_faulty, dev_generalisation, dev_special, dev_healthy),
    HELD_OUT: (held_out_faulty, held_out_generalisation, held_out_special, held_out_healthy),
    FRESH: (fresh_faulty, fresh_healthy),
}


class NotShown(Exception):
    """The training did not come out as its label says."""


def all_cases() -> dict[str, CurveCase]:
    """Every case by its id.

    Raises:
        ValueError: two have the same id.
    """
    found: dict[str, CurveCase] = {}
    for split, modules in _MODULES.items():
        for module in modules:
            for one in module.CASES:
                if one.id in found:
                    raise ValueError(f"{one.id}: expected one case of this id, got two. Rename one.")
                found[one.id] = replace(one, split=split)
    return found


def chosen(split: str = "all", only: Sequence[str] = ()) -> list[CurveCase]:
    """The cases of a split, or just those named.

    Args:
        split: "dev", "held_out", "fresh", "all" for the three, "other_seeds": the dev cases once more with another seed each, or "every" for
            all of it.
        only: their ids.

    Raises:
        KeyError: a name is no case's.
    """
    every = all_cases()
    if split in (OTHER_SEEDS, EVERY):
        again = [
            replace(one, id=f"{one.id}-again", seed=one.seed + 5000, split=OTHER_SEEDS)
            for one in every.values()
            if one.split == DEV
        ]
        every = (every if split == EVERY else {}) | {one.id: one for one in again}
    if only:
        return [every[name] for name in only]
    return [one for one in every.values() if split in ("all", EVERY, one.split)]


def steady() -> None:
    """Makes trainings repeatable to the bit and gentle: one core, no operation that depends on order. Call it first."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.experimental.enable_op_determinism()


def write(case: CurveCase, folder: Path) -> Path:
    """Trains and writes `folder`/<id>/log and label.json beside it; returns that folder.

    Raises:
        NotShown: the fault does not show in the curves, or a healthy training did not go well.
    """
    place = folder / case.id
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    curves = case.make(place / LOG, case.seed)
    twin = fit(case.twin, case.seed, name="twin")[1] if case.twin else None
    if reason := case.shown(curves, twin):
        shutil.rmtree(place)
        raise NotShown(f"{case.id}: expected curves that show {case.kind or 'health'}, got: {reason}.")
    (place / LABEL).write_text(json.dumps(label(case, curves), indent=1) + "\n")
    return place


def label(case: CurveCase, curves: Sequence[Curves]) -> dict[str, Any]:
    """What is known of a log. A side effect that its measure proves counts as true; a machine that paused is nobody's fault."""
    proven = {kind for kind in case.neutral & _PROVABLE if not KINDS[kind](curves, None)}
    paused = {"stalled"} - case.accepted if any(not shown.stalled([one]) for one in curves) else set()
    return {
        "id": case.id,
        "split": case.split,
        "title": case.title,
        "kind": case.kind,
        "accepted": sorted(case.accepted | proven),
        "neutral": sorted((case.neutral | paused) - proven),
    }
