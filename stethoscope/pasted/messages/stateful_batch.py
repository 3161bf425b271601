"""A stateful layer needs batches of one size."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("Invalid input_h shape"):
        return Cause(
            f"The state of a recurrent layer has the shape {read.get('wanted', 'of one batch size')} and the batch {read.get('found', 'another one')}: a stateful layer (or an initial state) was made for another number of rows. predict and evaluate take 32 rows unless told otherwise, and the last batch of an epoch is smaller.",
            Certainty.LIKELY,
            (
                Step("Give the size of the model's batches everywhere.", "model.predict(x, batch_size=33)"),
                Step("Drop what does not fill a batch.", "dataset = dataset.batch(33, drop_remainder=True)"),
            ),
        )
    if "rows" in read:
        return Cause(
            f"A stateful layer takes batches of one size only, and {read.get('rows')} rows do not divide by it.",
            Certainty.CERTAIN,
            (Step("Cut the rows to a multiple.", "n = len(x) // batch * batch\nx, y = x[:n], y[:n]"),),
        )
    return Cause(
        "A layer with stateful=True keeps a state for each row of a batch, so the number of rows has to be fixed in the first layer or Input; here it is open.",
        Certainty.CERTAIN,
        (
            Step("Keras 3, and functional models.", "inputs = keras.Input(batch_shape=(32, 10, 4))"),
            Step("Keras 2, Sequential.", "keras.layers.LSTM(64, stateful=True, batch_input_shape=(32, 10, 4))"),
            Step(
                "Each batch has to have that size, the last one and those of predict, too.",
                "model.predict(x, batch_size=32)",
            ),
        ),
    )


MESSAGE = Message(
    id="stateful-batch",
    title="A stateful layer needs batches of one size",
    wordings=(
        Wording("If a RNN is stateful"),
        Wording(
            "When using `stateful=True` in a RNN, the batch size must be static",
            r"sequence\.shape=(?P<found>\([^)]{0,60}\))",
        ),
        Wording("When using `stateful=True` in a RNN, the batch size must be static"),
        Wording(
            "In a stateful network, you should only pass inputs with a number of samples that can be",
            r"Found: (?P<rows>\d{1,9}) samples",
        ),
        Wording(
            "Invalid input_h shape", r"Invalid input_h shape: (?P<wanted>\[[\d,]{1,40}\]) (?P<found>\[[\d,]{1,40}\])"
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS, ways.DATA),
    sources=(
        "https://github.com/USGS-R/river-dl/issues/107",
        "https://github.com/tensorflow/tensorflow/issues/64061",
        "https://github.com/tensorflow/tensorflow/issues/53024",
        "https://github.com/keras-team/keras/issues/2030",
    ),
)
