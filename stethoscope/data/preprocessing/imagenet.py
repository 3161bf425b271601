"""Pixels as networks of `keras.applications` were trained on them: their `preprocess_input`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind

if TYPE_CHECKING:
    import numpy.typing as npt

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


STEP = ImageNet()
