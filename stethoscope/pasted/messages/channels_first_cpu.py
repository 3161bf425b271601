"""Channels first on a processor that only runs channels last."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operation = read.get("operation", "A convolution")
    return Cause(
        f"{operation} got channels first (NCHW), which TensorFlow runs on a GPU only; on the CPU it takes channels last (NHWC). The model was made for a GPU, Keras is set to channels first, or the GPU is not seen.",
        Certainty.CERTAIN if read.says("CPU", "Generic conv implementation") else Certainty.LIKELY,
        (
            Step("Meant for a GPU: see whether TensorFlow sees it.", "print(tf.config.list_physical_devices('GPU'))"),
            Step(
                "Meant for the CPU: build the model with channels last, and move the axis of the data.",
                "keras.config.set_image_data_format('channels_last')\nx = x.transpose(0, 2, 3, 1)",
            ),
        ),
    )


MESSAGE = Message(
    id="channels-first-cpu",
    title="Channels first on a processor that only runs channels last",
    wordings=(
        Wording(
            "only supports the NHWC tensor format on the CPU",
            r"The (?P<operation>\w{1,40}) op currently only supports the NHWC tensor format on the CPU",
        ),
        Wording("only supports NHWC", r"(?P<operation>\w{1,60}) only supports NHWC"),
        Wording("Generic conv implementation only supports NHWC"),
        Wording("op only supports NHWC on device type CPU"),
        Wording("only supports NHWC data format on CPU"),
    ),
    explain=_explain,
    ways=(ways.DEVICES, ways.LAYERS),
    sources=(
        "https://github.com/keras-team/keras/issues/20414",
        "https://github.com/SummitKwan/transparent_latent_gan/issues/18",
        "https://github.com/tensorflow/tensorflow/issues/7967",
    ),
)
