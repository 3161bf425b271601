"""The file names a class that Keras does not know."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording
from stethoscope.pasted.raised.members import packages_with


def _explain(read: Read) -> Cause:
    name = read.get("class", "a class of your own").split(">")[-1].strip("'.,:")
    if read.get("module").startswith(("keras", "tensorflow", "tf_keras")) or packages_with(name):
        return Cause(
            f"“{name}” is a class of Keras itself under a name or place that this Keras does not have: most often another version of Keras, or the other one of keras and tf.keras, wrote the file. If it is a class of your own of that name, it has to be given.",
            Certainty.LIKELY,
            (
                Step("Read it with the package that wrote it.", "pip list | grep -i -E 'tensorflow|keras'"),
                Step("A class of your own.", f"keras.models.load_model(path, custom_objects={{'{name}': {name}}})"),
            ),
        )
    if name in {"Functional", "Sequential", "Model", "InputLayer", "Dense", "Conv2D", "keras.Model"}:
        return Cause(
            f"“{name}” is Keras's own, so file and Keras are of different generations, or keras and tf.keras are mixed: a file of tf.keras 2.x is read by an older Keras, or the other way round.",
            Certainty.LIKELY,
            (
                Step(
                    "Read it with the package that wrote it.",
                    "from tensorflow.keras.models import load_model   # not from keras.models",
                ),
                Step(
                    "See the versions; Stethoscope says which one wrote the file.",
                    "pip list | grep -i -E 'tensorflow|keras'",
                ),
            ),
        )
    module = f" Its module {read.get('module')} cannot be imported here." if "module" in read else ""
    return Cause(
        f"The file holds the name “{name}” and its settings, but not its code.{module} Keras has to be given the class.",
        Certainty.CERTAIN,
        (
            Step(
                "Give it while loading.",
                f"model = keras.models.load_model('model.keras', custom_objects={{'{name}': {name}}})",
            ),
            Step(
                "Or register it where it is defined, and import that module before loading.",
                f"@keras.saving.register_keras_serializable()\nclass {name}(keras.layers.Layer):\n    …",
            ),
            Step("Without the code: a SavedModel (model.export) runs without the class.", "model.export('folder')"),
        ),
    )


MESSAGE = Message(
    id="unknown-class",
    title="The file names a class that Keras does not know",
    wordings=(
        Wording("Unknown layer", r"Unknown layer(?:: ?| ?(?=['\"]))['\"]?(?P<class>[\w>:.]{1,80})"),
        Wording("Could not locate class", r"Could not locate class '(?P<class>[\w>:.]{1,80})'"),
        Wording(
            "Unknown object", r"Unknown object(?:: ?| ?(?=['\"]))['\"]?(?P<class>[\w>:.]{1,80})", beside="ustom_object"
        ),
        Wording("Unknown optimizer", r"Unknown optimizer:? ?['\"]?(?P<class>[\w>:.]{1,80})", beside="custom_objects"),
        Wording(
            "Could not deserialize class",
            r"Could not deserialize class '(?P<class>\w{1,80})' because its parent module (?P<module>[\w.]{1,120}) cannot be imported",
        ),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/keras-team/keras/issues/21046",
        "https://github.com/CyberZHG/keras-pos-embd/issues/1",
        "https://github.com/keras-team/keras/issues/19899",
        "https://github.com/aertslab/CREsted/issues/111",
    ),
)
