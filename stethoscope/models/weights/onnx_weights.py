"""Weights of ONNX models: initializers and Constant nodes in the file, and external data beside it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from stethoscope.models.containers import archive, wire
from stethoscope.models.formats import onnx as onnx_format
from stethoscope.models.formats.onnx_model import onnx_reader
from stethoscope.models.formats.onnx_model.onnx_tensors import Tensor, check_external, read_tensor
from stethoscope.models.model_format import Pieces, StoredWeight, WeightsByLayer
from stethoscope.models.weights.weight_statistics import PLAIN, array_pieces, buffer_pieces, no_pieces
from stethoscope.types import ModelFile

_MOST_PARSED_BYTES = 256 << 20
_RAW = 9


@contextmanager
def of_model(file: ModelFile) -> Iterator[WeightsByLayer]:
    """Weights of a `.onnx`, or of the one in an archive."""
    architecture = onnx_format.FORMAT.describe(file)
    with ExitStack() as stack:
        view, files = stack.enter_context(onnx_reader.opened(file))
        beside = _Beside(file, stack)
        places: dict[str, tuple[int, int]] = {}
        for begin, end, name in _tensors(view, "Model", 0, len(view)):
            tensor, _ = read_tensor(view, begin, end)
            places.setdefault(name or tensor.name, (begin, end))
        found: WeightsByLayer = {}
        for layer in architecture.layers:
            for told in layer.config.get("weights", ()):
                if told["name"] not in places:
                    continue
                begin, end = places[told["name"]]
                tensor, _ = read_tensor(view, begin, end)
                if tensor.external:
                    check_external(file.name, tensor, files)
                pieces, why = _pieces(view, tensor, begin, end, beside)
                weight = StoredWeight(told["name"], tuple(tensor.dims), tensor.dtype, None, pieces, unreadable=why)
                found.setdefault(layer.path, []).append(weight)
        yield found


def _tensors(view: memoryview, kind: str, start: int, end: int, output: str = "") -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of every stored tensor; that of a Constant node has the name of the node's output."""
    children = onnx_reader.CHILDREN[kind]
    parts = [part for part in wire.fields(view, start, end) if part.kind == wire.BYTES]
    if kind == "Node":
        names = [bytes(view[part.start : part.end]).decode("utf-8", "replace") for part in parts if part.number == 2]
        types = [bytes(view[part.start : part.end]) for part in parts if part.number == 4]
        output = names[0] if names and types == [b"Constant"] else ""
    for part in parts:
        child = children.get(part.number)
        if child == "Tensor":
            yield part.start, part.end, output
        elif child is not None:
            yield from _tensors(view, child, part.start, part.end, output)


def _pieces(
    view: memoryview, tensor: Tensor, begin: int, end: int, beside: Callable[[str], memoryview]
) -> tuple[Pieces, str]:
    count = 1
    for size in tensor.dims:
        count *= size
    if tensor.external and tensor.dtype in PLAIN:
        offset = int(tensor.entries.get("offset", 0))
        held = beside("/".join(PurePosixPath(tensor.entries["location"]).parts))
        return buffer_pieces(held, offset, tensor.dtype, count), ""
    raw = [part for part in wire.fields(view, begin, end) if part.number == _RAW and part.kind == wire.BYTES]
    if raw and raw[0].end - raw[0].start < tensor.declared_bytes:
        return no_pieces, f"it declares {tensor.declared_bytes:,} bytes and stores {raw[0].end - raw[0].start:,}"
    if raw and tensor.dtype in PLAIN:
        return buffer_pieces(view, raw[0].start, tensor.dtype, count), ""
    if tensor.external or end - begin > _MOST_PARSED_BYTES:
        return no_pieces, f"values of type {tensor.dtype or 'unknown'} are not read"
    import onnx
    from onnx import numpy_helper

    try:
        return array_pieces(numpy_helper.to_array(onnx.TensorProto.FromString(bytes(view[begin:end])))), ""
    except (ValueError, TypeError, KeyError, NotImplementedError) as error:
        return no_pieces, f"values of type {tensor.dtype or 'unknown'} are not read ({str(error)[:80]})"


class _Beside:
    """Data files beside the model, each mapped once."""

    def __init__(self, file: ModelFile, stack: ExitStack) -> None:
        self._file, self._stack = file, stack
        self._mapped: dict[str, memoryview] = {}

    def __call__(self, location: str) -> memoryview:
        if location not in self._mapped:
            self._mapped[location] = self._map(location)
        return self._mapped[location]

    def _map(self, location: str) -> memoryview:
        if not archive.is_archive(self._file.path):
            beside = ModelFile(self._file.path.parent / location, self._file.name)
            return self._stack.enter_context(wire.mapped(beside))
        contents = self._stack.enter_context(archive.open_archive(self._file))
        folder = PurePosixPath(onnx_reader.only_model(self._file, contents.names)).parent
        name = (folder / location).as_posix()
        member = contents.members[name]
        if member.stored_at is not None:
            return self._stack.enter_context(wire.mapped(self._file, member.stored_at, member.size_bytes))
        spool = self._stack.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115 - the stack closes it
        for chunk in contents.chunks(name):
            spool.write(chunk)
        spool.flush()
        return self._stack.enter_context(wire.mapped(ModelFile(Path(spool.name), self._file.name)))
