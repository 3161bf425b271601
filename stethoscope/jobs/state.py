"""Where a job stands: what pages and the command line see of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from stethoscope.distrusted_json import read_json
from stethoscope.jobs import protocol
from stethoscope.types import JobResult, Progress, Status


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
        value = {
            "id": self.id,
            "kind": self.kind,
            "owner": self.owner,
            "entry_id": self.entry_id,
            "created_s": self.created_s,
            "params": dict(self.params),
            "started_s": self.started_s,
            "finished_s": self.finished_s,
            "cache_key": self.cache_key,
            "result": {
                "status": self.result.status.value,
                "value": self.result.value,
                "reason": self.result.reason,
                "phase": self.result.phase,
                "peak_rss_bytes": self.result.peak_rss_bytes,
                "wall_s": self.result.wall_s,
                "error": self.result.error,
                "incident": self.result.incident,
            },
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
            **{**value, "result": JobResult(**result, files=protocol.output_files(folder))},
            status="done",
            progress=Progress("done", 1.0),
        )

    def with_changes(self, **changes: Any) -> Self:
        """A copy with some fields replaced."""
        return replace(self, **changes)
