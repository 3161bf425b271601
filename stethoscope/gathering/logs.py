"""Gathers curves from whatever logs are there, and chooses the run to diagnose."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from stethoscope.errors import UnreadableFile
from stethoscope.evidence.curves import CurveEvidence
from stethoscope.logs import all_trackers


class LoggedRuns(NamedTuple):
    """The run that is diagnosed, and all runs."""

    chosen: CurveEvidence
    runs: tuple[CurveEvidence, ...]


def gather_logs(place: Path, name: str = "") -> LoggedRuns:
    """Reads the logs in a folder, or one log file.

    The newest run with a training loss is chosen; among trackers that logged it, the one with validation and most points.

    Raises:
        UnreadableFile: no known kind of log is there.
    """
    found: list[CurveEvidence] = []
    newest: list[CurveEvidence] = []
    for tracker in all_trackers().values():
        if tracker.sniff(place):
            runs = tracker.read(place)
            found.extend(runs)
            newest.extend([run for run in runs if run.loss][-1:])
    if not found:
        kinds = ", ".join(tracker.title for tracker in all_trackers().values())
        raise UnreadableFile(
            f"{name or place.name}: expected training logs ({kinds}), got none. Send the folder the training wrote to."
        )
    chosen = max(newest or found, key=lambda run: (bool(run.loss), bool(run.val_loss), len(run.steps)))
    return LoggedRuns(chosen, tuple(found))
