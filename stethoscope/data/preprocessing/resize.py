"""Images in another size: stretched, cut to the new aspect, or padded to it.

Images in another size: which pixels of the old one make each of the new, and how much of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind

if TYPE_CHECKING:
    import numpy.typing as npt


_KEPT = {"crop": "crop_to_aspect_ratio=True", "pad": "pad_to_aspect_ratio=True, fill_value=0"}


class Resize(StepKind):
    """Images in another size: stretched, cut to the new aspect, or padded to it.

    (rows, height, width) or (rows, height, width, channels) in another size.

    Bilinear makes float32 and is what `tf.image.resize`, `keras.layers.Resizing` and `image_dataset_from_directory`
    compute; with antialias also Pillow's BILINEAR, up to Pillow's rounding to whole numbers. Nearest keeps the dtype: use it for masks.

    Source: keras.ops.image.resize (keras 3.15).
    """

    id = "resize"
    title = "Resize images"
    parameters = (
        Parameter("height", "Height", "count", least=1, most=16_384),
        Parameter("width", "Width", "count", least=1, most=16_384),
        Parameter("method", "Method", "choice", "bilinear", choices=("bilinear", "nearest"), help="nearest for masks"),
        Parameter(
            "fit",
            "Another aspect",
            "choice",
            "stretch",
            choices=("stretch", "crop", "pad"),
            help="crop cuts the longer side, pad fills the shorter with 0",
        ),
        Parameter(
            "antialias",
            "Antialias",
            "flag",
            False,
            help="Averages when making smaller, as Pillow does; tf.image.resize does not by default",
        ),
    )

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns the images in the new size.

        Raises:
            BadInput: not images, or empty ones.
        """
        parameter.numbers(rows)
        parameter.rank(rows, (3, 4), "images (height, width[, channels])")
        if not rows.shape[1] or not rows.shape[2]:
            parameter.rank(rows, (), "images that are not empty")
        height, width = params["height"], params["width"]
        framed = _framed(rows, height, width, params["fit"])
        return resized(framed, height, width, params["method"], antialias=params["antialias"])

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """Keras' own function, image by image: they may differ in size."""
        size = f"{params['height']}, {params['width']}"
        image = "np.atleast_3d(image)" + ('.astype("float32")' if params["method"] == "bilinear" else "")
        options = [f"interpolation={params['method']!r}", *([_KEPT[params["fit"]]] if params["fit"] in _KEPT else [])]
        if params["antialias"]:
            options.append("antialias=True")
        return (
            f"{name} = np.stack([\n"
            f'    np.array(keras.ops.image.resize({image}, ({size}), {", ".join(options)}, data_format="channels_last"))'
            f".reshape({size}, *np.shape(image)[2:])\n"
            f"    for image in {name}\n])"
        )

    def words(self, params: Mapping[str, Any]) -> str:
        """ "resize 224×224", "crop and resize 224×224"."""
        verb = {"stretch": "resize", "crop": "crop and resize", "pad": "pad and resize"}[params["fit"]]
        return f"{verb} {params['height']}×{params['width']}"


def _framed(rows: npt.NDArray[Any], height: int, width: int, fit: str) -> npt.NDArray[Any]:
    """Cut or padded with 0 to the aspect of height and width, as Keras rounds it."""
    import numpy as np

    have_height, have_width = rows.shape[1:3]
    tall, wide = _cut(have_width * height, width), _cut(have_height * width, height)
    if fit == "crop":
        tall, wide = max(min(have_height, tall), 1), max(min(have_width, wide), 1)
        top, left = (have_height - tall) // 2, (have_width - wide) // 2
        return rows[:, top : top + tall, left : left + wide]
    if fit == "pad":
        above = max((max(have_height, tall) - have_height) // 2, 0)
        beside = max((max(have_width, wide) - have_width) // 2, 0)
        widths = [(0, 0), (above, above), (beside, beside), *[(0, 0)] * (rows.ndim - 3)]
        return np.pad(rows, widths) if above or beside else rows
    return rows


def _cut(product: int, divisor: int) -> int:
    """The quotient in float32 as Keras takes it, without its fraction."""
    import numpy as np

    return int(np.float32(product) / np.float32(divisor))


STEP = Resize()


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
