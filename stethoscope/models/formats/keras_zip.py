"""The `.keras` archive: config.json, metadata.json and model.weights.h5 in a zip, of Keras 3 and of Keras 2.12 and later.

A part of a file as a file of its own: nothing is copied.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from stethoscope.errors import UnreadableFile
from stethoscope.models import own_code
from stethoscope.models.containers import damage, hdf5
from stethoscope.models.containers.archive import Archive, open_archive
from stethoscope.models.containers.damage import ARCHIVE, JSON, listed
from stethoscope.models.formats.keras_model.keras_config import parse_network
from stethoscope.models.formats.keras_model.keras_describe import Description, describe, is_modern, sensible
from stethoscope.models.formats.keras_model.keras_legacy import program
from stethoscope.models.formats.keras_model.keras_parameters import by_class
from stethoscope.models.model_format import Format, Program, WeightsByLayer
from stethoscope.types import Architecture, ModelFile, Runner, WorkerKind

_WEIGHTS = "model.weights.h5"
_SHARDS = "model.weights.json"


class KerasZip(Format):
    """`.keras` files."""

    id = "keras"
    title = "Keras model (.keras)"
    extensions = (".keras",)
    hint = ".keras"
    worker: WorkerKind = "tensorflow"
    is_program = False
    live = trainable = weights_judged = True

    def sniff(self, file: ModelFile) -> bool:
        """A zip with config.json and metadata.json or weights, at the top or in a single folder."""
        if not file.path.is_file():
            return False
        with file.path.open("rb") as stream:
            if stream.read(4) != b"PK\x03\x04":
                return False
        try:
            names = list(listed(file.path))
        except ARCHIVE:
            # A damaged zip is ours only by its name: describe says what is wrong with it.
            return file.suffix in self.extensions
        root = top_folder(names)
        held = {name[len(root) :] for name in names if name.startswith(root)}
        return "config.json" in held and bool(held & {"metadata.json", _WEIGHTS, _SHARDS})

    def describe(self, file: ModelFile) -> Architecture:
        """See `Format.describe`."""
        with open_archive(file) as archive, sensible(file.name):
            return describe(read(file, archive))

    def skeleton(self, file: ModelFile) -> tuple[str, bytes]:
        """See `Format.skeleton`."""
        from stethoscope.models.formats.keras_model.keras_legacy import zip_skeleton

        with open_archive(file) as archive:
            return "model.keras", zip_skeleton(file, archive)

    def open(self, file: ModelFile, scratch: Path, *, trusted: bool = False) -> Runner:
        """See `Format.open`."""
        from stethoscope.models.formats.keras_model.keras_loading import open_zip

        with open_archive(file) as archive, sensible(file.name):
            description = read(file, archive)
            architecture = describe(description)
        return open_zip(file, description, architecture, scratch, trusted=trusted)

    def program(self, name: str, architecture: Architecture) -> Program:
        """See `Format.program`."""
        return program(name, architecture)

    def weights(self, file: ModelFile) -> AbstractContextManager[WeightsByLayer]:
        """See `Format.weights`."""
        from stethoscope.models.weights.keras_weights import of_archive

        return of_archive(file)


def top_folder(names: list[str] | tuple[str, ...]) -> str:
    """The single folder that holds everything, with its slash, or ""."""
    if "config.json" in names:
        return ""
    roots = {PurePosixPath(name).parts[0] for name in names if PurePosixPath(name).parts}
    root = roots.pop() + "/" if len(roots) == 1 else ""
    return root if root and f"{root}config.json" in names else ""


def read_json(file: ModelFile, archive: Archive, name: str, limit_bytes: int = damage.MAX_CONFIG_BYTES) -> Any:
    """Parses one JSON member.

    Raises:
        UnreadableFile: missing, or not JSON.
    """
    if name not in archive.members:
        raise UnreadableFile(
            f"{file.name}: has no {name!r}, so it is not a Keras model. Save it again with model.save()."
        )
    try:
        return json.loads(archive.read(name, limit_bytes))
    except JSON as error:
        raise UnreadableFile(
            f"{file.name}: {name!r} is not readable JSON ({str(error)[:100]}). Save the model again."
        ) from error


def read(file: ModelFile, archive: Archive) -> Description:
    """Reads everything but the weights themselves.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge: as `Format.describe`.
    """
    root = top_folder(archive.names)
    model = read_json(file, archive, f"{root}config.json")
    meta = read_json(file, archive, f"{root}metadata.json") if f"{root}metadata.json" in archive.members else {}
    version = str(meta.get("keras_version") or "") if isinstance(meta, dict) else ""
    modern = is_modern(version) or not version
    warnings: list[str] = []
    if not version:
        version = _guessed_version(model)
        warnings.append("metadata.json does not say which Keras saved it.")
        modern = is_modern(version)
    network = parse_network(file.name, model)
    with weights_tree(file, archive, root) as tree:
        stored = None if tree is None else by_class(network, tree, modern)
        weight_bytes = 0 if tree is None else sum(array.size_bytes for array in tree.arrays.values())
    return Description(
        subject=file.name,
        format_id=KerasZip.id,
        display_format=f"Keras {3 if modern else 2} archive",
        model=model,
        network=network,
        version=version,
        training=model.get("compile_config"),
        stored=stored,
        weight_bytes=weight_bytes,
        warnings=warnings,
        code=own_code.read(file.code),
    )


@contextmanager
def weights_tree(file: ModelFile, archive: Archive, root: str) -> Iterator[hdf5.Tree | None]:
    """Yields what the weights file (or its shards) declares, or None when there is none."""
    names = weight_members(file, archive, root)
    if not names:
        yield None
        return
    whole = hdf5.Tree()
    for name in names:
        subject = f"{file.name}, weights file {name!r}"
        with (
            member_stream(file, archive, name) as stream,
            hdf5.open_h5(subject, stream) as opened,
            hdf5.reading(subject),
        ):
            tree = hdf5.survey(subject, opened)
        whole.arrays.update({path.replace("\\", "/"): array for path, array in tree.arrays.items()})
        whole.groups.extend(_with_parents(tree.groups))
        whole.names.update({path.replace("\\", "/"): value for path, value in tree.names.items()})
    yield whole


def _with_parents(groups: list[str]) -> list[str]:
    """Keras 2 on Windows wrote one group named "layers\\dense\\vars" instead of three."""
    found: dict[str, None] = {}
    for group in groups:
        parts = group.replace("\\", "/").split("/")
        for end in range(1, len(parts) + 1):
            found["/".join(parts[:end])] = None
    return list(found)


def weight_members(file: ModelFile, archive: Archive, root: str) -> list[str]:
    """Names of the members that hold weights: one file, or the shards that model.weights.json lists."""
    if f"{root}{_WEIGHTS}" in archive.members:
        return [f"{root}{_WEIGHTS}"]
    if f"{root}{_SHARDS}" not in archive.members:
        return []
    index = read_json(file, archive, f"{root}{_SHARDS}")
    mapping = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(mapping, dict):
        raise UnreadableFile(f"{file.name}: {_SHARDS!r} has no weight_map. Save the model again.")
    names: dict[str, None] = {}
    for value in mapping.values():
        for shard in value if isinstance(value, list) else [value]:
            names[root + str(shard)] = None
    for name in names:
        if name not in archive.members:
            raise UnreadableFile(f"{file.name}: the weights file {name!r} is missing. Save the model again.")
    return list(names)


@contextmanager
def member_stream(file: ModelFile, archive: Archive, name: str) -> Iterator[IO[bytes]]:
    """Opens a member for random access: in place when it is stored, else inflated to a temporary file."""
    member = archive.members[name]
    if member.stored_at is not None:
        with file.path.open("rb") as whole:
            yield cast(IO[bytes], Window(whole, member.stored_at, member.size_bytes))
        return
    with tempfile.TemporaryFile() as copy:
        for chunk in archive.chunks(name):
            copy.write(chunk)
        copy.seek(0)
        yield copy


def _guessed_version(model: Any) -> str:
    text = json.dumps(model)[:200_000]
    return "3" if '"batch_shape"' in text or "__keras_tensor__" in text else "2"


FORMAT = KerasZip()


class Window(io.RawIOBase):
    """Read-only view of `length` bytes of `stream` from `start`."""

    def __init__(self, stream: IO[bytes], start: int, length: int) -> None:
        super().__init__()
        self._stream, self._start, self._length, self._position = stream, start, length, 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Position within the window."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves within the window; past its end is allowed and reads nothing."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._length}[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        """Reads into a writable buffer."""
        view = memoryview(buffer).cast("B")
        wanted = max(0, min(len(view), self._length - self._position))
        if not wanted:
            return 0
        self._stream.seek(self._start + self._position)
        data = self._stream.read(wanted)
        view[: len(data)] = data
        self._position += len(data)
        return len(data)
