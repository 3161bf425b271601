"""The file names a loss or metric that Keras does not know."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording
from stethoscope.pasted.raised.members import packages_with


def _explain(read: Read) -> Cause:
    name = (read.get("function") or read.get("other") or "a function of your own").split(">")[-1].strip("'.,:")
    what = read.get("what", "function")
    if name in {"mse", "mae", "mean_squared_error", "mean_absolute_error", "MeanSquaredError"}:
        return Cause(
            f"The file was saved with “{name}” as a short name, which Keras 3 does not find again while loading an old .h5 file.",
            Certainty.LIKELY,
            (
                Step(
                    "Load without compiling, then compile.",
                    "model = keras.models.load_model('model.h5', compile=False)\nmodel.compile('adam', 'mean_squared_error')",
                ),
            ),
        )
    if not read.says("load_model", "model_from_json", "from_config", "Could not locate function", "when deserializing"):
        return Cause(
            f"“{name}” is no {what} that Keras knows: misspelt, your own and not handed over as an object, or named by a file that is loaded.",
            Certainty.LIKELY,
            (
                Step("Your own: give the function itself.", "model.compile('adam', loss=focal_loss)"),
                Step("While loading: give it.", f"keras.models.load_model(path, custom_objects={{'{name}': {name}}})"),
            ),
        )
    return Cause(
        f"The file names the {what} “{name}”, but does not hold its code. For predicting it is not needed.",
        Certainty.CERTAIN
        if ("function" in read or "other" in read)
        and not packages_with("".join(part.title() for part in name.split("_")))
        else Certainty.LIKELY,
        (
            Step("Predict only: load without it.", "model = keras.models.load_model('model.keras', compile=False)"),
            Step(
                "Train on: give it while loading.",
                f"model = keras.models.load_model('model.keras', custom_objects={{'{name}': {name}}})",
            ),
            Step("Next time: register it before saving.", "@keras.saving.register_keras_serializable()"),
        ),
    )


MESSAGE = Message(
    id="unknown-function",
    title="The file names a loss or metric that Keras does not know",
    wordings=(
        Wording("Unable to restore custom object of type"),
        Wording("Could not locate function", r"Could not locate function '(?P<function>[\w>:.]{1,80})'"),
        Wording(
            "Unknown loss function",
            r"Unknown (?P<what>loss function)['\",:]{0,3} ?['\":]{0,2}(?P<function>[\w>:.]{1,80})",
        ),
        Wording(
            "Unknown metric function",
            r"Unknown (?P<what>metric function)['\",:]{0,3} ?(?:['\"]?(?P<function>\w[\w>:.]{1,80})|\{.{0,200}?'class_name': '(?P<other>\w{1,60})')",
        ),
        Wording("Unknown loss function"),
        Wording("Unknown metric function"),
        Wording(
            "Unknown activation function",
            r"Unknown (?P<what>activation function)['\",:]{0,3} ?['\"]?(?P<function>[\w>:.]{1,80})",
            beside="custom_object",
        ),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.PREDICT),
    sources=(
        "https://github.com/keras-team/keras/issues/5916",
        "https://github.com/keras-team/keras/issues/13797",
        "https://github.com/keras-team/autokeras/issues/1694",
    ),
)
