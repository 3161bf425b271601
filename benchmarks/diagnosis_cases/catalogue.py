"""All cases, by id, and writing them into a folder."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np

import benchmarks.diagnosis_cases as package
from benchmarks.diagnosis_cases.case import Case, stated

VARIANTS = {"faulty": True, "repaired": False}


def all_cases() -> dict[str, Case]:
    """Every module's CASES, by id.

    Raises:
        ValueError: two cases have the same id.
    """
    found: dict[str, Case] = {}
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        for case in getattr(module, "CASES", ()):
            if case.id in found:
                raise ValueError(f"{module.__name__}: case {case.id} is there already. Choose another id.")
            found[case.id] = case
    return found


def write(case: Case, folder: Path, seed: int = 0) -> Path:
    """Writes `folder`/<id>/{faulty,repaired}/{model.keras,data.npz,fit.json} and case.json; returns the case's folder."""
    place = folder / case.id
    for variant, faulty in VARIANTS.items():
        built = case.build(faulty, seed)
        target = place / variant
        target.mkdir(parents=True, exist_ok=True)
        built.model.save(target / "model.keras")
        np.savez_compressed(target / "data.npz", allow_pickle=False, **stated(built.arrays))
        (target / "fit.json").write_text(json.dumps(built.fit) + "\n")
    facts = {
        "id": case.id,
        "title": case.title,
        "split": case.split,
        "origin": case.origin,
        "url": case.url,
        "faults": sorted(case.faults),
        "neutral": sorted(case.neutral),
    }
    (place / "case.json").write_text(json.dumps(facts, indent=2) + "\n")
    return place


def chosen(split: str, only: Iterable[str] = ()) -> list[Case]:
    """The cases of a split ("all" for every one), or just those named.

    Raises:
        KeyError: a name is no case's.
    """
    cases = all_cases()
    if names := list(only):
        return [cases[name] for name in names]
    return [case for case in cases.values() if split in ("all", case.split)]
