"""A name that nothing has made."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("func_load", "deserialize_lambda", "load_model", "from_config"):
        return Cause(
            f"“{read.get('name', 'A name')}” is not defined where it is used. While a model is loaded or rebuilt: a Lambda layer keeps its function without the imports around it. Else an import is missing.",
            Certainty.LIKELY,
            (
                Step(
                    "Give it while loading.",
                    "model = keras.models.load_model(path, custom_objects={'tf': tf}, safe_mode=False)",
                ),
                Step("Better: a layer of your own instead of the Lambda."),
            ),
        )
    name = f"“{read.get('name')}”" if "name" in read else "A name"
    return Cause(
        f"{name} is used before anything gave it a value: an import is missing, a cell above was not run (or the kernel was restarted), or it is misspelt.",
        Certainty.CERTAIN,
        (
            Step("In a notebook, run all cells from the top."),
            Step(
                "Names of Keras, whole.", "from tensorflow import keras\nx = keras.utils.pad_sequences(x, maxlen=500)"
            ),
        ),
    )


MESSAGE = Message(
    id="name-not-defined",
    title="A name that nothing has made",
    wordings=(
        Wording(
            "is not defined",
            r"NameError: (?:global )?name '(?P<name>tf|tensorflow|keras|K|layers|models|optimizers|losses|callbacks|sequence|tfds|hub|[Mm]odel|Sequential|Dense|Conv2D|LSTM|GRU|Input|Embedding|Dropout|Flatten|Adam|SGD|pad_sequences|to_categorical|load_model|load_img|img_to_array|image|Tokenizer|ImageDataGenerator|train_generator|validation_generator|train_ds|val_ds)' is not defined",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/keras-team/keras/issues/14114",),
    rank=-2,
)
