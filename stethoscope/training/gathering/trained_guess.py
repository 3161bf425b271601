"""Do these weights come out of training, or straight from their initialisers?"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from stethoscope.architecture.losses import configured_variance, initialiser_of, settings_of
from stethoscope.evidence.weights import WeightProfile
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture, ModelFile

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
