"""Real trainings with a known fault, and healthy ones: does `stethoscope curves` name the fault, and stay silent otherwise?

`python -m benchmarks.labelled_curves --cases FOLDER` trains what is not there yet and scores all of it; the folder can be
kept for the next time. Writing TensorBoard logs needs `tensorboard` beside TensorFlow.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import curve_scores
from benchmarks.benchmark import Benchmark
from benchmarks.curve_scores import CurveScore

_TRAIN = """
import sys
from pathlib import Path
from benchmarks.curve_cases.catalogue import LABEL, NotShown, chosen, steady, write
folder, split, again, *only = sys.argv[1:]
cases = chosen(split, only)
missing = {one.id for one in cases if again == "again" or not (Path(folder) / one.id / LABEL).exists()}
if missing:
    steady()
for case in cases:
    if case.id in missing:
        print(case.id, file=sys.stderr, flush=True)
        try:
            write(case, Path(folder))
        except NotShown as error:
            print("not written:", error, file=sys.stderr, flush=True)
            continue
    print(case.id, flush=True)
"""
_TIMEOUT_S = 120


def train_all(folder: Path, split: str = "all", only: Sequence[str] = (), again: bool = False) -> list[str]:
    """Writes each log into `folder`/<id>/log where it is not there yet (`again`: in any case); returns the ids.

    A training that did not come out as its label says is told on stderr and left out: a fault that left no trace in the log
    is no case.

    Raises:
        RuntimeError: a training failed; the text says why.
    """
    command = [sys.executable, "-c", _TRAIN, str(folder), split, "again" if again else "missing", *only]
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[1],
        env={**os.environ, **quiet},
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"training ended with exit code {done.returncode}; what went wrong stands above")
    return done.stdout.split()


def ask(log: Path) -> dict[str, Any]:
    """Asks the command line about a folder of logs: the object of `curves --json`, or {"error"}."""
    command = [sys.executable, "-m", "stethoscope.cli.start", "curves", str(log), "--json"]
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {_TIMEOUT_S} s"}
    seconds = round(time.perf_counter() - start, 2)
    if done.returncode not in (0, 1):
        return {"error": f"exit code {done.returncode}: {done.stderr.strip()[-300:]}", "seconds": seconds}
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {"error": f"no JSON on standard output: {done.stdout[:200]!r}", "seconds": seconds}
    return {**answer, "seconds": seconds}


def examined(place: Path, raw: Path | None = None) -> CurveScore:
    """Asks about the log in `place` and scores the answer; `raw` is a folder to keep answers in."""
    label = json.loads((place / "label.json").read_text())
    answer = ask(place / "log")
    if raw is not None:
        (raw / f"{label['id']}.json").write_text(json.dumps(answer, indent=1))
    return curve_scores.score(label, answer)


def run(folder: Path) -> dict[str, Any]:
    """Trains everything anew and scores the held-out logs, beside those that rules were developed on."""
    scores = [examined(folder / name) for name in train_all(folder)]
    figures = curve_scores.totals(scores)
    return {
        **figures,
        "splits": {name: curve_scores.totals(some) for name, some in curve_scores.splits(scores).items()},
        "missed": [one.id for one in scores if one.kind and not one.found],
        "alarms": {one.id: list(one.wrong) for one in scores if not one.kind and one.wrong},
        "holds": figures["faulty"] >= 60
        and figures["healthy"] >= 40
        and figures["recall"] >= 0.9
        and figures["false_alarm_fraction"] <= 0.05
        and not figures["errors"],
    }


def main() -> int:
    """Trains or scores; returns 1 when a log could not be judged."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labelled_curves", description=__doc__)
    parser.add_argument("--train", type=Path, metavar="FOLDER", help="train there, again if it is there, and end")
    parser.add_argument("--cases", type=Path, metavar="FOLDER", help="score the logs there; what is missing is trained")
    parser.add_argument("--split", choices=["dev", "other_seeds", "held_out", "fresh", "all", "every"], default="all")
    parser.add_argument("--only", default="", metavar="ID,…", help="just these logs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the tables there, as Markdown")
    parser.add_argument("--raw", type=Path, metavar="FOLDER", help="keep every answer there")
    options = parser.parse_args()
    only = tuple(name for name in options.only.split(",") if name)
    if options.train:
        print("\n".join(train_all(options.train, options.split, only, again=True)))
        return 0
    with contextlib.ExitStack() as stack:
        folder = options.cases or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stethoscope-bench-")))
        if options.raw:
            options.raw.mkdir(parents=True, exist_ok=True)
        scores = []
        for name in train_all(folder, options.split, only):
            scores.append(examined(folder / name, options.raw))
            print(curve_scores.line(scores[-1]), flush=True)
    found = curve_scores.to_json(scores)
    print(json.dumps({"totals": found["totals"], "kinds": found["kinds"], "checks": found["checks"]}, indent=1))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    if options.table:
        from benchmarks.curve_page import markdown

        options.table.write_text(markdown(scores))
    return 1 if any(one.errors for one in scores) else 0


BENCHMARK = Benchmark(
    "labelled_curves",
    "of real trainings with a known fault at least 90 % are named from their log; at most 5 % of healthy ones get a finding",
    run,
)

if __name__ == "__main__":
    sys.exit(main())
