"""Opening data in tests: one file written, opened by whatever recognises it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stethoscope.data import open_data
from stethoscope.data.dataset import Dataset
from stethoscope.types import ModelFile

BUDGET = 256 << 20


def put(folder: Path, name: str, content: bytes | str) -> ModelFile:
    """Writes one file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return ModelFile.at(path)


def opened(file: ModelFile, **options: Any) -> Dataset:
    """Opens it."""
    return open_data(file, BUDGET, options)
