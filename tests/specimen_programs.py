"""The programs of all specimens and what is known of them: built and diagnosed, or judged by what was recorded of them once.

A check is a pure function of evidence. The evidence of each specimen and of its twin was gathered once; it is judged anew in
each run. About twelve programs, other ones for each commit, are built and diagnosed from the start, and so is each whose
evidence the code has left behind.
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sample_models import specimens
from sample_models.specimen import Specimen
from stethoscope.codec import answer_of
from stethoscope.discover import discover
from stethoscope.evidence.fit import FitSettings
from stethoscope.studies.diagnosis.report import Report, Request
from stethoscope.studies.diagnosis.run import Diagnosis
from stethoscope.tasks.examine_runs import LogReport
from stethoscope.types import Budget, Job, ModelFile
from tests.recorded import FOLDER, NotRecorded, RecordedEngine, content, recorded, recording_folder, source_of
from tests.sources import PROJECT

RECORD = FOLDER / "specimens.json"
PROGRAMS = ("faulty", "healthy")
LIVE = 12
"""How many programs are built and diagnosed in each run."""
_FILES = {"model": "model.keras", "data": "data.npz", "logs": "logs"}
_BUILD = """
import gc, json, sys
from pathlib import Path
import numpy as np
import keras
from sample_models import specimens
from sample_models.canonical import save_keras
from stethoscope.discover import discover

gc.freeze()  # every clear_session collects garbage: not among all of TensorFlow each time
folder, wanted = Path(sys.argv[1]), json.loads(sys.argv[2])
for check_id, specimen in discover(specimens, "SPECIMEN", "check_id").items():
    for name in ("faulty", "healthy"):
        if f"{check_id}/{name}" not in wanted:
            continue
        keras.utils.clear_session()
        keras.utils.set_random_seed(0)
        program = getattr(specimen, name)()
        place = folder / check_id / name
        place.mkdir(parents=True)
        if program.model is not None:
            save_keras(program.model, place / "model.keras")
        if program.arrays is not None:
            np.savez(place / "data.npz", **program.arrays)
        if program.logs is not None:
            (place / "logs").mkdir()
            program.logs(place / "logs")
        (place / "fit.json").write_text(json.dumps(dict(program.fit)))
"""


@functools.cache
def all_specimens() -> dict[str, Specimen]:
    """Every specimen by the id of its check."""
    found: dict[str, Specimen] = discover(specimens, "SPECIMEN", "check_id")
    return found


def all_programs() -> list[str]:
    """Every program as "check/faulty" or "check/healthy"."""
    return [f"{check_id}/{name}" for check_id in all_specimens() for name in PROGRAMS]


def source(program: str) -> str:
    """Changes with the code that builds a program, and with the versions of what it is built with."""
    module = program.split("/")[0].replace("-", "_")
    return source_of([f"sample_models.specimens.{module}", "sample_models.canonical"])


def _current(program: str, kept: Mapping[str, Any] | None) -> bool:
    """Whether all that was recorded of a program still follows from the code."""
    if kept is None or kept["source"] != source(program):
        return False
    return all(key in recorded(kind) for kind, key in kept["asked"])


class SpecimenPrograms:
    """Built below `folder`, which the workers of a test run share: each program once.

    Args:
        folder: holds a folder for each program that was built.
        engine: diagnoses them.
        commit: chooses which ones are diagnosed from the start.
        live: how many are, beside those whose evidence the code has left behind.
    """

    def __init__(self, folder: Path, engine: RecordedEngine, commit: int, *, live: int = LIVE) -> None:
        self._folder, self._engine = folder, engine
        self._record: dict[str, Any] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
        programs = all_programs()
        start = commit * LIVE % len(programs)
        turn = {programs[(start + place) % len(programs)] for place in range(live)}
        self.live = [one for one in programs if one in turn or not _current(one, self._record.get(one))]
        self._build(self.live)

    def diagnose(self, program: str) -> Report:
        """What a diagnosis finds in a program."""
        trains = all_specimens()[program.split("/")[0]].trains
        if program not in self.live:
            try:
                with self._engine.only_recorded():
                    return self._diagnosed(self._recorded_files(program), self._record[program]["fit"], trains)
            except NotRecorded:  # the diagnosis asks for something else than it did: they are all diagnosed from now on
                self.live = all_programs()
                self._build(self.live)
        place = self._folder / program
        files = {
            role: ModelFile(place / name, name, content(ModelFile.at(place / name)))
            for role, name in _FILES.items()
            if (place / name).exists()
        }
        fit = json.loads((place / "fit.json").read_text())
        with self._engine.live(keeps=True), self._engine.asked() as keys:
            report = self._diagnosed(files, fit, trains)
        self._keep(program, files, fit, keys)
        return report

    def arrays(self) -> list[Path]:
        """The data files of those that were built."""
        return sorted(self._folder.rglob("data.npz"))

    def _recorded_files(self, program: str) -> dict[str, ModelFile]:
        files = self._record[program]["files"]
        return {
            role: ModelFile(Path("not-built") / _FILES[role], _FILES[role], sha256) for role, sha256 in files.items()
        }

    def _diagnosed(self, files: Mapping[str, ModelFile], fit: Mapping[str, Any], trains: bool) -> Report:
        if "model" not in files:
            return self._judged(files["logs"])
        request = Request(
            model=files["model"],
            data=files.get("data"),
            logs=files.get("logs"),
            fit=FitSettings.from_mapping(fit) if trains else None,
            memory_bytes=3 << 30,
            train_s=60.0,
        )
        return Diagnosis(self._engine, request).run()

    def _judged(self, logs: ModelFile) -> Report:
        """Logs by themselves, as `stethoscope curves` judges them."""
        result = self._engine.wait(self._engine.submit(Job("examine_runs", {"logs": logs}, {}, Budget(1 << 30, 60))))
        judged = answer_of(result, LogReport)
        return Report({}, judged.findings, judged.outcomes, status=result.status, reason=result.reason)

    def _keep(self, program: str, files: Mapping[str, ModelFile], fit: Any, asked: list[tuple[str, str]]) -> None:
        place = recording_folder()
        if place is not None and not _current(program, self._record.get(program)):
            told = {
                "files": {role: file.sha256 for role, file in files.items()},
                "fit": fit,
                "asked": sorted(asked),
                "source": source(program),
            }
            with (place / f"{os.getpid()}.specimens").open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({program: told}) + "\n")

    def _build(self, programs: list[str]) -> None:
        """Builds those that are not there, in one process that has TensorFlow."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "building").open("w") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            missing = [one for one in programs if not (self._folder / one / "fit.json").exists()]
            if not missing:
                return
            done = subprocess.run(
                [sys.executable, "-c", _BUILD, str(self._folder), json.dumps(missing)],
                cwd=PROJECT,
                env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr[-3000:]


def left_behind() -> tuple[int, int]:
    """How many recorded programs the code has left behind, and how many there are."""
    known = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    return sum(1 for program, kept in known.items() if not _current(program, kept)), len(known)


def keys() -> set[str]:
    """The answers that the recorded programs need, those too that were diagnosed from the start in this run."""
    known = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    return {key for program in known.values() for _, key in program["asked"]}


def merge(parts: list[Path]) -> int:
    """Writes what was recorded of programs over what is kept; returns how many are kept."""
    known = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    for part in parts:
        for line in part.read_text("utf-8").splitlines():
            known |= json.loads(line)
    kept = {program: known[program] for program in sorted(known) if program in set(all_programs())}
    RECORD.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    return len(kept)
