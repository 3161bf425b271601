"""Packages of different times."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    package, name = read.get("package"), read.get("name")
    what = (
        f"{package} has no “{name}”, which another package looks for in it"
        if package and name
        else "Keras and TensorFlow do not fit each other"
    )
    if package in ("keras", "tensorflow_hub"):
        what = f"The {package} that is installed is older than “{name}”, which the program uses"
        if name == "saving":
            what = f"The {package} that is installed has no “{name}” (it is older, or hides it)"
    return Cause(
        f"{what}: packages of different times are installed together (TensorFlow 2.x brings Keras 2.x up to 2.15, Keras 3 from 2.16 on).",
        Certainty.LIKELY,
        (
            Step("See what there is.", "pip list | grep -i -E 'tensorflow|keras|tf.keras'"),
            Step(
                "Let pip choose what goes together, in a fresh environment.",
                "python -m venv fresh && fresh/bin/pip install tensorflow",
            ),
            Step(
                "An old TensorFlow that has to stay: the Keras of its number.",
                "pip install 'tensorflow==2.12.*' 'keras==2.12.*'",
            ),
        ),
    )


MESSAGE = Message(
    id="versions-apart",
    title="Packages of different times",
    wordings=(
        Wording(
            "module 'tensorflow.compat.v2.__internal__",
            r"module '(?P<package>[\w.]{1,80})' has no attribute '(?P<name>\w{1,60})'",
        ),
        Wording(
            "module 'tensorflow._api.v2.compat.v2.__internal__",
            r"module '(?P<package>[\w.]{1,80})' has no attribute '(?P<name>\w{1,60})'",
        ),
        Wording(
            "module 'tensorflow_hub' has no attribute 'KerasLayer'",
            r"module '(?P<package>tensorflow_hub)' has no attribute '(?P<name>KerasLayer)'",
        ),
        Wording(
            "module 'keras' has no attribute 'config'",
            r"module '(?P<package>keras)' has no attribute '(?P<name>config)'",
        ),
        Wording(
            "module 'keras' has no attribute 'ops'", r"module '(?P<package>keras)' has no attribute '(?P<name>ops)'"
        ),
        Wording(
            "module 'keras' has no attribute 'saving'",
            r"module '(?P<package>keras)' has no attribute '(?P<name>saving)'",
        ),
        Wording("'str' object has no attribute 'base_dtype'"),
        Wording("multi-backend Keras that does not support TensorFlow 2.0"),
        Wording("Keras requires TensorFlow 2", r"Keras requires TensorFlow (?P<wanted>[\d.]{1,10})"),
        Wording("cannot import name 'tf2' from 'tensorflow.python'"),
        Wording(
            "cannot import name 'dtensor' from 'tensorflow",
            r"cannot import name '(?P<name>dtensor)' from '(?P<package>tensorflow[\w.]{0,60})'",
        ),
        Wording("of type 'Variable' instead"),
        Wording("AttributeError: can't set attribute", beside="v.constraint = constraint"),
        Wording(
            "has no attribute '__internal__'",
            r"module '(?P<package>tensorflow[\w.]{1,80})' has no attribute '(?P<name>__internal__)'",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/51992",
        "https://github.com/tensorflow/hub/issues/929",
        "https://github.com/tensorflow/hub/issues/255",
        "https://github.com/CyberZHG/keras-self-attention/issues/31",
        "https://github.com/keras-team/keras-core/issues/559",
    ),
)
