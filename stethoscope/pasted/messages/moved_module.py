"""A module that was moved or taken out."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording
from stethoscope.pasted.scripts.names import exists
from stethoscope.pasted.scripts.renames import Today, today

_PRIVATE = {"tensorflow.python.keras": "tensorflow.keras", "keras.src": "keras", "keras.api": "keras"}
"""Where private modules stand in for public ones."""


def _explain(read: Read) -> Cause:
    module, name = read.get("module", "a module"), read.get("name")
    told = f"“{name}” of {module}" if name else f"“{module}”"
    if module.startswith("tensorflow.contrib"):
        return Cause(
            f"{told} was taken out of TensorFlow 2.",
            Certainty.CERTAIN,
            (
                Step("tf.contrib.slim lives on.", "pip install tf_slim\nimport tf_slim as slim"),
                Step("Old code as it is needs TensorFlow 1.15 and Python 3.7."),
            ),
        )
    if name == "ImageDataGenerator" and module.startswith("keras.") and "v2" not in module and "image" in module:
        return Cause(
            f"{told} is not in Keras 3, whose public modules leave it out; tf.keras still has it, and warns. Today a data set of files and layers that change pictures do what it did.",
            Certainty.CERTAIN,
            (
                Step(
                    "A data set of the files, and layers.",
                    "train = keras.utils.image_dataset_from_directory('train', image_size=(224, 224), batch_size=32)\naugment = keras.Sequential([keras.layers.RandomFlip('horizontal'), keras.layers.RandomRotation(0.1)])",
                ),
                Step(
                    "Or the old class, by way of TensorFlow.",
                    "from tensorflow.keras.preprocessing.image import ImageDataGenerator",
                ),
            ),
        )
    public = next(
        (module.replace(private, own, 1) for private, own in _PRIVATE.items() if module.startswith(private)), module
    )
    written = f"{public}.{name}" if name else public
    now = today(written, written)
    if not now.name and public != module and name and exists(written):
        now = Today(written)
    if now.name and now.name != (f"{module}.{name}" if name else module):
        home, _, own = now.name.rpartition(".")
        line = f"from {home} import {own}" if home else f"import {now.name}"
        return Cause(
            f"{told} is not in this Keras or TensorFlow; today it is {now.name}.{f' {now.remark[0].upper()}{now.remark[1:]}.' if now.remark else ''}",
            Certainty.CERTAIN,
            (
                Step("Import from the public name.", line),
                Step("Or keep Keras 2 beside it.", "pip install tf_keras\nimport tf_keras as keras"),
            ),
        )
    if now.remark:
        return Cause(
            f"{told} is gone from this Keras or TensorFlow: {now.remark}.",
            Certainty.CERTAIN,
            (Step("Or keep Keras 2 beside it.", "pip install tf_keras\nimport tf_keras as keras"),),
        )
    return Cause(
        f"{told} is not in the version that is installed: it was moved, made private or taken out, or Keras and TensorFlow are of different times.",
        Certainty.LIKELY,
        (
            Step("See the versions.", "pip list | grep -i -E 'tensorflow|keras'"),
            Step(
                "Names under tensorflow.python and keras.src are private: import from tensorflow.keras or keras.",
                "from tensorflow.keras.layers import Layer",
            ),
            Step(
                "Code for Keras 2 under TensorFlow 2.16 and later.",
                "pip install tf_keras\nexport TF_USE_LEGACY_KERAS=1",
            ),
        ),
    )


MESSAGE = Message(
    id="moved-module",
    title="A module that was moved or taken out",
    wordings=(
        Wording("No module named 'tensorflow.contrib", r"No module named '(?P<module>tensorflow\.contrib[\w.]{0,60})'"),
        Wording("No module named 'keras.", r"No module named '(?P<module>keras\.[\w.]{1,80})'"),
        Wording(
            "No module named 'tensorflow.python.keras",
            r"No module named '(?P<module>tensorflow\.python\.keras[\w.]{0,60})'",
        ),
        Wording("No module named 'tensorflow.", r"No module named '(?P<module>tensorflow\.[\w.]{1,80})'"),
        Wording(
            "No module named 'keras_preprocessing", r"No module named '(?P<module>keras_preprocessing[\w.]{0,60})'"
        ),
        Wording(
            "cannot import name",
            r"cannot import name '(?P<name>\w{1,60})' from '(?P<module>(?:keras|tensorflow)[\w.]{0,80})'",
        ),
        Wording(
            "cannot import name",
            r"from (?P<module>(?:keras|tensorflow)[\w.]{0,80}) import [^\n]{1,300}?ImportError: cannot import name '(?P<name>\w{1,60})'",
        ),
        Wording("No module named 'tensorflow_core", r"No module named '(?P<module>tensorflow_core[\w.]{0,60})'"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/tensorflow/models/issues/7036",),
)
