"""What a parent and its workers say to each other, and where a job stands: JSON in its folder, nothing that can execute.

job.json        parent → worker    the job
result.json     worker → parent    {"status", "value", "reason", "error", "peak_rss_bytes", "log"}
partial.json    worker → parent    what was known when the worker was killed
foretold.json   worker → parent    the largest tensors the model will need
out/            worker → parent    arrays and blobs
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from stethoscope.distrusted_json import read_json
from stethoscope.types import Budget, Job, JobResult, ModelFile, Progress, Status

MAX_PROGRESS_LINE_BYTES = 4096
DISK_FULL = (
    "The server's disk is full, so this run could not keep its results. "
    "Remove models you no longer need, or ask whoever runs this server; then run it again."
)


def write_job(folder: Path, job: Job, *, require_containment: bool = False) -> None:
    """Leaves `job` in `folder` for a worker."""
    value = {
        "kind": job.kind,
        "files": {role: [str(file.path.absolute()), file.name, file.sha256] for role, file in job.files.items()},
        "params": dict(job.params),
        "budget": [job.budget.memory_bytes, job.budget.timeout_s, job.budget.disk_bytes],
        "worker": job.worker,
        "require_containment": require_containment,
    }
    (folder / "job.json").write_text(json.dumps(value))


def read_job(folder: Path) -> tuple[Job, bool]:
    """The inverse of `write_job`: the job, and whether it insists on containment."""
    value = json.loads((folder / "job.json").read_text())
    job = Job(
        kind=value["kind"],
        files={role: ModelFile(Path(path), name, sha256) for role, (path, name, sha256) in value["files"].items()},
        params=value["params"],
        budget=Budget(*value["budget"]),
        worker=value["worker"],
    )
    return job, bool(value["require_containment"])


def output_files(folder: Path) -> dict[str, Path]:
    """Returns the plain files a worker left in out/, by name; links and anything else are passed over."""
    out = folder / "out"
    if out.is_symlink() or not out.is_dir():
        return {}
    return {
        entry.name: Path(entry.path)
        for entry in os.scandir(out)
        if entry.is_file(follow_symlinks=False) and not entry.is_symlink()
    }


_KEPT = ("id", "kind", "owner", "entry_id", "created_s", "started_s", "finished_s", "cache_key")
"""Of a finished job, beside its parameters and its result."""


@dataclass(frozen=True)
class JobState:
    """A snapshot of one job. Times are Unix seconds; `queue_position` is 0 once it runs."""

    id: str
    kind: str
    owner: str
    entry_id: str
    created_s: float
    params: Mapping[str, Any] = field(default_factory=dict)
    status: Literal["queued", "running", "done"] = "queued"
    progress: Progress = field(default_factory=Progress)
    queue_position: int = 0
    started_s: float | None = None
    finished_s: float | None = None
    result: JobResult | None = None
    cached: bool = False
    cache_key: str = ""

    @property
    def done(self) -> bool:
        """Whether there is a result."""
        return self.status == "done"

    def save(self, folder: Path) -> None:
        """Keeps a finished job in `folder`, for the time after a restart."""
        assert self.result is not None
        result = {name: value for name, value in vars(self.result).items() if name != "files"}
        value = {
            **{name: getattr(self, name) for name in _KEPT},
            "params": dict(self.params),
            "result": {**result, "status": self.result.status.value},
        }
        temporary = folder / "final.tmp"
        try:
            temporary.write_text(json.dumps(value))
            temporary.replace(folder / "final.json")
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, folder: Path) -> Self | None:
        """A finished job as `save` left it; None where there is none."""
        value = read_json(folder / "final.json")
        if value is None:
            return None
        result = dict(value["result"])
        result["status"] = Status(result["status"])
        return cls(
            **{**value, "result": JobResult(**result, files=output_files(folder))},
            status="done",
            progress=Progress("done", 1.0),
        )

    def with_changes(self, **changes: Any) -> Self:
        """A copy with some fields replaced."""
        return replace(self, **changes)
