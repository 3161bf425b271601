"""Weight statistics of an opened model, one tensor at a time, and whether they come out of training.

Statistics of one weight tensor, in bounded time and without a copy of it.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.losses import configured_variance, initialiser_of, settings_of
from stethoscope.errors import CannotRun
from stethoscope.evidence.model import WeightEvidence, WeightProfile
from stethoscope.models.capabilities import LiveModel
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture, ModelFile, Runner

_STEPS = ("optimizer/vars/0", "optimizer/iteration", "optimizer/iterations")
_FEW = 256
_OFF = 0.25
"""A standard deviation that differs by more than this share from its initialiser's was moved: the sampling error of the
standard deviation of n normal values is 1/√(2n), below 0.05 for `_FEW` values."""


def guess_trained(
    file: ModelFile, architecture: Architecture, tensors: Sequence[WeightProfile]
) -> tuple[bool | None, str]:
    """Returns (trained, why). Only trainable weights are asked when there are some: a frozen base says nothing of its head.

    None when nothing tells.
    """
    steps = optimizer_steps(file)
    if steps:
        return True, f"the file's optimizer has made {steps:,} steps"
    if not format_of(architecture).live:
        return None, "the file does not say how its weights were initialised"
    asked = [tensor for tensor in tensors if tensor.trainable and not tensor.nonfinite] or list(tensors)
    layers = {layer.path: layer for layer in architecture.layers}
    untouched: list[WeightProfile] = []
    moved: list[WeightProfile] = []
    for tensor in asked:
        layer = layers.get(tensor.layer)
        config = layer.config if layer is not None else {}
        verdict = _moved(tensor, config)
        if verdict is not None:
            (moved if verdict else untouched).append(tensor)
    learning = {tensor.layer for tensor in tensors if tensor.trainable}
    moved += [
        tensor for tensor in tensors if tensor.name == "moving_mean" and tensor.layer in learning and tensor.std > 0
    ]
    if moved and len(moved) >= len(untouched) * 0.1:
        first = moved[0]
        return True, f"{first.name} of {first.layer} is not as its initialiser left it"
    if untouched:
        return False, f"{untouched[0].name} of {untouched[0].layer} is as its initialiser left it"
    return None, "nothing tells initial weights from trained ones"


def _moved(tensor: WeightProfile, config: Any) -> bool | None:
    """Whether a tensor differs from what its initialiser gives; None when that cannot be told."""
    kind, _ = initialiser_of(config, tensor.name)
    if tensor.name in ("bias", "beta", "gamma"):
        if kind in ("", "zeros", "ones", "constant", "unit_forget"):
            # Recurrent layers start with the forget gate's bias at 1 and the others at 0: two values.
            return tensor.distinct > (2 if "recurrent_initializer" in settings_of(config) else 1)
        return None
    size = 1
    for length in tensor.shape:
        size *= length
    expected = configured_variance(config, tensor.name, tensor.fan_in, tensor.fan_out)
    if expected is None or size < _FEW or expected <= 0:
        return None
    return True if abs(tensor.std / expected**0.5 - 1) > _OFF else None


def optimizer_steps(file: ModelFile) -> int | None:
    """Steps that the optimizer in a Keras file has counted; None when the file holds no optimizer state."""
    try:
        with _weights_file(file) as stored:
            return None if stored is None else _count(stored)
    except (OSError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile):
        return None


@contextmanager
def _weights_file(file: ModelFile) -> Iterator[Any]:
    import h5py

    if not file.path.is_file():
        yield None
    elif zipfile.is_zipfile(file.path):
        with zipfile.ZipFile(file.path) as archive:
            name = next((name for name in archive.namelist() if name.endswith("model.weights.h5")), None)
            if name is None:
                yield None
                return
            with archive.open(name) as stream, h5py.File(stream, "r") as stored:
                yield stored
    elif h5py.is_hdf5(file.path):
        with h5py.File(file.path, "r") as stored:
            yield stored
    else:
        yield None


def _count(stored: Any) -> int | None:
    import h5py

    found = [stored[path] for path in _STEPS if path in stored]
    if not found and "optimizer_weights" in stored:

        def visit(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset) and name.rsplit("/", 1)[-1].split(":", maxsplit=1)[0] in (
                "iter",
                "iteration",
            ):
                found.append(item)

        stored["optimizer_weights"].visititems(visit)
    for item in found:
        if isinstance(item, h5py.Dataset) and item.shape == () and item.dtype.kind in "iu":
            return int(item[()])
    return None


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
