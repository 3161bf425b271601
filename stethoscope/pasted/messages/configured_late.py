"""A setting came after TensorFlow had started its devices."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("Memory growth cannot differ between GPU devices"):
        return Cause(
            "Memory growth is set for some cards and not for others; it has to be the same for all that are visible.",
            Certainty.CERTAIN,
            (
                Step(
                    "Set it for all of them.",
                    "for gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)",
                ),
            ),
        )
    if read.says("Cannot set memory growth on device when virtual devices configured"):
        return Cause(
            "Memory growth and logical devices with a limit exclude each other on one card.",
            Certainty.CERTAIN,
            (
                Step(
                    "Take one of them.",
                    "tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])",
                ),
            ),
        )
    what = read.get("what", "Devices")
    return Cause(
        f"{what} can only be set before TensorFlow starts its devices, and they were started: an operation ran, a model was made or loaded, a strategy was created, or a module that was imported did one of these. In a notebook an earlier cell did.",
        Certainty.CERTAIN,
        (
            Step(
                "Put it right after the import, before anything else, and before importing your own modules.",
                "import tensorflow as tf\nfor gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)\n\nimport my_model   # after it",
            ),
            Step("In a notebook: restart the kernel, and run this cell first."),
            Step("Or by the environment, before Python starts.", "TF_FORCE_GPU_ALLOW_GROWTH=true python train.py"),
        ),
    )


MESSAGE = Message(
    id="configured-late",
    title="A setting came after TensorFlow had started its devices",
    wordings=(
        Wording(
            "cannot be modified after being initialized",
            r"(?P<what>Physical devices|Virtual devices|Visible devices|Logical devices|Memory growth) cannot be modified after being initialized",
        ),
        Wording(
            "cannot be modified after initialization",
            r"(?P<what>Intra op parallelism|Inter op parallelism|Operation timeout) cannot be modified after initialization",
        ),
        Wording(
            "must be set before GPUs have been initialized",
            r"(?P<what>Memory growth|[A-Z][\w ]{1,40}) must be set before GPUs",
        ),
        Wording("must be set at program startup", r"(?P<what>[A-Z][\w ]{1,40}) must be set at program startup"),
        Wording(
            "must be set before being initialized", r"(?P<what>[A-Z][\w ]{1,40}) must be set before being initialized"
        ),
        Wording("Memory growth cannot differ between GPU devices"),
        Wording("Cannot set memory growth on device when virtual devices configured"),
    ),
    explain=_explain,
    ways=(ways.CARD,),
    sources=(
        "https://github.com/hunglc007/tensorflow-yolov4-tflite/issues/171",
        "https://github.com/tym-b/implicit-slam/issues/5",
        "https://tensorflow.org/versions/r2.13/api_docs/python/tf/config/experimental/set_memory_growth",
    ),
)
