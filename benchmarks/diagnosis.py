"""Faulty programs and their repaired twins: is a true fault named, and does the twin pass?

`python -m benchmarks.diagnosis --build FOLDER` writes the cases, `python -m benchmarks.diagnosis --cases FOLDER` scores them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks import diagnosis_scores
from benchmarks.benchmark import Benchmark
from benchmarks.diagnosis_scores import Score

Ask = Callable[[Path, Path, Mapping[str, Any]], dict[str, Any]]
"""Gets a model, its data and what `fit` was told; returns the object of `check --json`, or {"error"}."""

_BUILD = """
import sys
from pathlib import Path
from benchmarks.diagnosis_cases.catalogue import chosen, write
folder, split, again, *only = sys.argv[1:]
for case in chosen(split, only):
    if again == "again" or not (Path(folder) / case.id / "case.json").exists():
        write(case, Path(folder))
    print(case.id, flush=True)
"""
_TIMEOUT_S = 300


def build_all(folder: Path, split: str = "all", only: tuple[str, ...] = (), again: bool = False) -> list[str]:
    """Writes each case into `folder`/<id> where it is not there yet (`again`: in any case); returns the ids.

    Keras is imported in another process, so that this one stays as light as a user's shell.

    Raises:
        RuntimeError: a case cannot be built; the text says why.
    """
    command = [sys.executable, "-c", _BUILD, str(folder), split, "again" if again else "missing", *only]
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return done.stdout.split()


def ask(model: Path, data: Path, fit: Mapping[str, Any]) -> dict[str, Any]:
    """Asks the command line."""
    said = ",".join(f"{name}={str(value).lower()}" for name, value in fit.items())
    command = [sys.executable, "-m", "stethoscope.cli.start", "check", str(model), "--data", str(data), "--json"]
    command += ["--fit", said] if said else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {_TIMEOUT_S} s"}
    if done.returncode not in (0, 1):
        return {"error": f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"}
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {"error": f"no JSON on standard output: {done.stdout[:200]!r} {done.stderr.strip()[-200:]}"}
    return answer


@contextlib.contextmanager
def warm() -> Iterator[Ask]:
    """Asks one engine in this process, whose workers have their imports done: the same stages, without their start."""
    from stethoscope.evidence.fit import FitSettings
    from stethoscope.jobs.job_engine import Engine
    from stethoscope.studies.diagnosis.report import Request, report_to_json
    from stethoscope.studies.diagnosis.run import Diagnosis
    from stethoscope.types import ModelFile

    with tempfile.TemporaryDirectory(prefix="stethoscope-bench-") as folder:
        engine = Engine(Path(folder), {"light": 2, "tensorflow": 2}, 1 << 62)

        def asked(model: Path, data: Path, fit: Mapping[str, Any]) -> dict[str, Any]:
            request = Request(ModelFile.at(model), ModelFile.at(data), fit=FitSettings.from_mapping(fit))
            return report_to_json(Diagnosis(engine, request).run())

        try:
            yield asked
        finally:
            engine.stop()


def examined(place: Path, question: Ask, raw: Path | None = None) -> Score:
    """Asks about both variants of the case in `place`; `raw` is a folder to keep the answers in."""
    facts = json.loads((place / "case.json").read_text())
    answers = {}
    for variant in ("faulty", "repaired"):
        files = place / variant
        start = time.perf_counter()
        answer = question(files / "model.keras", files / "data.npz", json.loads((files / "fit.json").read_text()))
        answers[variant] = {**answer, "seconds": round(time.perf_counter() - start, 2)}
        if raw is not None:
            (raw / f"{facts['id']}.{variant}.json").write_text(json.dumps(answers[variant], indent=1))
    return diagnosis_scores.score(facts, answers["faulty"], answers["repaired"])


def run(folder: Path) -> dict[str, Any]:
    """Scores the given programs through the command line."""
    scores = [examined(folder / name, ask) for name in build_all(folder, "given")]
    figures = diagnosis_scores.totals(scores)
    good = figures["diagnosed_fraction"] >= 0.9 and figures["precision"] >= 0.6
    return {
        **figures,
        "missed": [one.id for one in scores if not one.diagnosed],
        "alarms": {one.id: list(one.alarms) for one in scores if one.alarms},
        "holds": good and figures["false_alarm_fraction"] <= 0.05,
    }


def main() -> int:
    """Builds or scores; returns 1 when an answer is missing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.diagnosis", description=__doc__)
    parser.add_argument(
        "--build", type=Path, metavar="FOLDER", help="write the cases there, again if they are there, and end"
    )
    parser.add_argument(
        "--cases", type=Path, metavar="FOLDER", help="score the cases there; what is missing is built first"
    )
    parser.add_argument("--split", choices=["given", "dev", "held_out", "all"], default="given")
    parser.add_argument("--only", default="", metavar="ID,…", help="just these cases")
    parser.add_argument("--warm", action="store_true", help="one engine in this process instead of the command line")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the tables there, as Markdown")
    parser.add_argument("--raw", type=Path, metavar="FOLDER", help="keep every answer there")
    options = parser.parse_args()
    only = tuple(name for name in options.only.split(",") if name)
    if options.build:
        print("\n".join(build_all(options.build, options.split, only, again=True)))
        return 0
    with contextlib.ExitStack() as stack:
        folder = options.cases or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stethoscope-bench-")))
        question = stack.enter_context(warm()) if options.warm else ask
        if options.raw:
            options.raw.mkdir(parents=True, exist_ok=True)
        scores = []
        for name in build_all(folder, options.split, only):
            scores.append(examined(folder / name, question, options.raw))
            print(diagnosis_scores.line(scores[-1]), flush=True)
    found = diagnosis_scores.to_json(scores)
    print(json.dumps({"totals": found["totals"], "checks": found["checks"]}, indent=1))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    if options.table:
        options.table.write_text(diagnosis_scores.markdown(scores))
    return 1 if any(one.errors for one in scores) else 0


BENCHMARK = Benchmark(
    "diagnosis",
    "of the given faulty programs at least 90 % are diagnosed, at a precision of at least .6, with at most 5 % alarms on the repaired",
    run,
)

if __name__ == "__main__":
    sys.exit(main())
