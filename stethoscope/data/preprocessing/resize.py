"""Images in another size: stretched, cut to the new aspect, or padded to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import require
from stethoscope.data.preprocessing.parameter import Parameter
from stethoscope.data.preprocessing.resampling import resized
from stethoscope.data.preprocessing.step import StepKind

if TYPE_CHECKING:
    import numpy.typing as npt

_KEPT = {"crop": "crop_to_aspect_ratio=True", "pad": "pad_to_aspect_ratio=True, fill_value=0"}


class Resize(StepKind):
    """(rows, height, width) or (rows, height, width, channels) in another size.

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
        Parameter("fit", "Another aspect", "choice", "stretch", choices=("stretch", "crop", "pad"),
                  help="crop cuts the longer side, pad fills the shorter with 0"),
        Parameter("antialias", "Antialias", "flag", False, help="Averages when making smaller, as Pillow does; tf.image.resize does not by default"),
    )  # fmt: skip

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns the images in the new size.

        Raises:
            BadInput: not images, or empty ones.
        """
        require.numbers(rows)
        require.rank(rows, (3, 4), "images (height, width[, channels])")
        if not rows.shape[1] or not rows.shape[2]:
            require.rank(rows, (), "images that are not empty")
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
