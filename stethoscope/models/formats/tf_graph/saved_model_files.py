"""Where a SavedModel is: an archive with a folder inside, a folder, or its graph file alone."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from stethoscope.errors import UnreadableFile
from stethoscope.models.containers import archive as archives
from stethoscope.models.containers import damage, wire
from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.types import ModelFile

GRAPHS = ("saved_model.pb", "saved_model.pbtxt")
_IN_MEMORY_BYTES = 64 << 20


@dataclass(frozen=True)
class Located:
    """One SavedModel: the folder in which its graph is ("" for the top), the graph's file name, and all its files."""

    file: ModelFile
    kind: str
    """archive, folder or file."""
    root: str
    graph: str
    sizes: dict[str, int]
    """Bytes by name below `root`."""
    others: tuple[str, ...] = ()
    """Folders of further SavedModels."""

    @contextmanager
    def view(self, name: str) -> Iterator[memoryview]:
        """The bytes of one file, mapped where that is possible."""
        if self.kind != "archive":
            path = self.file.path if self.kind == "file" else self.file.path / self.root / name
            with wire.mapped(ModelFile(path, self.file.name)) as view:
                yield view
            return
        with archives.open_archive(self.file) as archive:
            member = archive.members[_join(self.root, name)]
            if member.stored_at is not None and member.size_bytes:
                with wire.mapped(self.file, member.stored_at, member.size_bytes) as view:
                    yield view
            elif member.size_bytes <= _IN_MEMORY_BYTES:
                yield memoryview(archive.read(member.name, _IN_MEMORY_BYTES))
            else:
                with tempfile.NamedTemporaryFile() as spool:
                    for chunk in archive.chunks(member.name):
                        spool.write(chunk)
                    spool.flush()
                    with wire.mapped(ModelFile(Path(spool.name), self.file.name)) as view:
                        yield view

    def unpack(self, scratch: Path) -> Path:
        """The folder to load from: extracted into `scratch` when it is in an archive."""
        if self.kind == "folder":
            return self.file.path / self.root
        if self.kind == "file":
            shutil.copyfile(self.file.path, scratch / self.graph)
            return scratch
        with archives.open_archive(self.file) as archive:
            archive.extract(scratch)
        return scratch / self.root


def looks_like_one(file: ModelFile) -> bool:
    """Whether an archive or folder holds a SavedModel, by names alone; never raises."""
    if file.path.is_dir():
        return any((file.path / name).is_file() for name in GRAPHS) or bool(_folder_graphs(file.path))
    if not archives.is_archive(file.path):
        return False
    try:
        return any(PurePosixPath(name).name in GRAPHS for name in damage.listed(file.path))
    except damage.ARCHIVE:
        return False


def locate(file: ModelFile) -> Located:
    """Finds the SavedModel nearest the top.

    Raises:
        UnreadableFile: there is none, or the archive is damaged.
        UnsafeFile: the archive breaks a rule.
    """
    if file.path.is_dir():
        sizes = {str(path.relative_to(file.path).as_posix()): path.stat().st_size for path in _walk(file.path)}
        return _choose(file, "folder", sizes)
    if archives.is_archive(file.path):
        with archives.open_archive(file) as archive:
            return _choose(file, "archive", {name: member.size_bytes for name, member in archive.members.items()})
    graph = GRAPHS[1] if tf_proto.first_field(file) else GRAPHS[0]
    return Located(file, "file", "", graph, {graph: file.path.stat().st_size})


def _choose(file: ModelFile, kind: str, sizes: dict[str, int]) -> Located:
    graphs = sorted(
        (name for name in sizes if PurePosixPath(name).name in GRAPHS),
        key=lambda name: (len(PurePosixPath(name).parts), name),
    )
    if not graphs:
        raise UnreadableFile(
            f"{file.name}: expected a SavedModel, got an archive or folder without saved_model.pb. Pack the model's folder."
        )
    first = PurePosixPath(graphs[0])
    root = "" if str(first.parent) == "." else str(first.parent)
    prefix = f"{root}/" if root else ""
    inside = {name.removeprefix(prefix): size for name, size in sizes.items() if name.startswith(prefix)}
    others = tuple(
        str(PurePosixPath(name).parent) for name in graphs[1:] if str(PurePosixPath(name).parent) != str(first.parent)
    )
    return Located(file, kind, root, first.name, inside, others)


def _walk(folder: Path) -> Iterator[Path]:
    count = 0
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        for name in sorted(names):
            count += 1
            if count > damage.MAX_MEMBERS:
                return
            path = Path(parent) / name
            if path.is_file():
                yield path


def _folder_graphs(folder: Path) -> list[Path]:
    return [path for path in _walk(folder) if path.name in GRAPHS]


def _join(root: str, name: str) -> str:
    return f"{root}/{name}" if root else name
