"""What a parent and its workers say to each other: JSON in the job's folder, and nothing that can execute.

job.json        parent → worker    the job
result.json     worker → parent    {"status", "value", "reason", "error", "peak_rss_bytes", "log"}
partial.json    worker → parent    what was known when the worker was killed
foretold.json   worker → parent    the largest tensors the model will need
out/            worker → parent    arrays and blobs
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from stethoscope.types import Budget, Job, ModelFile

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
