"""Images in another size: which pixels of the old one make each of the new, and how much of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy.typing as npt

_PART_BYTES = 64 << 20


class Taps(NamedTuple):
    """For each new place along one axis: the old places it is made of, and their weights (rows sum to 1)."""

    places: npt.NDArray[Any]
    """(size, taps) int64."""
    weights: npt.NDArray[Any]
    """(size, taps) float32."""


def bilinear(old: int, new: int, *, antialias: bool) -> Taps:
    """A triangle as wide as an old pixel, or as a new one where that is larger and `antialias` is asked for.

    Source: tf.image.resize(method="bilinear", half-pixel centres); with antialias also Pillow's BILINEAR up to rounding.
    """
    import numpy as np

    ratio = old / new
    centres = (np.arange(new) + 0.5) * ratio - 0.5
    reach = max(ratio, 1.0) if antialias else 1.0
    first = np.ceil(centres - reach).astype("int64") if antialias else np.floor(centres).astype("int64")
    count = 2 * int(np.ceil(reach)) + 1 if antialias else 2
    places = first[:, None] + np.arange(count)
    weights = np.maximum(0.0, 1.0 - np.abs(places - centres[:, None]) / reach)
    if antialias:
        weights[(places < 0) | (places >= old)] = 0.0
        weights /= weights.sum(1, keepdims=True)
    return Taps(places.clip(0, old - 1), weights.astype("float32"))


def nearest(old: int, new: int) -> npt.NDArray[Any]:
    """The old place under the centre of each new one.

    Source: tf.image.resize(method="nearest", half-pixel centres).
    """
    import numpy as np

    places: npt.NDArray[Any] = np.minimum(np.floor((np.arange(new) + 0.5) * (old / new)).astype("int64"), old - 1)
    return places


def resized(images: npt.NDArray[Any], height: int, width: int, method: str, *, antialias: bool) -> npt.NDArray[Any]:
    """(rows, height, width, …) in another size: float32 for "bilinear", the same dtype for "nearest"."""
    import numpy as np

    if method == "nearest":
        rows, columns = nearest(images.shape[1], height), nearest(images.shape[2], width)
        return images[:, rows[:, None], columns]
    down = bilinear(images.shape[1], height, antialias=antialias)
    across = bilinear(images.shape[2], width, antialias=antialias)
    made = np.empty((len(images), height, width, *images.shape[3:]), "float32")
    bytes_of_one = max(1, 4 * images[0].size, 4 * made[0].size) if len(images) else 1
    step = max(1, _PART_BYTES // bytes_of_one)
    for start in range(0, len(images), step):
        part = images[start : start + step].astype("float32")
        made[start : start + step] = _along(_along(part, 1, down), 2, across)
    return made


def _along(images: npt.NDArray[Any], axis: int, taps: Taps) -> npt.NDArray[Any]:
    import numpy as np

    if images.shape[axis] == len(taps.places) and (taps.places[:, 0] == np.arange(len(taps.places))).all():
        exact = taps.weights[:, 0] == 1
        if exact.all():
            return images
    shape = [1] * images.ndim
    shape[axis] = len(taps.places)
    total: Any = 0.0
    for tap in range(taps.places.shape[1]):
        total = total + images.take(taps.places[:, tap], axis) * taps.weights[:, tap].reshape(shape)
    return np.asarray(total, "float32")
