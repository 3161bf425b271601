"""TensorBoard event files, as Keras' TensorBoard callback, tf.summary and PyTorch write them."""

from __future__ import annotations

from pathlib import Path

from stethoscope.logs.event_file import is_event_file
from stethoscope.logs.event_folder import EventFolder, event_files
from stethoscope.logs.series import RunLog


class TensorBoard:
    """Reads files with "tfevents" in their name."""

    id = "tensorboard"
    title = "TensorBoard event files"

    def sniff(self, place: Path) -> bool:
        """Whether an event file is there."""
        return any(is_event_file(path) for path in event_files(place))

    def read(self, place: Path) -> tuple[RunLog, ...]:
        """One run per folder, by the time of its last file."""
        return EventFolder(place).poll()


TRACKER = TensorBoard()
