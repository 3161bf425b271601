"""Steps for the pixels of images: their channels, and the values that networks of keras.applications take.

Pixels as networks of `keras.applications` were trained on them: their `preprocess_input`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput

if TYPE_CHECKING:
    import numpy.typing as npt


_GREY = (0.2989, 0.587, 0.114)
CHANNEL_CHANGES = ("grey_to_rgb", "rgb_to_grey", "rgb_to_bgr", "drop_alpha")
_WORDS = {
    "grey_to_rgb": "grey → RGB",
    "rgb_to_grey": "RGB → grey",
    "rgb_to_bgr": "RGB → BGR",
    "drop_alpha": "drop alpha",
}


class Channels(StepKind):
    """Channels of images: grey to RGB, RGB to BGR or grey, without alpha.

    Changes the channel axis. Images without one (height, width) count as grey.

    Source: tf.image.rgb_to_grayscale for the weights of grey (0.2989, 0.587, 0.114).
    """

    id = "channels"
    title = "Channels"
    parameters = (
        Parameter("mode", "Change", "choice", "grey_to_rgb", choices=CHANNEL_CHANGES),
        Parameter("axis", "Axis of the channels", "count", -1, least=-4, most=4),
    )

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns the images with other channels; grey of whole numbers is rounded and keeps its dtype."""
        import numpy as np

        parameter.numbers(rows)
        mode, axis = params["mode"], params["axis"]
        if axis == 0:
            raise BadInput("expected an axis other than 0, which counts rows. Use -1 for the last.")
        if mode == "grey_to_rgb" and rows.ndim == 3:
            return np.repeat(np.expand_dims(rows, axis), 3, axis)
        parameter.rank(rows, (4, 5), "images with a channel axis")
        if mode == "grey_to_rgb":
            parameter.channels(rows, axis, (1,))
            return np.repeat(rows, 3, axis)
        if mode == "drop_alpha":
            parameter.channels(rows, axis, (2, 4))
            return np.take(rows, range(rows.shape[axis] - 1), axis)
        parameter.channels(rows, axis, (3,))
        if mode == "rgb_to_bgr":
            return np.flip(rows, axis)
        weights = np.asarray(_GREY, "float32")
        grey = np.expand_dims(np.tensordot(rows.astype("float32"), weights, (axis, 0)), axis)
        return grey.round().astype(rows.dtype) if rows.dtype.kind in "iu" else grey.astype(rows.dtype)

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy; each mode in a line or three."""
        mode, axis = params["mode"], params["axis"]
        given = f"{name} = np.asarray({name})\n"
        if mode == "grey_to_rgb":
            return f"{given}{name} = np.repeat(np.expand_dims({name}, {axis}) if {name}.ndim == 3 else {name}, 3, axis={axis})"
        if mode == "drop_alpha":
            return f"{given}{name} = np.take({name}, range({name}.shape[{axis}] - 1), axis={axis})"
        if mode == "rgb_to_bgr":
            return f"{name} = np.flip({name}, axis={axis})"
        return (
            f'{given}grey = np.tensordot({name}.astype("float32"), np.array({list(_GREY)}, "float32"), ({axis}, 0))\n'
            f"grey = np.expand_dims(grey, {axis})\n"
            f'{name} = (grey.round() if {name}.dtype.kind in "iu" else grey).astype({name}.dtype)'
        )

    def words(self, params: Mapping[str, Any]) -> str:
        """ "grey → RGB"."""
        return _WORDS[params["mode"]]


_CAFFE_MEAN = (103.939, 116.779, 123.68)
_TORCH_MEAN, _TORCH_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
MODES = ("caffe", "torch", "tf")


class ImageNet(StepKind):
    """Pixels as networks of `keras.applications` were trained on them: their `preprocess_input`.

    caffe: RGB to BGR, less ImageNet's mean colour. torch: to 0 … 1, standardized per channel. tf: to −1 … 1.

    Takes RGB pixels from 0 to 255.

    Source: keras.applications.imagenet_utils.preprocess_input (keras 3.15).
    """

    id = "imagenet"
    title = "As keras.applications"
    parameters = (
        Parameter(
            "mode",
            "As",
            "choice",
            "caffe",
            choices=MODES,
            help="caffe: ResNet, VGG; torch: DenseNet; tf: Inception, MobileNet, Xception, NASNet",
        ),
        Parameter("axis", "Axis of the channels", "count", -1, least=-4, most=4),
    )

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns float32 of the same shape."""
        import numpy as np

        parameter.numbers(rows)
        made = rows.astype("float32")
        if params["mode"] == "tf":
            made /= 127.5
            return made - 1.0
        axis = params["axis"]
        parameter.channels(rows, axis, (3,))
        shape = [1] * rows.ndim
        shape[axis] = 3
        if params["mode"] == "caffe":
            return np.asarray(np.flip(made, axis) - np.asarray(_CAFFE_MEAN, "float32").reshape(shape))
        mean, std = (np.asarray(values, "float32").reshape(shape) for values in (_TORCH_MEAN, _TORCH_STD))
        return np.asarray((made / 255.0 - mean) / std)

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """Keras' own function."""
        where = "last" if params["axis"] in (-1, 3) else "first"
        return (
            f"{name} = keras.applications.imagenet_utils.preprocess_input(\n"
            f'    np.array({name}, "float32"), data_format="channels_{where}", mode={params["mode"]!r}\n)'
        )

    def words(self, params: Mapping[str, Any]) -> str:
        """ "as keras.applications (caffe)"."""
        return f"as keras.applications ({params['mode']})"


STEPS = (Channels(), ImageNet())
