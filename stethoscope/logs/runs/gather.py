"""Reads every log in a folder with every tracker: all of it, or what came since an earlier reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stethoscope.logs.runs.gather_events import gather_events
from stethoscope.logs.runs.gather_others import gather_others
from stethoscope.logs.runs.gathered import Gathered, first_state
from stethoscope.logs.walk import MAX_FILES, walked_once

Progress = Callable[[str, float], None]


def gather(
    place: Path, since: Mapping[str, Any] | None = None, progress: Progress = lambda _what, _part: None
) -> tuple[Gathered, bool]:
    """Reads the folder or file at `place`; returns what was found, and whether anything is new or gone.

    Args:
        place: what to read.
        since: `Gathered.state` of an earlier reading; only points that came after it are gathered then.
        progress: told what is read, and which part of it is done.
    """
    before = since or first_state()
    found = Gathered()
    found.state["serial"] = before["serial"]
    with walked_once(place) as walk:
        if not walk.complete:
            found.left_out.append(
                f"there are more than {MAX_FILES:,} files or folders: logs were looked for among the first"
            )
        gather_events(place, before["events"], found, progress)
        gather_others(place, before, found, progress)
    found.finish()
    return found, since is None or bool(found.pieces or found.media) or found.state["seen"] != before["seen"]
