"""Archives that hold no model of ours: what is in them instead."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path, PurePosixPath

from stethoscope.models.containers.damage import ARCHIVE

_IMAGES = {".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff"}
_MODELS = {".keras", ".h5", ".hdf5", ".tflite", ".onnx", ".pb", ".pbtxt"}
_TORCH = "Export the model to ONNX (torch.onnx.export) and upload that."


def in_zip(path: Path) -> str:
    """Returns what a file that starts like a ZIP is, without "is"; reads its directory only."""
    try:
        with zipfile.ZipFile(path) as backend:
            names = [name for name in backend.namelist() if not name.startswith("__MACOSX/")]
    except ARCHIVE:
        return "a ZIP whose directory is missing or damaged: the upload is incomplete. Upload it again."
    files = [PurePosixPath(name) for name in names if not name.endswith("/")]
    base = {file.name for file in files}
    suffixes = [file.suffix.lower() for file in files]
    known = _known_zip(base, suffixes, names)
    if known is not None:
        return known
    return f"a ZIP archive{_with(files)} and no model in it. Pack a SavedModel folder, or upload the model file itself."


def _known_zip(base: set[str], suffixes: list[str], names: list[str]) -> str | None:
    if not names:
        return "an empty ZIP archive. Pack the model again."
    if "data.pkl" in base:
        kind = "a TorchScript model" if "constants.pkl" in base else "a PyTorch checkpoint"
        return f"{kind}, not a TensorFlow model. {_TORCH}"
    if suffixes and all(suffix == ".npy" for suffix in suffixes):
        return "a NumPy archive (.npz): data or weights without an architecture. Give it as sample data, or upload the whole model."
    if "com.apple.CoreML" in " ".join(names) or ".mlmodel" in suffixes:
        return "a Core ML package, which runs only on Apple systems. Upload the model it was converted from."
    if "model.json" in base and ".bin" in suffixes:
        return "a TensorFlow.js model. Upload the Keras model or SavedModel it was converted from."
    if "AndroidManifest.xml" in base or "META-INF/MANIFEST.MF" in names:
        return "an Android or Java package, not a model. Upload the .tflite or other model inside it."
    if "[Content_Types].xml" in base:
        return "an Office document, not a model. Upload the model file itself."
    if any(name.startswith("variables.") for name in base) and "saved_model.pb" not in base:
        return "an archive of a SavedModel's variables without its saved_model.pb. Pack the whole folder."
    if {"config.json", "metadata.json"} & base and "model.weights.h5" in base:
        return "a .keras archive with a part missing (config.json, metadata.json). Save the model again."
    if any(name.endswith(".index") for name in base) and any(".data-" in name for name in base):
        return "a TensorFlow checkpoint: weights without an architecture. Upload a SavedModel or a .keras file."
    if ".safetensors" in suffixes:
        return "an archive of safetensors weights without an architecture. Load them into a model and save that whole."
    models = [name for name in base if PurePosixPath(name).suffix.lower() in _MODELS]
    if models:
        return f"a ZIP archive around {_short(sorted(models)[0])}. Unpack it and upload that file itself."
    images = sum(suffix in _IMAGES for suffix in suffixes)
    if images and images * 2 >= len(suffixes):
        return f"a ZIP of {images:,} images: data, not a model. Give it as sample data (the Data page, or --data)."
    return None


def in_gzip(path: Path) -> str:
    """Returns what a gzip file holds, without "is"; inflates 512 bytes."""
    try:
        with gzip.open(path) as stream:
            head = stream.read(512)
    except ARCHIVE:
        return "gzip-compressed, but incomplete or damaged. Upload it again."
    if head[257:262] == b"ustar":
        name = head[:100].split(b"\0")[0].decode("utf-8", "replace")
        return f"a .tar.gz without a model in it (it starts with {_short(name)}). Pack a SavedModel folder, or upload the model file itself."
    return "a single gzip-compressed file. Decompress it (gunzip) and upload what is inside."


def _with(files: list[PurePosixPath]) -> str:
    shown = ", ".join(_short(file.name) for file in files[:3])
    more = f" and {len(files) - 3:,} more" if len(files) > 3 else ""
    return f" with {shown}{more}" if files else " with empty folders only"


def _short(name: str) -> str:
    plain = "".join(character if character.isprintable() else "?" for character in name)
    return plain if len(plain) <= 60 else f"{plain[:57]}…"
