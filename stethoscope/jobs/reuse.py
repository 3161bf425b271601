"""When an answer that is there already answers a job, and where the index of such answers is."""

from __future__ import annotations

import functools
import hashlib
import json
import secrets
from pathlib import Path

from stethoscope import __version__
from stethoscope.types import Job, JobResult, Status


def cache_key(job: Job) -> str:
    """What makes two jobs equal: content of the files, kind, parameters, budget and version; "" when a content is not known."""
    if not job.files or not all(file.sha256 for file in job.files.values()):
        return ""
    earlier = {role: cache_key(one) for role, one in job.after.items()}
    if not all(earlier.values()):
        return ""
    identity = {
        "kind": job.kind,
        "files": {role: [file.sha256, file.suffix] for role, file in job.files.items()},
        "params": dict(job.params),
        "after": earlier,
        "budget": [job.budget.memory_bytes, job.budget.timeout_s],
        "version": f"{__version__}+{_code_fingerprint()}",
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


@functools.cache
def _code_fingerprint() -> str:
    """Changes with the engine's code: what an older version found is not shown as this one's answer."""
    root = Path(__file__).resolve().parents[1]
    found = sorted(
        (str(path.relative_to(root)), path.stat().st_size, path.stat().st_mtime_ns) for path in root.rglob("*.py")
    )
    return hashlib.sha256(repr(found).encode()).hexdigest()[:12]


def reusable(result: JobResult) -> bool:
    """What would come out the same again: answers, and refusals that rest on the file alone."""
    return result.status is Status.OK or (
        bool(result.error) and result.error not in ("StethoscopeError", "OutOfMemory", "QuotaExceeded")
    )


def write_index(path: Path, job_id: str) -> None:
    """Notes which job has the answer, in one step."""
    temporary = path.with_suffix(f".{secrets.token_hex(4)}.tmp")
    temporary.write_text(json.dumps({"job": job_id}))
    temporary.replace(path)
