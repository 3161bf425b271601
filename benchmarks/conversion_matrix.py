"""What can be converted into what: kinds of models × targets, each result loaded and run by its own runtime, apart from our code.

Writes `docs/conversion-matrix.md`. A cell is green when it was converted, its runtime loaded and ran it, and its values are within the
tolerance of its precision of what Keras' `predict` said before anything was converted.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.conversion_matrix_models import CANNOT_BE_LOADED, KINDS, file_name
from stethoscope.compare.convert import all_converters

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "conversion-matrix.md"
TARGETS = {target: converter.title for target, converter in all_converters().items()}
"""Titles of all conversions that are offered."""
EXACT = 1e-4
TOLERANCES = {"tflite-fp16": 1e-2, "tflite-dynamic": 0.1, "tflite-int8": 0.15, "tflite-int16x8": 0.1}
"""How far a value may be off, as a share of the largest value of the output, where a target computes in less than float32."""
COUNTED = ("onnx", "tflite")
SHARE = 0.95
_MEMORY_BYTES, _TIMEOUT_S = 6 << 30, 300
Cells = dict[tuple[str, str], dict[str, Any]]


def run(folder: Path) -> dict[str, Any]:
    """Cells as {kind: {target: …}}; the share of green ones by target; what was called converted and is not."""
    models = _built(folder)
    cells = _converted(models, folder)
    _check(cells, folder)
    for cell in cells.values():
        cell.pop("path", None)
    counted = {key: cell for key, cell in cells.items() if key[0] != CANNOT_BE_LOADED}
    shares = {
        target: sum(_green(cell, target) for (_, at), cell in counted.items() if at == target) / len(KINDS)
        for target in TARGETS
    }
    false = [
        f"{kind} → {target}: {cell['why']}"
        for (kind, target), cell in cells.items()
        if cell["converted"] and not cell["ran"]
    ]
    PAGE.write_text(_page(cells, shares, false))
    return {
        "cells": {
            kind: {target: cells[kind, target] for target in TARGETS if (kind, target) in cells}
            for kind in dict.fromkeys(kind for kind, _ in cells)
        },
        "green": {target: round(share, 3) for target, share in shares.items()},
        "called_converted_and_refused": false,
        "holds": not false and all(shares[target] >= SHARE for target in COUNTED),
    }


def _built(folder: Path) -> dict[str, Path]:
    done = _apart("conversion_matrix_models", folder)
    done.check_returncode()
    return {name: Path(path) for name, path in json.loads(done.stdout.splitlines()[-1]).items()}


def _apart(module: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Runs a module of the benchmarks in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
    )


def _converted(models: Mapping[str, Path], folder: Path) -> Cells:
    from stethoscope.cli.run import input_files
    from stethoscope.codec import answer_of
    from stethoscope.jobs.job_engine import Engine
    from stethoscope.tasks.convert import Conversion
    from stethoscope.types import Budget, Job

    engine = Engine(folder / "engine", {"light": 1, "tensorflow": 1}, 1 << 62)
    cells: Cells = {}
    try:
        for kind, path in models.items():
            files = input_files(path, folder / f"{file_name(kind)}.npz")
            for target in TARGETS:
                params = {"target": target, "rows": 16, "trusted": True}
                job = Job("convert", files, params, Budget(_MEMORY_BYTES, _TIMEOUT_S), "tensorflow")
                result = engine.wait(engine.submit(job))
                ok = result.status.value == "ok"
                cell = {"converted": ok, "ran": False, "why": result.reason, "said": None}
                if ok:
                    made = answer_of(result, Conversion)
                    cell["said"], cell["notes"] = made.max_abs_diff, list(made.notes)
                    cell["path"] = str(_kept(result.files, folder / "made" / f"{file_name(kind)}_{target}"))
                cells[kind, target] = cell
                print(f"  {kind} → {target}: {result.status.value} {result.reason[:120]}", file=sys.stderr, flush=True)
    finally:
        engine.stop()
    return cells


def _kept(files: Mapping[str, Path], folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, path in files.items():
        shutil.copyfile(path, folder / name)
    archive = folder / "saved_model.zip"
    if not archive.exists():
        return next(path for path in folder.iterdir() if path.name.startswith("model.") and path.suffix != ".data")
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder / "saved_model")
    return folder / "saved_model"


def _check(cells: Cells, folder: Path) -> None:
    """Fills in what the runtimes say; one that ends its process is told so, and the next cells get another."""
    waiting = [
        {
            "kind": kind,
            "target": target,
            "path": cell["path"],
            "rows": str(folder / f"{file_name(kind)}.npz"),
            "expected": str(folder / f"{file_name(kind)}_expected.npz"),
        }
        for (kind, target), cell in cells.items()
        if cell["converted"]
    ]
    while waiting:
        listed = folder / "cells.json"
        listed.write_text(json.dumps(waiting))
        done = _apart("conversion_matrix_check", listed)
        answered = 0
        for line in done.stdout.splitlines():
            if not line.startswith('{"kind"'):
                continue
            told = json.loads(line)
            cell = cells[told.pop("kind"), told.pop("target")]
            if told.pop("begun", False):
                cell["why"] = f"its runtime ended the process ({done.returncode})"
            else:
                answered += 1
                cell.update({"why": ""} | told)
        if answered == len(waiting):
            return
        waiting = waiting[answered + 1 :]


def _green(cell: Mapping[str, Any], target: str) -> bool:
    return bool(cell["converted"] and cell["ran"] and cell["max_rel"] <= TOLERANCES.get(target, EXACT))


def _page(cells: Cells, shares: Mapping[str, float], false: Sequence[str]) -> str:
    """The page, in Markdown."""
    from importlib import metadata

    versions = ", ".join(
        f"{name} {metadata.version(name)}"
        for name in ("tensorflow", "keras", "tf2onnx", "onnxruntime", "ai-edge-litert")
    )
    kinds = list(dict.fromkeys(kind for kind, _ in cells))
    lines = [
        "# What converts",
        "",
        "Written by `python -m benchmarks conversion_matrix`; nothing in it is typed by hand. Each kind of model has weights as after",
        "training and rows of data; each result was loaded by the runtime it is for, in a process without any of our code, and run on 16",
        "rows. A number is the largest difference from what Keras' own `predict` said, as a share of the output's largest value.",
        f"({versions})",
        "",
        "| model | " + " | ".join(TARGETS.values()) + " |",
        "|---|" + "---|" * len(TARGETS),
    ]
    lines += [
        f"| {kind} | " + " | ".join(_told(cells[kind, target], target) for target in TARGETS) + " |" for kind in kinds
    ]
    lines += [
        "",
        "✓ converted, loaded, run, and within the tolerance: "
        + ", ".join(f"{title} {TOLERANCES.get(target, EXACT):g}" for target, title in TARGETS.items())
        + ".",
        "`1` one row in every call: with an open number of rows the runtime refuses it. `f` some operators stayed in float",
        "for want of an integer kernel. ✗ not, with the reason below.",
        "",
        "Green, of the kinds that can be loaded: "
        + ", ".join(f"{TARGETS[target]} {share:.0%}" for target, share in shares.items())
        + f". Called converted and refused by the runtime: {len(false)}.",
    ]
    reasons = {
        f"- **{kind}**, {TARGETS[target]}: {cell['why']}"
        for (kind, target), cell in cells.items()
        if cell["why"] and kind != CANNOT_BE_LOADED
    }
    lost = next((cell["why"] for (kind, _), cell in cells.items() if kind == CANNOT_BE_LOADED), "")
    lines += [
        "",
        *sorted(reasons),
        f"- **{CANNOT_BE_LOADED}**, every target: {lost} Export it to a SavedModel, as in the row `subclassed`.",
    ]
    return "\n".join(lines) + "\n"


def _told(cell: Mapping[str, Any], target: str) -> str:
    if not cell["ran"]:
        return "✗"
    fixed = " `1`" if any("in every call" in note for note in cell.get("notes", ())) else ""
    floats = " `f`" if any("in floats" in note for note in cell.get("notes", ())) else ""
    return f"{'✓' if _green(cell, target) else '✗'} {cell['max_rel']:.1e}{fixed}{floats}"


BENCHMARK = Benchmark(
    "conversion_matrix",
    "at least 95 % of the kinds of model convert to ONNX and to TFLite float32, and nothing called converted is refused by its runtime",
    run,
)
