"""Text where numbers are wanted."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.get("found") == "object":
        return Cause(
            "The array has dtype object, which is Python objects and not numbers: texts, missing values (None), or rows of different lengths in one array.",
            Certainty.LIKELY,
            (
                Step("See what is in it.", "print(x.dtype, {type(value) for value in x.ravel()[:1000]})"),
                Step("A table: the columns that are no numbers.", "print(frame.select_dtypes('object').columns)"),
                Step("Numbers as one block.", "x = np.asarray(x.tolist(), 'float32')"),
            ),
        )
    wanted = read.get("wanted", "numbers")
    where = (
        " In the loss or a metric it is the labels."
        if read.says("categorical_crossentropy/Cast", "compute_loss", "metrics", "y_true")
        else ""
    )
    return Cause(
        f"Texts are to become {wanted}: most often the labels or a column of the inputs are still strings.{where}",
        Certainty.CERTAIN,
        (
            Step("Labels: number them once, and keep the order.", "classes, y = np.unique(y, return_inverse=True)"),
            Step(
                "Inputs: look them up in the model.", "lookup = keras.layers.StringLookup()\nlookup.adapt(train_texts)"
            ),
            Step("See which are texts.", "print(dataset.element_spec)   # or x.dtype, y.dtype"),
        ),
    )


MESSAGE = Message(
    id="string-to-number",
    title="Text where numbers are wanted",
    wordings=(
        Wording("is not supported", r"Cast string to (?P<wanted>\w{1,20}) is not supported"),
        Wording("Invalid dtype: ", r"Invalid dtype: (?P<found>str\d{0,6}|object|string|<U\d{1,6})"),
    ),
    explain=_explain,
    ways=(ways.DATA, ways.CHECK),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/38181",
        "https://github.com/AarohiSingla/VGG-16/issues/1",
        "https://github.com/keras-team/tf-keras/issues/706",
    ),
)
