"""Where a SavedModel is: an archive with a folder inside, a folder, or its graph file alone.

What a SavedModel can be asked to compute: its signatures, their tensors, and which one is shown and run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from stethoscope.errors import UnreadableFile
from stethoscope.models.containers import archive as archives
from stethoscope.models.containers import damage, wire
from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.models.formats.tf_graph.object_graph import static_shape
from stethoscope.types import ModelFile, TensorSpec

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
    if file.path.is_dir() or archives.is_archive(file.path):
        return _choose(file, *contents(file))
    graph = GRAPHS[1] if tf_proto.first_field(file) else GRAPHS[0]
    return Located(file, "file", "", graph, {graph: file.path.stat().st_size})


def contents(file: ModelFile) -> tuple[str, dict[str, int]]:
    """Of a folder or an archive: ("folder" or "archive", bytes by name).

    Raises:
        UnreadableFile: the archive is damaged.
        UnsafeFile: the archive breaks a rule.
    """
    if file.path.is_dir():
        return "folder", {path.relative_to(file.path).as_posix(): path.stat().st_size for path in walk(file.path)}
    with archives.open_archive(file) as archive:
        return "archive", {name: member.size_bytes for name, member in archive.members.items()}


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


def walk(folder: Path) -> Iterator[Path]:
    """The files in a folder and below it, as many as an archive may have; no links."""
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
    return [path for path in walk(folder) if path.name in GRAPHS]


def _join(root: str, name: str) -> str:
    return f"{root}/{name}" if root else name


DEFAULT = "serving_default"
_INTERNAL = frozenset({"__saved_model_init_op", "__saved_model_train_op", "__saved_model_main_op"})


@dataclass(frozen=True)
class Signature:
    """One signature: specs by argument name, and the graph tensors behind them ("" for composite ones)."""

    name: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    tensors: Mapping[str, str]
    """Graph tensor of each input and output, by "in:name" and "out:name"."""
    function: str = ""
    """For a model without signatures: the function to call instead, by its name in the library."""

    @property
    def fetches(self) -> dict[str, str]:
        """Tensors to compute, by "in:name" and "out:name"."""
        return {key: tensor for key, tensor in self.tensors.items() if tensor}

    @property
    def fed(self) -> dict[str, str]:
        """Input names by the operator whose first output they replace."""
        inputs = {key[3:]: tensor for key, tensor in self.tensors.items() if key.startswith("in:")}
        return {tensor.partition(":")[0]: name for name, tensor in inputs.items() if tensor}


def read(meta_graph: Any) -> tuple[Signature, ...]:
    """All signatures a caller may use, the one to show first: serving_default, else the first by name that has outputs."""
    found = []
    for name in sorted(meta_graph.signature_def):
        if name in _INTERNAL:
            continue
        definition = meta_graph.signature_def[name]
        inputs, outputs = _infos(definition.inputs), _infos(definition.outputs)
        tensors = {f"in:{spec.name}": tensor for spec, tensor in inputs} | {
            f"out:{spec.name}": tensor for spec, tensor in outputs
        }
        found.append(Signature(name, tuple(spec for spec, _ in inputs), tuple(spec for spec, _ in outputs), tensors))
    found.sort(key=lambda signature: (signature.name != DEFAULT, not signature.outputs, signature.name))
    return tuple(found)


def _infos(infos: Mapping[str, Any]) -> list[tuple[TensorSpec, str]]:
    found = []
    for key in sorted(infos):
        info = infos[key]
        kind = info.WhichOneof("encoding")
        dtype = tf_proto.dtype_name(info.dtype)
        shape = static_shape(info.tensor_shape) if info.HasField("tensor_shape") else None
        if kind == "composite_tensor" and info.composite_tensor.components:
            first = info.composite_tensor.components[0]
            found.append((TensorSpec(key, shape, dtype or tf_proto.dtype_name(first.dtype)), first.name))
        elif kind == "coo_sparse":
            found.append((TensorSpec(key, shape, dtype), info.coo_sparse.values_tensor_name))
        else:
            found.append((TensorSpec(key, shape, dtype), info.name))
    return found


def callable_functions(meta_graph: Any) -> tuple[Signature, ...]:
    """Functions of a model without signatures that can be called by position: `__call__` first."""
    graph = meta_graph.object_graph_def
    library = {function.signature.name: function for function in meta_graph.graph_def.library.function}
    found = []
    for child in graph.nodes[0].children if graph.nodes else ():
        node = graph.nodes[child.node_id] if 0 <= child.node_id < len(graph.nodes) else None
        if node is None or node.WhichOneof("kind") != "function":
            continue
        name = next(iter(node.function.concrete_functions), "")
        if name in library:
            found.append(_function(child.local_name, library[name], len(graph.concrete_functions[name].bound_inputs)))
    return tuple(sorted(found, key=lambda one: (one.name != "__call__", not one.outputs, one.name)))


def _function(name: str, definition: Any, captured: int) -> Signature:
    arguments = definition.signature.input_arg
    shapes = definition.attr["_input_shapes"].list.shape if "_input_shapes" in definition.attr else ()
    inputs = [
        TensorSpec(
            argument.name,
            static_shape(shapes[index]) if index < len(shapes) else None,
            tf_proto.dtype_name(argument.type),
        )
        for index, argument in enumerate(arguments[: len(arguments) - captured])
    ]
    outputs = [
        TensorSpec(f"output_{index}", None, tf_proto.dtype_name(argument.type))
        for index, argument in enumerate(definition.signature.output_arg)
    ]
    return Signature(name, tuple(inputs), tuple(outputs), {}, definition.signature.name)
