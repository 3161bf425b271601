"""Archives that hold no model of ours: what is in them instead.

Foreign files that are known by their first bytes.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from stethoscope.models.containers.damage import ARCHIVE

_IMAGES = {".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff"}
_MODELS = {".keras", ".h5", ".hdf5", ".tflite", ".onnx", ".pb", ".pbtxt"}
ACCEPTED = ".keras, .h5, a SavedModel (zip), .tflite, .onnx or a frozen .pb"
_COMPRESSIONS: dict[bytes, tuple[str, str, str, Callable[[Path], gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]]] = {
    b"\x1f\x8b": ("gzip", "gunzip", "gz", gzip.GzipFile),
    b"BZh": ("bzip2", "bunzip2", "bz2", bz2.BZ2File),
    b"\xfd7zXZ\0": ("xz", "unxz", "xz", lzma.LZMAFile),
}
COMPRESSED = tuple(_COMPRESSIONS)
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


def in_compressed(path: Path, head: bytes) -> str:
    """Returns what a file that begins with one of `COMPRESSED` is, without "is"; inflates 512 bytes."""
    title, tool, suffix, opened = next(found for magic, found in _COMPRESSIONS.items() if head.startswith(magic))
    try:
        with opened(path) as stream:
            inside = stream.read(512)
    except ARCHIVE:
        return f"{title}-compressed, but incomplete or damaged. Upload it again."
    if inside[257:262] == b"ustar":
        name = inside[:100].split(b"\0")[0].decode("utf-8", "replace")
        return f"a .tar.{suffix} without a model in it (it starts with {_short(name)}). Pack a SavedModel folder, or upload the model file itself."
    return f"a single {title}-compressed file, and only a tar may be compressed. Decompress it ({tool}) and upload what is inside: {ACCEPTED}."


def _with(files: list[PurePosixPath]) -> str:
    shown = ", ".join(_short(file.name) for file in files[:3])
    more = f" and {len(files) - 3:,} more" if len(files) > 3 else ""
    return f" with {shown}{more}" if files else " with empty folders only"


def _short(name: str) -> str:
    plain = "".join(character if character.isprintable() else "?" for character in name)
    return plain if len(plain) <= 60 else f"{plain[:57]}…"


_IMAGE = "an image, not a model. Give it as sample data (the Data page, or --data)."
_SOUND = "a sound or video file, not a model. Give WAV files as sample data (the Data page, or --data)."
_PROGRAM = "a program or library, not a model. Upload the model file itself."
_PACKED = "Unpack it and upload the model inside, or pack it as .zip or .tar.gz."

_GGML = "a GGML language model, which TensorFlow does not run. Use llama.cpp, or upload the model it was made from."
MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (
        0,
        b"version https://git-lfs.github.com/spec/",
        "a Git LFS pointer, not the model it stands for. Run `git lfs pull` and upload the real file.",
    ),
    (0, b"\x89PNG\r\n\x1a\n", _IMAGE),
    (0, b"\xff\xd8\xff", _IMAGE),
    (0, b"GIF8", _IMAGE),
    (0, b"II*\0", _IMAGE),
    (0, b"MM\0*", _IMAGE),
    (8, b"WEBP", _IMAGE),
    (8, b"WAVE", _SOUND),
    (8, b"AVI ", _SOUND),
    (4, b"ftyp", _SOUND),
    (0, b"ID3", _SOUND),
    (0, b"OggS", _SOUND),
    (0, b"fLaC", _SOUND),
    (0, b"%PDF-", "a PDF document, not a model. Upload the model file itself."),
    (0, b"\x7fELF", _PROGRAM),
    (0, b"MZ", _PROGRAM),
    (0, b"\xcf\xfa\xed\xfe", _PROGRAM),
    (0, b"\xca\xfe\xba\xbe", _PROGRAM),
    (0, b"\0asm", _PROGRAM),
    (0, b"#!", "a script, not a model. Run it and upload the model it saves."),
    (0, b"7z\xbc\xaf\x27\x1c", f"a 7z archive, which is not read here. {_PACKED}"),
    (0, b"Rar!\x1a\x07", f"a RAR archive, which is not read here. {_PACKED}"),
    (0, b"\x28\xb5\x2f\xfd", f"Zstandard-compressed, which is not read here. {_PACKED}"),
    (0, b"\x04\x22\x4d\x18", f"LZ4-compressed, which is not read here. {_PACKED}"),
    (
        0,
        b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.",
        "a PyTorch checkpoint in the old pickle form, not a TensorFlow model. Export the model to ONNX (torch.onnx.export) and upload that.",
    ),
    (
        0,
        b"GGUF",
        "a GGUF language model, which TensorFlow does not run. Use llama.cpp, or upload the model it was made from.",
    ),
    (0, b"lmgg", _GGML),
    (0, b"tjgg", _GGML),
    (0, b"ftrt", "a TensorRT engine, compiled for one GPU. Upload the ONNX or SavedModel it was built from."),
    (0, b"ptrt", "a TensorRT engine, compiled for one GPU. Upload the ONNX or SavedModel it was built from."),
    (4, b"ORTM", "a model in onnxruntime's own .ort form. Upload the .onnx it was made from."),
    (4, b"CIR0", "a Circle model (ONE compiler), which TensorFlow does not run. Upload the .tflite it was made from."),
    (
        0,
        b"\x93NUMPY",
        "a NumPy array (.npy): data or weights without an architecture. Give it as sample data (the Data page, or --data), or upload the whole model.",
    ),
    (
        0,
        b"\x89HDF\r\n\x1a\n",
        "an HDF5 file without a Keras model in it. Save the whole model with model.save('model.keras') and upload that.",
    ),
    (0, b"SQLite format 3\0", "an SQLite database, not a model. Upload the model file itself."),
    (0, b"PAR1", "a Parquet table: data, not a model. Give it as sample data (the Data page, or --data)."),
    (0, b"ARROW1", "an Arrow table: data, not a model. Save it as Parquet to use it as sample data."),
    (
        0,
        b"7767517\n",
        "an ncnn network (.param), which TensorFlow does not run. Upload the model it was converted from.",
    ),
    (0, b"BM", _IMAGE),
)
"""(offset, bytes, "is …"), the more specific first."""


def by_magic(head: bytes) -> str | None:
    """Returns what the first bytes say, without "is"; None when they say nothing."""
    for offset, magic, sentence in MAGIC:
        # Two letters alone are weak evidence: a bitmap also repeats its own reserved zeros.
        if head[offset : offset + len(magic)] == magic and (magic != b"BM" or head[6:10] == b"\0\0\0\0"):
            return sentence
    return None
