"""Read every run of training logs into columns that the server can map, or what was appended since an earlier reading."""

from __future__ import annotations

import json
from dataclasses import dataclass

from stethoscope.logs import no_logs
from stethoscope.logs.runs.columns import write
from stethoscope.logs.runs.gather import gather
from stethoscope.logs.walk import log_place
from stethoscope.task import TaskContext

POSITIONS = "positions.json"
"""Where to go on: handed back as the file "since"."""
_READING = 0.8


@dataclass(frozen=True)
class RunsRead:
    """What a reading found; the files beside it are what `RunTable` opens."""

    title: str
    changed: bool
    """Whether anything is new or gone since the reading it goes on from; there are no files where nothing is."""
    runs: int
    tags: int
    points: int
    left_out: tuple[str, ...]
    """What was left out of the log as a whole, in sentences."""


class ReadRuns:
    """Files: "logs", an archive, a folder or one log file; "since" (optional), `POSITIONS` of an earlier answer. Params: `follow`, whether to leave `POSITIONS`."""

    kind = "read_runs"
    answer = RunsRead

    def run(self, context: TaskContext) -> RunsRead:
        """Reads the whole log, or what came "since".

        Raises:
            UnreadableFile: no known kind of log is there, and nothing had been read before.
        """
        file = context.files["logs"]
        context.report("read", message=f"reading {file.name}")
        since = context.files.get("since")
        before = None if since is None else json.loads(since.path.read_bytes())
        place = log_place(file, context.folder)
        found, changed = gather(
            place, before, lambda what, part: context.report("read", part * _READING, f"reading {what} of {file.name}")
        )
        follow = bool(context.params.get("follow"))
        if not found.runs and not follow:
            raise no_logs(file.name)
        out = context.folder / "out"
        points = 0
        if changed:
            points = write(found, out, file.name, lambda part: context.report("save", _READING + part * (1 - _READING)))
            if follow:
                (out / POSITIONS).write_text(json.dumps(found.state))
        tags = len({one.series.tag for one in found.pieces})
        return RunsRead(file.name, changed, len(found.runs), tags, points, tuple(found.left_out))


TASK = ReadRuns()
