"""A class of one's own does not take what it was saved with."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording
from stethoscope.pasted.raised.members import packages_with


def _explain(read: Read) -> Cause:
    kind = read.get("layer_class", "A class of your own")
    if ("missing" in read or "argument" in read) and (packages_with(kind) or "layer_class" not in read):
        named = f"“{read.get('missing') or read.get('argument')}”"
        owner = f"{kind} is of Keras itself" if packages_with(kind) else "For a class of Keras itself"
        return Cause(
            f"What the file holds and what the class takes differ in {named}. {owner}: the file was written by another version. For a class of your own: get_config and __init__ do not agree.",
            Certainty.LIKELY,
            (
                Step("Read the file by the Keras that wrote it.", "pip list | grep -i -E 'tensorflow|keras'"),
                Step(
                    "A class of your own: take the rest, and hand it on.",
                    "def __init__(self, units, **kwargs):\n    super().__init__(**kwargs)\n    self.units = units",
                ),
            ),
        )
    if "missing" in read:
        return Cause(
            f"{kind} needs “{read.get('missing')}” and the file does not hold it: get_config does not return it, or did not when the file was written.",
            Certainty.CERTAIN,
            (
                Step(
                    "Return all arguments.",
                    f"def get_config(self):\n    return {{**super().get_config(), '{read.get('missing')}': self.{read.get('missing')}}}",
                ),
            ),
        )
    if "argument" in read:
        name = read.get("argument")
        return Cause(
            f"{kind} was saved with “{name}” and its __init__ does not take it"
            + (
                ": the settings that every layer has (name, dtype, trainable) have to go on to the base class."
                if name in {"name", "dtype", "trainable"}
                else ": get_config and __init__ do not agree."
            ),
            Certainty.CERTAIN,
            (
                Step(
                    "Take the rest, and hand it on.",
                    "def __init__(self, units, **kwargs):\n    super().__init__(**kwargs)\n    self.units = units",
                ),
            ),
        )
    if kind in {"<class 'keras.src.models.functional.Functional'>", "A class of your own"} and read.says("models."):
        kind = "A layer of the model"
    return Cause(
        f"{kind} could not be made again from its saved settings: get_config and __init__ do not agree, inner layers come back as dicts, or the class is not registered.",
        Certainty.POSSIBLE,
        (
            Step(
                "Inner layers and functions are brought back by from_config.",
                "@classmethod\ndef from_config(cls, config):\n    config['layer'] = keras.saving.deserialize_keras_object(config['layer'])\n    return cls(**config)",
            ),
            Step("The last line of the message says what went wrong inside."),
        ),
    )


MESSAGE = Message(
    id="class-config",
    title="A class of one's own does not take what it was saved with",
    wordings=(
        Wording(
            "could not be deserialized properly",
            r"(?:(?P<layer_class>\w{1,80})\.)?__init__\(\) got an unexpected keyword argument '(?P<argument>\w{1,60})'",
        ),
        Wording(
            "could not be deserialized properly",
            r"(?:(?P<layer_class>\w{1,80})\.)?__init__\(\) missing \d{1,2} required positional arguments?: '(?P<missing>\w{1,60})'",
        ),
        Wording(
            "Error when deserializing class",
            r"deserializing class '(?P<layer_class>\w{1,80})'.{0,1000}?__init__\(\) got an unexpected keyword argument '(?P<argument>\w{1,60})'",
        ),
        Wording("Error when deserializing class", r"deserializing class '(?P<layer_class>\w{1,80})'"),
        Wording("could not be deserialized properly"),
        Wording("KeyError: 'layers'", beside="config['layers']"),
        Wording("KeyError: 'class_name'", beside="keras"),
        Wording("config.pop(", r"config\.pop\('(?P<entry>\w{1,60})'\).{0,400}?KeyError: '(?P<missing>\w{1,60})'"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/keras-team/keras/issues/21046", "https://github.com/keras-team/keras/issues/19899"),
    rank=-1,
)
