"""False alarms and power of `drift` against Evidently's default preset, on the same simulated streams in one run.

Evidently does not install beside our pins: it is put into an environment of its own in the benchmark's folder, or used from that
which EVIDENTLY_PYTHON names. Its preset draws pictures for seconds per run, so its own choice of tests is called directly
(`get_stattest`, and drift where half of the columns drift); on a few streams the preset itself is run too, and must agree.

DRIFT_BENCH_NULL and DRIFT_BENCH_POWER set how many repetitions are drawn per stream and size.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark
from benchmarks.drift_streams import STREAMS, Stream, Table
from stethoscope.drift.field_columns import Field
from stethoscope.drift.reading import Side
from stethoscope.drift.scores import wilson
from stethoscope.drift.settings import DriftSettings
from stethoscope.drift.study import study

ROWS = (100, 500, 2_000)
ALPHA = 0.05
_NULL, _POWER = 40, 20
_PRESET_CHECKS = 6
_PACKAGES = ("evidently==0.7.23", "pandas<2.3")
_OTHER = """
import json, sys, warnings
warnings.filterwarnings("ignore")
import numpy as np, pandas as pd
from evidently import Report
from evidently.presets import DataDriftPreset
from evidently.legacy.calculations.stattests import get_stattest
folder, checks = sys.argv[1], int(sys.argv[2])
answers, agreed = [], []
for number, name in enumerate(json.load(open(folder + "/list.json"))):
    arrays = np.load(f"{folder}/{name}.npz", allow_pickle=False)
    sides = [pd.DataFrame({k[2:]: arrays[k] for k in arrays.files if k[0] == s}) for s in "rc"]
    drifted = {}
    for column in sides[0]:
        kind = "num" if sides[0][column].dtype.kind == "f" else "cat"
        first, second = (side[column].dropna() for side in sides)
        found = get_stattest(first, second, kind, None)(first, second, kind, None)
        drifted[column] = bool(found.drifted)
    verdict = sum(drifted.values()) / len(drifted) >= 0.5
    answers.append({"name": name, "verdict": verdict, "columns": drifted})
    if number < checks:
        report = Report([DataDriftPreset()]).run(sides[1], sides[0]).dict()
        counted = report["metrics"][0]["value"]
        agreed.append(counted["count"] == sum(drifted.values()))
print(json.dumps({"answers": answers, "preset_agrees": all(agreed)}))
"""


def run(folder: Path) -> dict[str, Any]:
    """Rates of alarm by stream, rows and size of drift, of both."""
    null = int(os.environ.get("DRIFT_BENCH_NULL", _NULL))
    power = int(os.environ.get("DRIFT_BENCH_POWER", _POWER))
    cases: dict[str, tuple[Stream, int, float]] = {}
    for stream in STREAMS:
        for rows in ROWS:
            for size, times in ((0.0, null), *((size, power) for size in stream.sizes)):
                cases |= {f"{stream.id}-{rows}-{size}-{at}": (stream, rows, size) for at in range(times)}
    names = list(cases)
    np.random.default_rng(0).shuffle(names)
    (folder / "list.json").write_text(json.dumps(names))
    ours = {}
    for number, name in enumerate(names):
        ours[name] = _ours(folder, name, *cases[name])
        if number % 200 == 0:
            print(f"  {number:,} of {len(names):,} streams", file=sys.stderr, flush=True)
    theirs, agrees = _theirs(folder)
    return _report(cases, ours, theirs, agrees)


def _ours(folder: Path, name: str, stream: Stream, rows: int, size: float) -> dict[str, Any]:
    generator = np.random.default_rng([int(byte) for byte in name.encode()])
    reference, current = stream.made(generator, rows, 0.0), stream.made(generator, rows, size)
    np.savez(
        folder / f"{name}.npz",
        **{f"r-{column}": values for column, values in reference.items()},
        **{f"c-{column}": values for column, values in current.items()},
    )
    settings = DriftSettings(alpha=ALPHA, subgroups=False)
    report = study(side("reference", reference), side("current", current), settings, lambda *_: None)
    columns = {row.name: row.p_value for row in report.features if row.role == "feature"}
    for row in report.features:
        # A column is found by its values or by how many of them are missing.
        if row.role == "missing":
            columns[row.field] = min(1.0, 2 * min(columns[row.field], row.p_value))
    verdict = min(test.p_adjusted for test in [*report.features, *report.ran])
    return {"verdict": verdict, "columns": columns}


def side(name: str, table: Table) -> Side:
    """Columns in memory as one side of a comparison."""
    rows = len(next(iter(table.values())))
    fields = {
        column: Field(column, "number", "input", numbers={"": values})
        if values.dtype.kind == "f"
        else Field(column, "category", "input", words=values.astype(object))
        for column, values in table.items()
    }
    return Side(name, fields, rows, rows, np.arange(rows), (), 0, ())


def _theirs(folder: Path) -> tuple[dict[str, dict[str, Any]], bool]:
    python = os.environ.get("EVIDENTLY_PYTHON") or _installed(folder / "evidently")
    done = subprocess.run(
        [python, "-c", _OTHER, str(folder), str(_PRESET_CHECKS)], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout.splitlines()[-1])
    return {one["name"]: one for one in told["answers"]}, told["preset_agrees"]


def _installed(place: Path) -> str:
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True, stdout=sys.stderr)
    python = str(place / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *_PACKAGES], check=True, stdout=sys.stderr)
    return python


def _report(
    cases: dict[str, tuple[Stream, int, float]], ours: dict[str, Any], theirs: dict[str, Any], agrees: bool
) -> dict[str, Any]:
    def names_of(*wanted: Any) -> list[str]:
        """Streams of (id, rows, size), None for any."""
        return [
            name
            for name, (stream, rows, size) in cases.items()
            if all(want is None or want == have for want, have in zip(wanted, (stream.id, rows, size), strict=True))
        ]

    alarms = {}
    for rows in (*ROWS, None):
        names = names_of(None, rows, 0.0)
        alarms[str(rows or "all")] = {
            "ours": _rate([ours[name]["verdict"] <= ALPHA for name in names]),
            "evidently": _rate([theirs[name]["verdict"] for name in names]),
            "evidently_any_column": _rate([any(theirs[name]["columns"].values()) for name in names]),
        }
    power = [
        _row(stream, rows, size, names_of(stream.id, rows, size), names_of(stream.id, rows, 0.0), ours, theirs)
        for stream in STREAMS
        for rows in ROWS
        for size in stream.sizes
    ]
    worse = [row for row in power if _worse(row)]
    level = alarms["all"]["ours"]["low"] <= ALPHA <= alarms["all"]["ours"]["high"]
    return {
        "false_alarms": alarms,
        "power": power,
        "worse_than_evidently": worse,
        "preset_agrees": agrees,
        "holds": level and not worse and agrees,
    }


def _row(
    stream: Stream,
    rows: int,
    size: float,
    names: list[str],
    without: list[str],
    ours: dict[str, Any],
    theirs: dict[str, Any],
) -> dict[str, Any]:
    """Power of both; of ours at the 5 % asked for, and at the false-alarm rate theirs has on this stream where that is more."""
    drifting = [f"c{at}" for at in range(stream.drifting)]
    alarms = float(np.mean([theirs[name]["verdict"] for name in without]))
    of_columns = float(np.mean([one for name in without for one in theirs[name]["columns"].values()]))
    row: dict[str, Any] = {
        "stream": stream.id,
        "rows": rows,
        "size": size,
        "runs": len(names),
        "evidently": float(np.mean([theirs[name]["verdict"] for name in names])),
        "evidently_false_alarms": alarms,
        "evidently_columns": _mean([theirs[name]["columns"][one] for name in names for one in drifting]),
        "evidently_columns_false_alarms": of_columns,
    }
    for ending, level, column_level in (
        ("", ALPHA, ALPHA),
        ("_at_their_level", max(ALPHA, alarms), max(ALPHA, of_columns)),
    ):
        row[f"ours{ending}"] = float(np.mean([ours[name]["verdict"] <= level for name in names]))
        found = [ours[name]["columns"][one] <= column_level for name in names for one in drifting]
        row[f"ours_columns{ending}"] = _mean(found)
    return row


def _mean(answers: list[bool]) -> float | None:
    """The share; None of nothing: in a stream whose columns only go together otherwise none of them drifts."""
    return float(np.mean(answers)) if answers else None


def _rate(answers: list[bool]) -> dict[str, float]:
    share = float(np.mean(answers))
    low, high = wilson(share, len(answers))
    return {"rate": share, "low": low, "high": high, "runs": len(answers)}


def _worse(row: dict[str, Any]) -> bool:
    """Whether at their false-alarm rate the verdict, or the test of a column, finds less by more than two standard errors."""
    for key in ("", "_columns"):
        mine, other = row[f"ours{key}_at_their_level"], row[f"evidently{key}"]
        if mine is not None and other - mine > 2 * np.sqrt(
            (mine * (1 - mine) + other * (1 - other) + 0.01) / row["runs"]
        ):
            return True
    return False


BENCHMARK = Benchmark(
    "drift_against_evidently",
    "False alarms at the 5 % asked for, and nowhere less power than Evidently's default at its own false-alarm rate.",
    run,
)
