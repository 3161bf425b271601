"""Folders that hold no model of ours: what they are instead, and which command reads them."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path, PurePosixPath

_MOST = 5_000
_DEEPEST = 4
_HEAD_BYTES = 1 << 16
_IMAGES = {".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff"}
_ROWS = {".csv", ".tsv", ".parquet", ".npy", ".npz", ".jsonl", ".tfrecord", ".tfrecords", ".wav"}
_METAGRAPH = re.compile(r"(ckpt|model|-\d+)[^/]*\.meta$")
_GIVE_DATA = "`stethoscope data` and the Data page read it, and other commands take it as --data."


def in_folder(folder: Path) -> str:
    """Returns what a folder is, a sentence without its name: "is an MLflow run: …". Reads names, and the head of a few files."""
    names = _names(folder)
    if not names:
        return "is an empty folder. Give the folder that holds the model, or one model file."
    top = {name for name in names if "/" not in name}
    base = {PurePosixPath(name).name for name in names}
    return (
        _parts_of_a_model(names, top, base)
        or _run_or_repository(folder, names, top, base)
        or _data(folder, names)
        or f"is a folder{_with(names)} and no model in it. Give the folder with a saved_model.pb, or one model file."
    )


def _names(folder: Path) -> list[str]:
    found: list[str] = []
    for parent, folders, files in os.walk(folder):
        here = Path(parent).relative_to(folder)
        found += [(here / name).as_posix() for name in sorted(files)]
        # A folder that tells what it belongs to by its name is looked into no further.
        found += [f"{(here / name).as_posix()}/" for name in folders if name in (".dvc", ".git")]
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if len(here.parts) >= _DEEPEST:
            folders.clear()
        if len(found) > _MOST:
            break
    return found


def _parts_of_a_model(names: list[str], top: set[str], base: set[str]) -> str | None:
    if {"config.json", "metadata.json"} <= top and "model.weights.h5" in top:
        return "is an unpacked .keras archive. Zip its three files, without a folder around them, as model.keras and give that."
    if "config.json" in top and any(name.endswith(("pytorch_model.bin", ".pth", ".pt")) for name in top):
        return "is a Hugging Face model of PyTorch. Export it (optimum-cli export onnx --model FOLDER OUT) and give the ONNX file."
    if "model.json" in top and any(name.endswith(".bin") for name in top):
        return "is a TensorFlow.js model. Give the Keras model or SavedModel it was converted from."
    if any(_METAGRAPH.search(name) for name in base):
        return (
            "holds a TensorFlow 1 MetaGraph (.meta) without the checkpoint's .index and .data files: a graph without weights. "
            "Bring these beside it, restore it and export a SavedModel."
        )
    if any(".data-" in name for name in base) and not any(name.endswith(".index") for name in base):
        return "holds the data of a TensorFlow checkpoint without its .index file, which says what lies where. Copy that too."
    if any(name.endswith(".index") for name in base):
        return (
            "holds the index of a TensorFlow checkpoint without its .data files: names and no values. Copy these too."
        )
    return None


def _run_or_repository(folder: Path, names: list[str], top: set[str], base: set[str]) -> str | None:
    if any("tfevents" in name for name in base):
        return "holds training logs of TensorBoard and no model. `stethoscope curves` and the Curves page read them."
    parts = {PurePosixPath(name).parts[0] for name in names if "/" in name}
    if "meta.yaml" in base and (parts & {"metrics", "params", "tags"} or any("/metrics/" in name for name in names)):
        what = (
            "an MLflow run"
            if "meta.yaml" in top and parts & {"metrics", "params", "tags"}
            else "a folder of MLflow runs"
        )
        return f"is {what} without a model in its artifacts. `stethoscope curves` and the Curves page read its curves."
    if "MLmodel" in top:
        return "is a model logged by MLflow, without a file of it that is read here. Give the model's own file (data/model.keras)."
    if any(name.startswith("wandb-") for name in parts) or "wandb-summary.json" in base:
        return "is a run of Weights & Biases and no model. `stethoscope curves` and the Curves page read it."
    if ".dvc/" in names or top & {"dvc.yaml", "dvc.lock"} or any(name.endswith(".dvc") for name in base):
        return (
            "is a DVC repository, without the model it keeps track of: `dvc pull` fetches that. `stethoscope versions` says which "
            "data, parameters and results it holds."
        )
    return None


def _data(folder: Path, names: list[str]) -> str | None:
    suffixes = Counter(PurePosixPath(name).suffix.lower() for name in names)
    images = sum(suffixes[suffix] for suffix in _IMAGES)
    kind = _annotations(folder, names)
    if kind:
        pictures = f" of {images:,} images" if images else ""
        return f"is a folder of {kind} annotations{pictures}: data, not a model. {_GIVE_DATA}"
    if images and 2 * images >= len(names):
        return f"is a folder of {images:,} images: data, not a model. {_GIVE_DATA}"
    if any(suffixes[suffix] for suffix in _ROWS):
        return f"is a folder of data{_with(names)}, and no model. Give one of these files: {_GIVE_DATA}"
    if suffixes[".py"] or suffixes[".ipynb"]:
        return (
            f"is a folder of scripts{_with(names)}, and no model. `stethoscope check train.py` reads a training script."
        )
    return None


def _annotations(folder: Path, names: list[str]) -> str:
    """Whose form they have, by the head of the first file of each kind; "" where there are none."""
    for suffix, tell in ((".json", _of_json), (".xml", _of_xml), (".txt", _of_text)):
        found = [name for name in names if name.lower().endswith(suffix)][:5]
        for name in found:
            kind = tell(_head(folder / name))
            if kind:
                return kind
    return ""


def _head(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(_HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _of_json(text: str) -> str:
    if '"annotations"' in text and '"images"' in text:
        return "COCO"
    return "LabelMe" if '"shapes"' in text and '"imagePath"' in text else ""


def _of_xml(text: str) -> str:
    if "<annotation" in text and "<polygon" in text and "<object>" in text:
        return "LabelMe"
    if "<annotation" in text and ("<object>" in text or "<filename>" in text):
        return "Pascal VOC"
    return "CVAT" if "<annotations>" in text and "<image " in text else ""


def _of_text(text: str) -> str:
    rows = [line.split() for line in text.splitlines()[:20] if line.strip()]
    if rows and "." in text and all(len(row) >= 5 and row[0].isdecimal() and _shares(row[1:]) for row in rows):
        return "YOLO"
    return "KITTI" if rows and all(len(row) in (15, 16) and row[0].isalpha() for row in rows) else ""


def _shares(words: list[str]) -> bool:
    try:
        return all(0 <= float(word) <= 1 for word in words)
    except ValueError:
        return False


def _with(names: list[str]) -> str:
    files = [PurePosixPath(name).name for name in names if not name.endswith("/")]
    plain = ["".join(one if one.isprintable() else "?" for one in name)[:60] for name in files[:3]]
    return f" with {', '.join(plain)}{f' and {len(files) - 3:,} more files' if len(files) > 3 else ''}" if plain else ""
