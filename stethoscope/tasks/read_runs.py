"""Read every run of training logs into columns that the server can map, or what was appended since an earlier reading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stethoscope.errors import UnreadableFile
from stethoscope.logs import all_trackers
from stethoscope.runs.columns import write
from stethoscope.runs.gather import gather
from stethoscope.task import TaskContext
from stethoscope.tasks.log_place import log_place

POSITIONS = "positions.json"
"""Where to go on: handed back as the file "since"."""
_READING = 0.8


class ReadRuns:
    """Files: "logs", an archive, a folder or one log file; "since" (optional), `POSITIONS` of an earlier answer. Params: `follow`, whether to leave `POSITIONS`."""

    kind = "read_runs"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns {"title", "changed", "runs", "tags", "points", "left_out"}; the files are what `RunTable` opens.

        With "since", an answer that is not "changed" comes without files.

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
            kinds = ", ".join(tracker.title for tracker in all_trackers().values())
            raise UnreadableFile(
                f"{file.name}: expected training logs ({kinds}), got none. Send the folder the training wrote to."
            )
        out = context.folder / "out"
        points = 0
        if changed:
            points = write(found, out, file.name, lambda part: context.report("save", _READING + part * (1 - _READING)))
            if follow:
                (out / POSITIONS).write_text(json.dumps(found.state))
        return {
            "title": file.name,
            "changed": changed,
            "runs": len(found.runs),
            "tags": len({one.series.tag for one in found.pieces}),
            "points": points,
            "left_out": found.left_out,
        }


TASK = ReadRuns()
