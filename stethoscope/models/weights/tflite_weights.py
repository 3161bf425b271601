"""Weights of TFLite models: constant tensors in the flatbuffer, dequantised as their scales say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stethoscope.models.containers import wire
from stethoscope.models.containers.flatbuffer import Buffer
from stethoscope.models.formats import tflite
from stethoscope.models.formats.tflite_model.tflite_layers import is_weight, layer_paths
from stethoscope.models.formats.tflite_model.tflite_reader import Tensor
from stethoscope.models.model_format import Pieces, StoredWeight, WeightsByLayer
from stethoscope.models.weights.weight_statistics import PLAIN, buffer_pieces, no_pieces
from stethoscope.types import ModelFile

if TYPE_CHECKING:
    import numpy.typing as npt


@contextmanager
def of_model(file: ModelFile) -> Iterator[WeightsByLayer]:
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
                found.setdefault(path, []).append(_weight(tensor, view, stored.start, scales.of(index, number)))
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


def _weight(
    tensor: Tensor, view: memoryview, start: int, scales: tuple[tuple[float, ...], tuple[int, ...], int]
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
