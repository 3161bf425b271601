"""Answers of workers that were recorded once and are given again for as long as they still follow from the code.

A job's answer is kept under what was asked (kind, content and name of its files, parameters, budget), with a fingerprint of
every definition that could have had a part in it, of the versions of the frameworks, and of Python's. `RecordedEngine` gives
it again while that fingerprint stands; a job whose code has changed runs, as does one that was never recorded.
So a test that gets a recorded answer would have got the same from a worker, and a fault in what a worker runs is met by a
worker. `make test-all` gives nothing again; `make record` records anew.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import threading
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from sample_models import BUILT
from stethoscope.jobs import protocol
from stethoscope.jobs.job_engine import Engine
from stethoscope.jobs.job_states import cache_key, reusable
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.supervisor import Queued
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status
from tests import definitions

FOLDER = Path(__file__).with_name("recordings")
_LIVE = FOLDER / "live.json"
_PACKAGES = (
    "tensorflow",
    "keras",
    "tf-keras",
    "numpy",
    "onnx",
    "onnxruntime",
    "ai-edge-litert",
    "tf2onnx",
    "h5py",
    "scipy",
    "scikit-learn",
    "pyarrow",
    "pillow",
)
_MOST_BYTES_OF_FILE = 512 << 20
_MOST_BYTES_OF_ANSWER = 200 << 10
_LONG_AGO_S = time.time() - 3_600
"""When planted answers were given last; old enough to be told from now, too young to have expired."""
_RUNS_EVERY_JOB = ("stethoscope.jobs.worker.child", "stethoscope.jobs.worker.server", "stethoscope.jobs.job_engine")


@functools.cache
def fingerprint(kind: str) -> str:
    """Changes with every definition that a worker may run for this kind of job, and with the versions of what they use."""
    # The worker finds a task by its kind: of all tasks it runs this one.
    return source_of(_RUNS_EVERY_JOB, sought=[(f"stethoscope.tasks.{kind}", "TASK")], closed=["stethoscope.tasks"])


def source_of(modules: Iterable[str], *, sought: Iterable[definitions.Node] = (), closed: Iterable[str] = ()) -> str:
    """Changes with those modules, with what is sought in others, with all they rest on, and with the versions.

    What lies beside the `closed` modules is not looked for.
    """
    rests_on = definitions.fingerprint(modules, sought=sought, closed=closed)
    return hashlib.sha256(f"{_versions()} {rests_on}".encode()).hexdigest()[:16]


@functools.cache
def _versions() -> str:
    return f"{sys.version_info[:2]} {platform.machine()} " + " ".join(
        importlib.metadata.version(name) for name in _PACKAGES
    )


def identity_of(job: Job) -> dict[str, Any] | None:
    """What was asked, as JSON; None where a file is too large to be looked at for this.

    None also of a log that is followed: where to go on is said of this very file, and not of the like of it that was recorded.
    """
    if job.params.get("follow"):
        return None
    files = {role: [content(file), file.name] for role, file in sorted(job.files.items())}
    after = {role: identity_of(one) for role, one in sorted(job.after.items())}
    if not all(sha256 for sha256, _ in files.values()) or None in after.values():
        return None
    budget = [job.budget.memory_bytes, job.budget.timeout_s, job.budget.disk_bytes]
    params = json.loads(json.dumps(dict(job.params)))
    return {"kind": job.kind, "files": files, "params": params, "budget": budget, "worker": job.worker, "after": after}


def content(file: ModelFile) -> str:
    """The hash of what a file or a folder holds; "" where that is too much to read, or not there."""
    if file.sha256:
        return file.sha256
    path = file.path
    if not path.exists():
        return ""
    parts = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    if sum(one.stat().st_size for one in parts) > _MOST_BYTES_OF_FILE:
        return ""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    whole = hashlib.sha256()
    for one in parts:
        whole.update(f"{one.relative_to(path)}\0".encode() + hashlib.sha256(one.read_bytes()).digest())
    return whole.hexdigest()


def key_of(identity: Mapping[str, Any]) -> str:
    """The name of a recorded answer."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:20]


@functools.cache
def recorded(kind: str) -> dict[str, dict[str, Any]]:
    """The recorded answers of one kind of job that still follow from the code, by key."""
    return {entry["key"]: entry for entry in entries(kind) if entry["source"] == fingerprint(kind)}


def entries(kind: str) -> Iterator[dict[str, Any]]:
    """All recorded answers of one kind of job, those that the code has left behind too."""
    path = FOLDER / f"{kind}.jsonl"
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def result_of(entry: Mapping[str, Any], folder: Path) -> JobResult:
    """A recorded answer; the files that the worker left are written to `folder`/out."""
    for name, packed in entry["out"].items():
        (folder / "out").mkdir(exist_ok=True)
        (folder / "out" / name).write_bytes(zlib.decompress(base64.b85decode(packed)))
    told = dict(entry["result"])
    return JobResult(**{**told, "status": Status(told["status"])}, files=protocol.output_files(folder))


def entry_of(job: Job, result: JobResult, folder: Path) -> dict[str, Any] | None:
    """An answer as it is recorded; None where it cannot be: it is no answer, it is large, or it holds a path of its own."""
    identity = identity_of(job)
    if identity is None or not (reusable(result) or result.status is Status.OUT_OF_MEMORY):
        return None
    packed = {name: path.read_bytes() for name, path in result.files.items()}
    told = {
        "status": result.status.value,
        "value": result.value,
        "reason": result.reason,
        "phase": result.phase,
        "peak_rss_bytes": result.peak_rss_bytes,
        "wall_s": result.wall_s,
        "error": result.error,
        "incident": result.incident,
    }
    # Where the packages are installed is told by some of their messages: as a place of nobody's.
    text = json.dumps(told).replace(sys.prefix, "/python")
    paths = {str(folder), *(str(file.path.parent) for file in job.files.values())}
    if len(text) + sum(map(len, packed.values())) > _MOST_BYTES_OF_ANSWER or any(path in text for path in paths):
        return None
    out = {name: base64.b85encode(zlib.compress(held, 9)).decode() for name, held in sorted(packed.items())}
    key = key_of(identity)
    return {"key": key, "source": fingerprint(job.kind), "identity": identity, "result": json.loads(text), "out": out}


class NotRecorded(LookupError):
    """There is no recorded answer that still follows from the code."""


class RecordedEngine(Engine):
    """An engine that gives recorded answers where there are any, and runs every other job.

    Of the recorded ones some run all the same, the first time they are asked for: those of `live_keys`, and of each kind another
    one for each `turn`; a short one, for there are many.

    Attributes:
        replays: whether recorded answers are given.
        keeps: a file to which every answer is appended that could be recorded; None for no recording.
        given: the keys of recorded answers that were asked for.
        ran_as: the key of what a worker ran, by the job's id.
        ran: how many jobs were answered by a worker.
    """

    def __init__(
        self, *args: Any, replays: bool = True, keeps: Path | None = None, turn: int = 0, **options: Any
    ) -> None:
        self.replays, self.keeps, self._turn = replays, keeps, turn
        self._had_turn: set[str] = set()
        self._live = live_keys()
        self.given: set[str] = set()
        self.ran_as: dict[str, str] = {}
        self.ran = 0
        self._only_recorded = False
        self._keys: list[tuple[str, str]] = []
        self._asked: dict[str, Job] = {}
        self._writing = threading.Lock()
        super().__init__(*args, **options)

    @contextlib.contextmanager
    def live(self, *, keeps: bool = False) -> Iterator[None]:
        """While open, every job runs; what it answers is recorded only if `keeps`: a test may end or starve its worker."""
        before = self.replays, self.keeps
        self.replays, self.keeps = False, self.keeps if keeps else None
        try:
            yield
        finally:
            self.replays, self.keeps = before

    @contextlib.contextmanager
    def only_recorded(self) -> Iterator[None]:
        """While open, a job that has no recorded answer raises `NotRecorded`."""
        self._only_recorded = True
        try:
            yield
        finally:
            self._only_recorded = False

    @contextlib.contextmanager
    def asked(self) -> Iterator[list[tuple[str, str]]]:
        """Yields a list that is filled with kind and key of each answer that is asked for while it is open."""
        before, self._keys = self._keys, []
        try:
            yield self._keys
        finally:
            self._keys = before

    def submit(self, job: Job, *, owner: str = "", entry_id: str = "", fresh: bool = False) -> str:
        """As `Engine.submit`; a job that is asked for afresh runs."""
        identity = identity_of(job)
        recorded_as = "" if identity is None else key_of(identity)
        self._keys.append((job.kind, recorded_as))
        if self.replays and not fresh:
            entry = recorded(job.kind).get(recorded_as)
            if entry is not None and not self._runs_anyway(job.kind, recorded_as):
                self.given.add(entry["key"])
                key = cache_key(job)
                known = self._states.answered(key, owner, entry_id) if key and self._reuse else None
                return known or self._give(entry, job, owner, entry_id)
        if self._only_recorded:
            raise NotRecorded(f"{job.kind} of {sorted(file.name for file in job.files.values())}")
        self.ran += 1
        job_id = super().submit(job, owner=owner, entry_id=entry_id, fresh=fresh)
        self.ran_as[job_id] = recorded_as
        return job_id

    def _runs_anyway(self, kind: str, key: str) -> bool:
        """Whether this one is run all the same, the first time it is asked for."""
        if self._only_recorded:
            return False
        if key in self._live:
            self._live.discard(key)
            self.given.add(key)
            return True
        if kind in self._had_turn:
            return False
        by_time = sorted(recorded(kind).values(), key=lambda entry: entry["result"]["wall_s"])
        short = sorted(entry["key"] for entry in by_time[: (len(by_time) + 1) // 2])
        if short[self._turn % len(short)] != key:
            return False
        self._had_turn.add(kind)
        self.given.add(key)
        return True

    def _give(self, entry: Mapping[str, Any], job: Job, owner: str, entry_id: str) -> str:
        queued = super()._prepared(job, owner)
        result = result_of(entry, queued.folder)
        state = JobState(queued.id, job.kind, owner, entry_id, time.time(), dict(job.params), cache_key=cache_key(job))
        self._states.add([state.with_changes(started_s=time.time())])
        self._states.end(queued.id, result, keep=True)
        return queued.id

    def _prepared(self, job: Job, owner: str) -> Queued:
        queued = super()._prepared(job, owner)
        if self.keeps is not None:
            self._asked[queued.id] = job
        return queued

    def _close(self, job_id: str, result: JobResult) -> None:
        job = self._asked.pop(job_id, None)
        if job is not None and self.keeps is not None and result.status is not Status.CANCELLED:
            entry = entry_of(job, result, self._jobs_folder / job_id)
            if entry is not None and entry["key"] not in recorded(job.kind):
                with self._writing, self.keeps.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(entry) + "\n")
        super()._close(job_id, result)


class Overheard:
    """Notes what the jobs of an app in another process are asked while they run, and records what they answered at its end."""

    def __init__(self, workspace: Path, keeps: Path) -> None:
        self._folder, self._keeps = workspace / "jobs", keeps
        self._jobs: dict[str, Job] = {}
        self._over = threading.Event()
        self._listener = threading.Thread(target=self._listen)

    def __enter__(self) -> Self:
        self._listener.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._listener.join()
        with self._keeps.open("a", encoding="utf-8") as lines:
            for job_id, job in self._jobs.items():
                state = JobState.load(self._folder / job_id) if _is_of_samples(identity_of(job)) else None
                entry = None if state is None else entry_of(job, state.result, self._folder / job_id)
                if entry is not None:
                    lines.write(json.dumps(entry) + "\n")

    def _listen(self) -> None:
        while not self._over.wait(0.02):
            with contextlib.suppress(OSError, ValueError):
                for folder in self._folder.iterdir():
                    if folder.name not in self._jobs:
                        with contextlib.suppress(OSError, ValueError):
                            self._jobs[folder.name] = protocol.read_job(folder)[0]


def plant(workspace: Path, *, but: Collection[str] = ()) -> dict[str, str]:
    """Puts recorded answers about samples into the workspace of an app that is not running yet, as jobs that nobody owns.

    They answer equal jobs of anybody, by content: as answers that an earlier visitor got.

    Args:
        workspace: of the app.
        but: kinds of jobs that are to run.

    Returns:
        The key of the answer behind each planted job, by the job's id; see `used_of`.
    """
    engine = Engine(workspace, {"light": 1, "tensorflow": 1}, 1 << 30)
    planted: dict[str, str] = {}
    try:
        for kind in sorted({path.stem for path in FOLDER.glob("*.jsonl")} - set(but)):
            for entry in recorded(kind).values():
                if not _is_of_samples(entry["identity"]):
                    continue
                job = job_of(entry["identity"])
                queued = engine._prepared(job, "")
                state = JobState(queued.id, job.kind, "", "", time.time(), job.params, cache_key=cache_key(job))
                engine._states.add([state])
                engine._states.end(queued.id, result_of(entry, queued.folder), keep=True)
                os.utime(queued.folder, (_LONG_AGO_S, _LONG_AGO_S))
                planted[queued.id] = entry["key"]
    finally:
        engine.stop()
    return planted


def used_of(planted: Mapping[str, str], workspace: Path) -> set[str]:
    """The keys of those planted answers that somebody was given."""
    folders = {job_id: workspace / "jobs" / job_id for job_id in planted}
    return {
        planted[job_id]
        for job_id, folder in folders.items()
        if folder.exists() and folder.stat().st_mtime > _LONG_AGO_S + 1
    }


@functools.cache
def _samples() -> frozenset[str]:
    return frozenset(hashlib.sha256(path.read_bytes()).hexdigest() for path in BUILT.rglob("*") if path.is_file())


def _is_of_samples(identity: Mapping[str, Any] | None) -> bool:
    if identity is None:
        return False
    files = [sha256 for sha256, _ in identity["files"].values()]
    return bool(files) and _samples().issuperset(files) and all(map(_is_of_samples, identity["after"].values()))


def job_of(identity: Mapping[str, Any]) -> Job:
    """The job that was asked for; its files are known by content only."""
    files = {role: ModelFile(Path(name), name, sha256) for role, (sha256, name) in identity["files"].items()}
    after = {role: job_of(one) for role, one in identity["after"].items()}
    return Job(identity["kind"], files, identity["params"], Budget(*identity["budget"]), identity["worker"], after)


def merge(parts: list[Path], *, only: set[str] | None = None) -> dict[str, int]:
    """Writes what was recorded over what is kept; of what is kept, `only` these keys stay where that is given."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for path in sorted(FOLDER.glob("*.jsonl")):
        for entry in recorded(path.stem).values():
            found.setdefault(entry["identity"]["kind"], {})[entry["key"]] = entry
    for part in parts:
        for line in part.read_text("utf-8").splitlines():
            entry = json.loads(line)
            found.setdefault(entry["identity"]["kind"], {})[entry["key"]] = entry
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.jsonl"):
        path.unlink()
    counts = {}
    for kind, by_key in sorted(found.items()):
        kept = [entry for key, entry in sorted(by_key.items()) if only is None or key in only]
        if kept:
            counts[kind] = len(kept)
            text = "".join(json.dumps(entry, sort_keys=True) + "\n" for entry in kept)
            (FOLDER / f"{kind}.jsonl").write_text(text, "utf-8")
    return counts


def live_keys() -> set[str]:
    """The recorded answers whose jobs run every time; `benchmarks/suite_lines.py` chooses them."""
    return set(json.loads(_LIVE.read_text("utf-8")))


def keep_live(keys: Iterable[str]) -> None:
    """Writes down whose jobs run every time."""
    _LIVE.write_text(json.dumps(sorted(keys), indent=0) + "\n", "utf-8")


def left_behind() -> tuple[int, int]:
    """How many recorded answers the code has left behind, and how many there are."""
    kinds = [path.stem for path in FOLDER.glob("*.jsonl")]
    total = sum(1 for kind in kinds for _ in entries(kind))
    return total - sum(len(recorded(kind)) for kind in kinds), total


def forget() -> None:
    """Reads the recording again at the next question."""
    recorded.cache_clear()


def given_in(folder: Path) -> set[str]:
    """The keys of the answers that the workers of a run were given, as they wrote them down at their ends."""
    return {key for path in folder.glob("*.json") for key in json.loads(path.read_text("utf-8"))["given"]}


def recording_folder() -> Path | None:
    """Where this run records; None where it does not."""
    given = os.environ.get("STETHOSCOPE_TEST_RECORD")
    return Path(given) if given else None
