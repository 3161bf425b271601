"""The event files of one recording: a folder each for training and validation; each file says at which step it begins."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from stethoscope.training.recording.event_writer import EventWriter

TRAIN, VALIDATION = "train", "validation"


class RunFiles:
    """Makes files when there is something to write; a disk that fails ends the recording, never the training.

    Args:
        log_dir: holds the folders.
    """

    def __init__(self, log_dir: Path) -> None:
        self.log_dir = log_dir
        self.muted = False
        """Whether nothing is written, as by all but one of several machines that train together."""
        self._writers: dict[str, EventWriter] = {}
        self._first: Mapping[str, int] = {}
        self._failed = False

    def begin(self, first: Mapping[str, int]) -> None:
        """Later values go to new files.

        Args:
            first: by folder, the first step of its new file; what older files have from there on counts no longer.
        """
        self.close()
        self._first, self._failed = first, False

    def put(
        self,
        folder: str,
        step: int,
        values: Mapping[str, float],
        counts: Mapping[str, npt.NDArray[np.float64]] | None = None,
    ) -> None:
        """Writes scalars and histograms by tag; warns once when they cannot be written."""
        if self._failed or self.muted or not (values or counts):
            return
        try:
            if folder not in self._writers:
                self._writers[folder] = EventWriter(self.log_dir / folder)
                self._writers[folder].started(self._first.get(folder, step))
            self._writers[folder].scalars(step, values)
            self._writers[folder].histograms(step, counts or {})
        except OSError as error:
            self._failed = True
            warnings.warn(
                f"Recorder: nothing more is written to {self.log_dir}: {error}.", RuntimeWarning, stacklevel=2
            )

    def close(self) -> None:
        """Ends the files."""
        for writer in self._writers.values():
            writer.close()
        self._writers = {}
