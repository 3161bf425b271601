"""The file was written by another version of Keras."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    arguments = read.get("arguments") or read.get("argument") or "settings"
    arguments = arguments.replace("'", "")
    kind = read.get("layer_class", "a layer")
    if "optional" in arguments and "batch_shape" not in arguments:
        return Cause(
            f"{kind} in the file has “{arguments}”, which a newer Keras 3 writes than the one that reads it here (or Keras 2 reads it).",
            Certainty.LIKELY,
            (Step("Load it with a newer Keras.", "pip install -U keras tensorflow"),),
        )
    if "batch_shape" in arguments:
        return Cause(
            f"“{arguments}” is written by Keras 3, and Keras 2 (TensorFlow up to 2.15, tf_keras) reads the file: it does not know it.",
            Certainty.CERTAIN if read.says("eserializ", "load_model", "from_config") else Certainty.LIKELY,
            (
                Step(
                    "Load it with Keras 3.",
                    "pip install -U tensorflow   # 2.16 and later\nimport keras\nmodel = keras.models.load_model('model.keras')",
                ),
                Step(
                    "Or carry the weights over.",
                    "model = build_model()   # in the old Keras\nmodel.load_weights('model.weights.h5')",
                ),
            ),
        )
    if any(
        word in arguments
        for word in (
            "groups",
            "time_major",
            "batch_input_shape",
            "input_shape",
            "implementation",
            "quantization_config",
            "fn",
        )
    ):
        return Cause(
            f"{kind} in the file has “{arguments}”, which this Keras does not take: the file was written by another version.",
            Certainty.LIKELY,
            (
                Step(
                    "Read it with the Keras that wrote it (for Keras 2: tf_keras) and save it anew.",
                    "pip install tf_keras\nimport tf_keras\nmodel = tf_keras.models.load_model('model.h5')",
                ),
                Step("Or carry the weights over.", "model = build_model()\nmodel.load_weights('model.h5')"),
            ),
        )
    return Cause(
        f"{kind} in the file has settings that this Keras does not take ({arguments}): the file was written by another version, or a class of your own does not take what get_config returns.",
        Certainty.POSSIBLE,
        (
            Step("See who wrote it: Stethoscope reads the version from the file."),
            Step(
                "A class of your own: __init__ has to take all that get_config returns, and **kwargs.",
                "def __init__(self, units, **kwargs):\n    super().__init__(**kwargs)",
            ),
        ),
    )


MESSAGE = Message(
    id="unrecognised-keywords",
    title="The file was written by another version of Keras",
    wordings=(
        Wording(
            "Unrecognized keyword arguments: [", r"Unrecognized keyword arguments: \[(?P<arguments>[^\]]{1,160})\]"
        ),
        Wording(
            "when deserializing class",
            r"Error when deserializing class '(?P<layer_class>\w{1,60})'.{0,1400}?(?:Unrecognized keyword arguments passed to \w{1,60}: \{(?P<arguments>[^}]{1,120})|unexpected keyword argument '(?P<argument>time_major|batch_shape|implementation|groups|quantization_config|optional|ragged|batch_input_shape|registered_name|fn|sparse|reset_after|value_range|input_axes)')",
        ),
        Wording(
            "Unrecognized keyword arguments passed to",
            r"passed to (?P<layer_class>\w{1,60}): \{(?P<arguments>[^}]{1,160})",
            beside="when deserializing",
        ),
        Wording("Unknown dtype policy", r"Unknown dtype policy:? ?'?(?P<arguments>\w{1,40})"),
        Wording("Unable to revive model from config"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/64685",
        "https://github.com/tensorflow/tensorflow/issues/66381",
        "https://github.com/keras-team/keras/issues/20106",
    ),
)
