"""Weight statistics of an opened model, one tensor at a time.

Statistics of one weight tensor, in bounded time and without a copy of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.errors import CannotRun
from stethoscope.evidence.weights import WeightEvidence, WeightProfile
from stethoscope.models.capabilities import LiveModel
from stethoscope.models.formats import format_of
from stethoscope.training.gathering.trained_guess import guess_trained
from stethoscope.types import Architecture, ModelFile, Runner


def gather_weights(file: ModelFile, architecture: Architecture, runner: Runner) -> WeightEvidence:
    """Reads every weight of a Keras model, or every initialiser of an ONNX file, once.

    Raises:
        CannotRun: the format does not let its weights be told apart by layer.
    """
    if isinstance(live := runner.can(LiveModel), LiveModel):
        tensors = tuple(_of_keras(architecture, live.model, live.layer_paths()))
    elif format_of(architecture).weights_judged:
        tensors = tuple(_of_onnx(file))
    else:
        raise CannotRun(
            f"{file.name}: weights are read from Keras models and ONNX files. Give the Keras model it was made from."
        )
    trained, because = guess_trained(file, architecture, tensors)
    return WeightEvidence(tensors, trained, because)


def _of_keras(architecture: Architecture, model: Any, paths: dict[int, str]) -> Iterator[WeightProfile]:
    types = {layer.path: layer.type for layer in architecture.layers}
    seen: set[int] = set()
    for layer, path in _layers(model, paths):
        trainable = {id(weight) for weight in getattr(layer, "trainable_weights", ())}
        for weight in _own(layer, paths):
            if id(weight) in seen:
                continue
            seen.add(id(weight))
            name, kind = _name(weight), types.get(path, type(layer).__name__)
            array = _array(weight)
            if array is not None:
                yield profile(path, name, array, trainable=id(weight) in trainable, fans=fans(kind, name, array.shape))


def _layers(model: Any, paths: dict[int, str]) -> Iterator[tuple[Any, str]]:
    """Every layer with a path, in the order in which the model holds them, and last the model itself."""
    waiting, done = [model], set()
    while waiting:
        holder = waiting.pop()
        if id(holder) in done:
            continue
        done.add(id(holder))
        if id(holder) in paths:
            yield holder, paths[id(holder)]
        waiting += reversed(_children(holder))
    yield model, str(model.name)


def _children(holder: Any) -> list[Any]:
    layers = getattr(holder, "_layers", None) or getattr(holder, "layers", None) or []
    if layers:
        return list(layers)
    flatten = getattr(holder, "_flatten_layers", None)
    return list(flatten(recursive=False, include_self=False)) if flatten else []


def _own(layer: Any, paths: dict[int, str]) -> list[Any]:
    """The layer's weights, without those of layers that have a path of their own."""
    inner = [child for child in _children(layer) if id(child) in paths]
    if not inner:
        return [] if _is_container(layer) else list(layer.weights)
    theirs = {id(weight) for child in inner for weight in child.weights}
    return [weight for weight in layer.weights if id(weight) not in theirs]


def _is_container(layer: Any) -> bool:
    return not getattr(layer, "weights", None)


def _name(weight: Any) -> str:
    return str(weight.name).split(":", maxsplit=1)[0].rsplit("/", 1)[-1]


def _array(weight: Any) -> Any:
    array = np.asarray(weight)
    if array.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return array.astype(np.float32)
    return array if array.dtype.kind in "fiub" else None


def _of_onnx(file: ModelFile) -> Iterator[WeightProfile]:
    from onnx import TensorProto, numpy_helper

    from stethoscope.models.formats.onnx_model.onnx_layers import LayerReader
    from stethoscope.models.formats.onnx_model.onnx_reader import read_model

    graph = read_model(file).parsed(file.name).graph
    readers: dict[str, str] = {}
    paths = LayerReader({}).main_paths(graph)
    for position, path in paths.items():
        for name in graph.node[position].input:
            readers.setdefault(name, path)
    for tensor in graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL or tensor.name not in readers or 0 in tensor.dims:
            continue
        array = numpy_helper.to_array(tensor)
        if array.dtype.kind in "f" and array.size:
            yield profile(readers[tensor.name], tensor.name, array, trainable=True)


MOST_SAMPLED = 4_000_000
"""Values that mean, spread, zeros and columns are computed from; larger tensors are sampled evenly."""
_DISTINCT = 3
_KERNELS = ("kernel", "recurrent_kernel", "pointwise_kernel", "weight", "embeddings")


def profile(
    layer: str, name: str, array: npt.NDArray[Any], *, trainable: bool, fans: tuple[int, int] | None = None
) -> WeightProfile:
    """Returns the statistics of `array`.

    Minimum, maximum and the search for NaN read every value; the rest reads at most `MOST_SAMPLED` of them.
    """
    shape = tuple(int(size) for size in array.shape)
    if array.dtype.kind not in "fiub" or array.size == 0:
        return WeightProfile(layer, name, shape, str(array.dtype), trainable, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0)
    flat = array.reshape(-1)
    low, high = float(flat.min()), float(flat.max())
    nonfinite = 0
    if not (np.isfinite(low) and np.isfinite(high)):
        finite = np.isfinite(flat)
        nonfinite = int(flat.size - finite.sum())
        flat = flat[finite]
        low, high = (float(flat.min()), float(flat.max())) if flat.size else (0.0, 0.0)
    sample = flat[:: -(-flat.size // MOST_SAMPLED)] if flat.size > MOST_SAMPLED else flat
    dead, identical = _columns(array) if name in _KERNELS and nonfinite == 0 else (0, 0)
    return WeightProfile(
        layer=layer,
        name=name,
        shape=shape,
        dtype=str(array.dtype),
        trainable=trainable,
        mean=float(sample.mean(dtype=np.float64)) if sample.size else 0.0,
        std=float(sample.std(dtype=np.float64)) if sample.size else 0.0,
        minimum=low,
        maximum=high,
        zero_fraction=float(1 - np.count_nonzero(sample) / sample.size) if sample.size else 0.0,
        nonfinite=nonfinite,
        distinct=_distinct(sample, low, high),
        fan_in=fans[0] if fans else None,
        fan_out=fans[1] if fans else None,
        dead_columns=dead,
        identical_columns=identical,
    )


def fans(layer_type: str, name: str, shape: Sequence[int]) -> tuple[int, int] | None:
    """(fan_in, fan_out) of a kernel as its initialiser counts them; None where axes mean something else.

    Source: keras.initializers.compute_fans.
    """
    if name not in ("kernel", "recurrent_kernel") or len(shape) < 2 or layer_type.startswith("Depthwise"):
        return None
    if layer_type.startswith("Conv") or (len(shape) == 2 and layer_type != "EinsumDense"):
        field = int(np.prod(shape[:-2]))
        return int(shape[-2]) * field, int(shape[-1]) * field
    return None


def _distinct(sample: npt.NDArray[Any], low: float, high: float) -> int:
    if not sample.size:
        return 0
    if low == high:
        return 1
    between = (sample != low) & (sample != high)
    return _DISTINCT if bool(between.any()) else 2


def _columns(array: npt.NDArray[Any]) -> tuple[int, int]:
    """(columns of zeros, columns equal to an earlier one and not zero) over the last axis."""
    if array.ndim < 2 or array.shape[-1] < 2:
        return 0, 0
    table = array.reshape(-1, array.shape[-1])
    rows = max(1, MOST_SAMPLED // table.shape[1])
    if table.shape[0] > rows:
        table = table[:: -(-table.shape[0] // rows)]
    columns = np.ascontiguousarray(table.T)
    zero = ~columns.any(axis=1)
    seen = {column.tobytes() for column in columns[~zero]}
    return int(zero.sum()), int((~zero).sum()) - len(seen)
