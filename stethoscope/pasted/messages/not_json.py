"""A model cannot be described as JSON."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    named = f" ({read.get('object')})" if "object" in read else ""
    if read.says("is not JSON serializable") and not read.says("save", "to_json", "get_config", "keras", "checkpoint"):
        return Cause(
            f"json.dump met a value that is no plain Python{named}: a number or array of NumPy, a tensor, an object of one's own.",
            Certainty.LIKELY,
            (Step("Make it plain.", "json.dump({name: float(value) for name, value in logs.items()}, file)"),),
        )
    return Cause(
        f"A model is saved by its description in JSON, and in that stands a value which JSON does not know{named}: a tensor, a size or type of TensorFlow, an array or a module that was given as an argument of a layer, is used in a Lambda, or is returned by get_config.",
        Certainty.LIKELY,
        (
            Step(
                "Types as text, sizes as int, arrays as lists.",
                "keras.Input((1,), dtype='float32')   # not tf.float32\nint(x.shape[-1])",
            ),
            Step(
                "get_config of one's own layers returns plain values only.",
                "def get_config(self):\n    return {**super().get_config(), 'scale': float(self.scale)}",
            ),
            Step(
                "Meanwhile only the weights.",
                "model.save_weights('model.weights.h5')   # callbacks: save_weights_only=True",
            ),
        ),
    )


MESSAGE = Message(
    id="not-json",
    title="A model cannot be described as JSON",
    wordings=(
        Wording("Not JSON Serializable", r"Not JSON Serializable:?'?,? ?(?P<object>[^\n]{1,120}?)\)?(?: |$)"),
        Wording("Not JSON Serializable"),
        Wording("is not JSON serializable", r"Object of type '?(?P<object>\w{1,60})'? is not JSON serializable"),
        Wording("Unable to serialize", r"Unable to serialize (?P<object>.{1,120}?) to JSON"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/keras-team/keras/issues/11110",
        "https://github.com/keras-team/keras/issues/9342",
        "https://github.com/keras-team/keras/issues/13218",
        "https://github.com/ialhashim/DenseDepth/issues/16",
    ),
)
