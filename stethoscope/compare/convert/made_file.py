"""What a conversion has made, opened as any other file: by its content, in the runtime it is for."""

from __future__ import annotations

from pathlib import Path

from stethoscope.models.formats import detect
from stethoscope.types import Architecture, ModelFile, Runner


def open_made(path: Path, scratch: Path) -> tuple[Architecture, Runner]:
    """Opens a file that this very job wrote; the code in it is that of its source, which the owner has allowed.

    Args:
        path: the file, or the folder of a SavedModel.
        scratch: an empty folder that opening may fill.

    Raises:
        CannotRun, UnreadableFile: its runtime refuses it.
    """
    file = ModelFile(path, path.name)
    kind = detect(file)
    return kind.describe(file), kind.open(file, scratch, trusted=True)
