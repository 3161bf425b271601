"""Weights of ONNX and TFLite models: the constant tensors of a graph of operators, as its file stores them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from stethoscope.models.containers import archive, wire
from stethoscope.models.containers.flatbuffer import Buffer
from stethoscope.models.formats import onnx as onnx_format
from stethoscope.models.formats import tflite
from stethoscope.models.formats.onnx_model import onnx_reader
from stethoscope.models.formats.onnx_model.onnx_tensors import Tensor as OnnxTensor
from stethoscope.models.formats.onnx_model.onnx_tensors import check_external, read_tensor
from stethoscope.models.formats.tflite_model.tflite_layers import is_weight, layer_paths
from stethoscope.models.formats.tflite_model.tflite_reader import Tensor as TfliteTensor
from stethoscope.models.model_format import Pieces, StoredWeight, WeightsByLayer
from stethoscope.models.weights.weight_statistics import PLAIN, array_pieces, buffer_pieces, no_pieces
from stethoscope.types import ModelFile

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_PARSED_BYTES = 256 << 20
_RAW = 9


@contextmanager
def of_onnx(file: ModelFile) -> Iterator[WeightsByLayer]:
    """Weights of a `.onnx`, or of the one in an archive."""
    architecture = onnx_format.FORMAT.describe(file)
    with ExitStack() as stack:
        view, files = stack.enter_context(onnx_reader.opened(file))
        beside = _Beside(file, stack)
        places: dict[str, tuple[int, int]] = {}
        for begin, end, name in _onnx_tensors(view, "Model", 0, len(view)):
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
                pieces, why = _onnx_pieces(view, tensor, begin, end, beside)
                weight = StoredWeight(told["name"], tuple(tensor.dims), tensor.dtype, None, pieces, unreadable=why)
                found.setdefault(layer.path, []).append(weight)
        yield found


def _onnx_tensors(
    view: memoryview, kind: str, start: int, end: int, output: str = ""
) -> Iterator[tuple[int, int, str]]:
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
            yield from _onnx_tensors(view, child, part.start, part.end, output)


def _onnx_pieces(
    view: memoryview, tensor: OnnxTensor, begin: int, end: int, beside: Callable[[str], memoryview]
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


@contextmanager
def of_tflite(file: ModelFile) -> Iterator[WeightsByLayer]:
    """Weights of a `.tflite` file."""
    model = tflite.load(file)
    with wire.mapped(file) as view:
        scales = _Scales(view)
        found: WeightsByLayer = {}
        for (index, position), path in layer_paths(model).items():
            subgraph = model.subgraphs[index]
            for number in dict.fromkeys(subgraph.operators[position].inputs):
                if number == -1 or not is_weight(subgraph.tensors[number]):
                    continue
                tensor = subgraph.tensors[number]
                stored = model.buffers[tensor.buffer]
                found.setdefault(path, []).append(_tflite_weight(tensor, view, stored.start, scales.of(index, number)))
        yield found


class _Scales:
    """Scale and zero point of each tensor; `describe` keeps only how many there are."""

    def __init__(self, view: memoryview) -> None:
        root = Buffer(view).root()
        self._tables = [list(graph.tables(0)) for graph in root.tables(2)]

    def of(self, subgraph: int, tensor: int) -> tuple[tuple[float, ...], tuple[int, ...], int]:
        table = self._tables[subgraph][tensor].table(4)
        if table is None:
            return (), (), 0
        return table.numbers(2, "f"), table.numbers(3, "q"), table.scalar(6, "i")


def _tflite_weight(
    tensor: TfliteTensor, view: memoryview, start: int, scales: tuple[tuple[float, ...], tuple[int, ...], int]
) -> StoredWeight:
    shape = tuple(size or 0 for size in tensor.shape or ())
    why = ""
    if tensor.is_sparse:
        why = "it is stored sparse"
    elif tensor.dtype not in PLAIN:
        why = f"values of type {tensor.dtype} are not read"
    elif tensor.stored_bytes < tensor.declared_bytes:
        why = f"it declares {tensor.declared_bytes:,} bytes and stores {tensor.stored_bytes:,}"
    pieces = no_pieces if why else buffer_pieces(view, start, tensor.dtype, tensor.elements)
    if not why and scales[0]:
        pieces = _dequantised(pieces, shape, *scales)
    name = tensor.name.rsplit(";", 1)[-1] or "unnamed"
    quantisation: Mapping[str, Any] = dict(tensor.quantization)
    return StoredWeight(name, shape, tensor.dtype, None, pieces, quantisation, why)


def _dequantised(
    pieces: Pieces, shape: tuple[int, ...], scales: tuple[float, ...], zeros: tuple[int, ...], axis: int
) -> Pieces:
    """scale · (value − zero point), per tensor or along one axis. Source: LiteRT 8-bit quantization specification."""

    def read() -> Iterator[npt.NDArray[Any]]:
        import numpy as np

        scale = np.asarray(scales, np.float32)
        zero = np.asarray(zeros or (0,), np.int64)
        behind = int(np.prod(shape[axis + 1 :], dtype=np.int64)) if len(scales) > 1 and axis < len(shape) else 1
        done = 0
        for piece in pieces():
            channel: Any = 0
            if len(scales) > 1:
                channel = (np.arange(done, done + piece.size) // behind) % len(scales)
            done += piece.size
            yield (piece.astype(np.int64) - zero[channel if len(zero) > 1 else 0]).astype(np.float32) * scale[channel]

    return read
