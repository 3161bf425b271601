"""What people name on the command line as the files that are meant: a folder with one model in it, a pattern, one part of a checkpoint."""

from __future__ import annotations

import os
import re
from contextvars import ContextVar
from pathlib import Path

from stethoscope.errors import UnreadableFile
from stethoscope.types import ModelFile

_GRAPHS = ("saved_model.pb", "saved_model.pbtxt")
_MODELS = (".keras", ".h5", ".hdf5", ".tflite", ".onnx", ".pb", ".pbtxt", ".safetensors", ".ckpt")
_NO_MODELS = {"keras_metadata.pb", "fingerprint.pb", "saved_model_config.pb"}
_SHARD = re.compile(r"(.+)\.data-\d{5}-of-\d{5}")
_PATTERN = re.compile(r"[*?\[]")
_DEEPEST = 4
_MOST_FILES = 20_000


def expanded(word: str) -> list[Path]:
    """The models that a word stands for: a file, those that match a pattern, or those in a folder; a folder without any stands for itself.

    Raises:
        UnreadableFile: nothing matches the pattern.
    """
    path = Path(word)
    if path.is_dir():
        return models_in(path) or [path]
    if not path.exists() and _PATTERN.search(word):
        return _matching(word)
    return [path]


def is_pattern(word: str) -> bool:
    """Whether a word stands for several files, however many there happen to be."""
    return bool(_PATTERN.search(word)) and not Path(word).exists()


def model_meant(path: Path) -> Path:
    """The one model in a folder; a checkpoint's index for what its files begin with (`model.ckpt-20`) or one of them; else itself."""
    if path.is_dir():
        found = models_in(path)
        return found[0] if len(found) == 1 else path
    shard = _SHARD.fullmatch(path.name)
    index = path.with_name(f"{shard.group(1) if shard else path.name}.index")
    return index if (shard or not path.exists()) and index.is_file() else path


def shards_of(index: Path) -> list[Path]:
    """The data files beside a checkpoint's index."""
    return [path for path in sorted(index.parent.iterdir()) if path.name.startswith(f"{index.stem}.data-")]


def models_in(folder: Path) -> list[Path]:
    """The models in a folder and below it, by their names: files, folders of SavedModels, folders of checkpoints."""
    found: list[Path] = []
    seen = 0
    for parent, folders, names in os.walk(folder):
        here = Path(parent)
        folders.sort()
        seen += len(names)
        if seen > _MOST_FILES:
            break
        if any(name in _GRAPHS for name in names):
            found.append(here)
            folders.clear()  # its variables are its own
            continue
        if any(name.endswith(".index") for name in names) and any(_SHARD.fullmatch(name) for name in names):
            found.append(here)
        found += [here / name for name in sorted(names) if _is_model(here / name)]
        folders[:] = [name for name in folders if not name.startswith(".")]
        if len(here.relative_to(folder).parts) >= _DEEPEST:
            folders.clear()
    return found


def _is_model(path: Path) -> bool:
    """By its name; text that may be any message (`label_map.pbtxt`) by how it begins."""
    if not path.name.lower().endswith(_MODELS) or path.name in _NO_MODELS:
        return False
    if path.suffix.lower() != ".pbtxt":
        return True
    with path.open("rb") as stream:
        head = stream.read(4096)
    return b"node {" in head or b"node{" in head


def _matching(pattern: str) -> list[Path]:
    whole = Path(pattern)
    parts = whole.parts[1:] if whole.is_absolute() else whole.parts
    found = sorted((Path(whole.anchor) if whole.is_absolute() else Path()).glob("/".join(parts)))
    if not found:
        raise UnreadableFile(f"{pattern}: no such file, and none matches it as a pattern. Check the path.")
    return found


code_path: ContextVar[Path | None] = ContextVar("code_path", default=None)
"""The file of `--code` in the command under way."""


def code_given() -> ModelFile | None:
    """The file of `--code` in the command under way; None without one.

    Raises:
        UnreadableFile: it is not there.
    """
    place = code_path.get()
    if place is None:
        return None
    if not place.is_file():
        raise UnreadableFile(f"{place}: no such file. Check the path given for the code.")
    return ModelFile.at(place.resolve())
