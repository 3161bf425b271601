"""Gathers the curves of the run to diagnose from whatever logs are there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from stethoscope.errors import UnreadableFile
from stethoscope.logs import all_trackers
from stethoscope.logs.as_curve import curve_of
from stethoscope.logs.evidence.curves import CurveEvidence
from stethoscope.logs.walk import walked_once

ENOUGH_POINTS = 5
"""Fewer do not show how a training goes: such a run has only begun, or was started by mistake."""


def gather_logs(place: Path, name: str = "") -> CurveEvidence:
    """Reads the logs in a folder, or one log file; returns the run to diagnose.

    The newest run whose training loss has `ENOUGH_POINTS` or went wrong is chosen; where none has, the one with most.
    Among trackers that logged it, the one with validation and most points.

    Raises:
        UnreadableFile: no known kind of log is there.
    """
    found: list[CurveEvidence] = []
    newest: list[CurveEvidence] = []
    with walked_once(place):
        for tracker in all_trackers().values():
            if tracker.sniff(place):
                runs = [curve for run in tracker.read(place) if (curve := curve_of(run)) is not None]
                found.extend(runs)
                newest.extend(_newest([run for run in runs if run.loss]))
    if not found:
        kinds = ", ".join(tracker.title for tracker in all_trackers().values())
        raise UnreadableFile(
            f"{name or place.name}: expected training logs ({kinds}), got none. Send the folder the training wrote to."
        )
    return max(newest or found, key=lambda run: (bool(run.loss), bool(run.val_loss), len(run.steps)))


def _newest(runs: Sequence[CurveEvidence]) -> list[CurveEvidence]:
    """The last of the runs that tells something, of runs in the order they began; none of none."""
    telling = [run for run in runs if len(run.loss) >= ENOUGH_POINTS or not all(map(math.isfinite, run.loss))]
    return telling[-1:] or sorted(runs, key=lambda run: len(run.loss))[-1:]
