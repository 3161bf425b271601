"""An ONNX file without its weights: checked on the wire, then small enough for protobuf to parse."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from stethoscope.errors import TooLarge, UnreadableFile, UnsafeFile
from stethoscope.models.containers import archive, damage, wire
from stethoscope.models.formats.onnx_model.onnx_tensors import check_external, check_tensor, read_tensor, stripped
from stethoscope.types import ModelFile

if TYPE_CHECKING:
    import onnx

MAX_GRAPH_DEPTH = 30
"""Subgraphs inside subgraphs. Protobuf stops at 100 nested messages, and each subgraph takes three."""
CHILDREN: Mapping[str, Mapping[int, str]] = {
    "Model": {7: "Graph", 20: "Training", 25: "Function"},
    "Training": {1: "Graph", 2: "Graph"},
    "Function": {7: "Node", 11: "Attribute"},
    "Graph": {1: "Node", 5: "Tensor", 15: "Sparse"},
    "Node": {5: "Attribute"},
    "Attribute": {5: "Tensor", 6: "Graph", 10: "Tensor", 11: "Graph", 22: "Sparse", 23: "Sparse"},
    "Sparse": {1: "Tensor", 2: "Tensor"},
}
"""Where tensors may hide: message kind by field number. Source: onnx.proto."""


@dataclass
class Reading:
    """A model without its large payloads, and what was learnt on the way."""

    skeleton: bytes = b""
    weight_bytes: int = 0
    external: set[str] = field(default_factory=set)
    """Files beside the model that hold its data."""
    without_data: list[str] = field(default_factory=list)
    """Names of tensors that declare values and store none."""

    def parsed(self, subject: str) -> onnx.ModelProto:
        """The skeleton as the onnx package sees it.

        Raises:
            UnreadableFile: protobuf refuses it.
        """
        import onnx
        from google.protobuf.message import DecodeError

        model = onnx.ModelProto()
        try:
            model.ParseFromString(self.skeleton)
        except (DecodeError, ValueError) as error:
            raise UnreadableFile(
                f"{subject}: not a readable ONNX model ({error}). Export or upload it again."
            ) from error
        return model


def read_model(file: ModelFile) -> Reading:
    """Reads a `.onnx`, or the one in an archive with its external data.

    Raises:
        UnreadableFile: truncated, malformed, or its external data did not come along.
        UnsafeFile: external data outside the model's folder, or subgraphs nested deeper than any runtime goes.
        TooLarge: it declares more than the budget.
    """
    import onnx

    with opened(file) as (view, files):
        reader = _Reader(file.name, view, files)
        try:
            skeleton = reader.message("Model", 0, len(view), 0)
            reader.reading.skeleton = wire.cleaned(skeleton, onnx.ModelProto.DESCRIPTOR)
        except wire.Malformed as error:
            raise UnreadableFile(
                f"{file.name}: not a readable ONNX model ({error}). The upload is incomplete or the file is damaged; upload it again."
            ) from error
        return reader.reading


class _Neighbours(Mapping[str, int]):
    """Sizes of the files beside a model that was given by its path, as on the command line."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, name: str) -> int:
        path = self._folder / name
        # A link could lead anywhere; honest exports write plain files.
        if path.is_symlink() or not path.is_file():
            raise KeyError(name)
        return path.stat().st_size

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _Reader:
    def __init__(self, subject: str, view: memoryview, files: Mapping[str, int]) -> None:
        self.subject = subject
        self.view = view
        self.files = files
        self.reading = Reading()

    def message(self, kind: str, start: int, end: int, depth: int) -> bytes:
        if depth > MAX_GRAPH_DEPTH:
            raise UnsafeFile(
                f"{self.subject}: its subgraphs nest more than {MAX_GRAPH_DEPTH} deep, which no runtime loads. Export it again."
            )
        out = bytearray()
        children = CHILDREN[kind]
        for part in wire.fields(self.view, start, end):
            child = children.get(part.number) if part.kind == wire.BYTES else None
            if child is None:
                out += self.view[part.begin : part.end]
            elif child == "Tensor":
                out += wire.encode_bytes(part.number, self.tensor(part.start, part.end))
            else:
                inner = self.message(child, part.start, part.end, depth + (child == "Graph"))
                out += wire.encode_bytes(part.number, inner)
            if len(out) > damage.MAX_GRAPH_BYTES:
                raise TooLarge(
                    f"{self.subject}: its graph without weights exceeds {damage.MAX_GRAPH_BYTES:,} bytes. Export it again."
                )
        return bytes(out)

    def tensor(self, start: int, end: int) -> bytes:
        tensor, kept = read_tensor(self.view, start, end)
        if not check_tensor(self.subject, tensor):
            self.reading.without_data.append(tensor.name)
        if tensor.external:
            check_external(self.subject, tensor, self.files)
            self.reading.external.add(tensor.entries["location"])
        self.reading.weight_bytes += tensor.declared_bytes or tensor.payload_bytes
        if self.reading.weight_bytes > damage.MAX_WEIGHT_BYTES:
            raise TooLarge(
                f"{self.subject}: its weights declare more than {damage.MAX_WEIGHT_BYTES:,} bytes. Export it again."
            )
        return stripped(self.view, tensor, kept, start, end)


@contextmanager
def opened(file: ModelFile) -> Iterator[tuple[memoryview, Mapping[str, int]]]:
    """Yields (the model's bytes, sizes of the files beside it by relative path).

    Raises:
        UnreadableFile: a damaged archive, or one without exactly one .onnx.
        UnsafeFile: an archive that breaks a rule (see `archive`).
    """
    if not archive.is_archive(file.path):
        with wire.mapped(file) as view:
            yield view, _Neighbours(file.path.parent)
        return
    with archive.open_archive(file) as contents:
        name = only_model(file, contents.names)
        folder = PurePosixPath(name).parent
        beside = {
            PurePosixPath(member.name).relative_to(folder).as_posix(): member.size_bytes
            for member in contents.members.values()
            if PurePosixPath(member.name).is_relative_to(folder)
        }
        member = contents.members[name]
        if member.stored_at is not None:
            with wire.mapped(file, member.stored_at, member.size_bytes) as view:
                yield view, beside
            return
        with tempfile.NamedTemporaryFile(suffix=".onnx") as inflated:
            for chunk in contents.chunks(name):
                inflated.write(chunk)
            inflated.flush()
            with wire.mapped(ModelFile(Path(inflated.name), file.name)) as view:
                yield view, beside


def only_model(file: ModelFile, names: tuple[str, ...]) -> str:
    """Returns the archive member that is the model.

    Raises:
        UnreadableFile: there is none, or more than one.
    """
    found = [name for name in names if name.lower().endswith(".onnx") and not _is_hidden(name)]
    if len(found) == 1:
        return found[0]
    raise UnreadableFile(
        f"{file.name}: expected one .onnx in the archive, got {len(found)}. Pack one model with its data files."
    )


def holds_model(path: Path) -> bool:
    """Whether an archive lists a .onnx and is not a SavedModel; reads its directory only."""
    try:
        names = list(damage.listed(path))
    except damage.ARCHIVE:
        return False
    others = any(PurePosixPath(name).name in ("saved_model.pb", "saved_model.pbtxt") for name in names)
    return not others and any(name.lower().endswith(".onnx") and not _is_hidden(name) for name in names)


def _is_hidden(name: str) -> bool:
    # macOS packs a "__MACOSX/._model.onnx" beside each file.
    return name.startswith("__MACOSX/") or PurePosixPath(name).name.startswith("._")
