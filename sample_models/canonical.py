"""Files that come out the same each time they are built: no dates, no memory addresses, fixed order."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_DATE = (1980, 1, 1, 0, 0, 0)
_SAVED = "2026-01-01@00:00:00"


def save_keras(model: Any, path: Path) -> Path:
    """Saves a Keras 2 or 3 model as `.keras`, then rewrites the archive without dates and object addresses."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / path.name
        model.save(raw)
        with zipfile.ZipFile(raw) as source, zipfile.ZipFile(path, "w") as target:
            for name in sorted(source.namelist()):
                if name.endswith("/"):
                    continue
                if name.endswith(".json"):
                    _write(target, name, _plain_json(source.read(name)))
                else:
                    with source.open(name) as stream, target.open(_entry(name), "w", force_zip64=True) as out:
                        while chunk := stream.read(1 << 24):
                            out.write(chunk)
    return path


def save_saved_model(folder: Path, path: Path, compression: int = zipfile.ZIP_DEFLATED) -> Path:
    """Packs a SavedModel folder into a zip, its graph in deterministic order and without its random fingerprint.

    Keras orders an exported model's variables by address, so files that went through `Model.export` still differ from
    build to build; their weights do not.
    """
    from tensorflow.core.protobuf import saved_model_pb2

    graph = folder / "saved_model.pb"
    message = saved_model_pb2.SavedModel.FromString(graph.read_bytes())
    graph.write_bytes(message.SerializeToString(deterministic=True))
    # It names a hash of the graph and a random id; loaders do without it.
    (folder / "fingerprint.pb").unlink(missing_ok=True)
    return pack(folder, path, compression)


def pack(folder: Path, path: Path, compression: int = zipfile.ZIP_STORED) -> Path:
    """Packs a folder's files into a zip in sorted order, all with the same date."""
    with zipfile.ZipFile(path, "w", compression=compression) as target:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                entry = _entry(file.relative_to(folder).as_posix())
                entry.compress_type = compression
                with file.open("rb") as stream, target.open(entry, "w", force_zip64=True) as out:
                    while chunk := stream.read(1 << 24):
                        out.write(chunk)
    return path


def _write(target: zipfile.ZipFile, name: str, content: bytes) -> None:
    target.writestr(_entry(name), content)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.external_attr = 0o644 << 16
    return entry


def _plain_json(content: bytes) -> bytes:
    document = json.loads(content)
    if isinstance(document, dict) and "date_saved" in document:
        document["date_saved"] = _SAVED
    numbers: dict[int, int] = {}
    for thing in _objects(document):
        if isinstance(thing.get("shared_object_id"), int):
            thing["shared_object_id"] = numbers.setdefault(thing["shared_object_id"], len(numbers) + 1)
    return json.dumps(document).encode()


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)
