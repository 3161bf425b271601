"""Numbers of classes or words that are not whole numbers."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.get("found") in ("int8", "int16", "uint8", "uint16", "uint32", "uint64"):
        return Cause(
            f"Indices are int32 or int64, and {read.get('found')} came.",
            Certainty.CERTAIN,
            (Step("Convert them.", "tf.gather(table, tf.cast(ids, tf.int32))"),),
        )
    name = read.get("found", "float")
    one_hot = read.says("OneHot", "one_hot")
    return Cause(
        f"Indices have to be whole numbers, and {name} came: "
        + (
            "tf.one_hot wants class numbers."
            if one_hot
            else "an Embedding, tf.gather or tf.one_hot looks rows up by them. NumPy, pandas and a scaler make floats of ids."
        ),
        Certainty.CERTAIN,
        (
            Step("Keep ids as integers to the last.", "ids = ids.astype('int32')"),
            Step("Say so in the input of the model.", "keras.Input((length,), dtype='int32')"),
            Step("In a function.", "tf.gather(table, tf.cast(ids, tf.int32))"),
        ),
    )


MESSAGE = Message(
    id="ids-not-whole",
    title="Numbers of classes or words that are not whole numbers",
    wordings=(
        Wording(
            "Value for attr 'Tindices' of ",
            r"Value for attr 'Tindices' of (?P<found>\w{1,20}) is not in the list of allowed values",
        ),
        Wording(
            "Value for attr 'TI' of ",
            r"Value for attr 'TI' of (?P<found>\w{1,20}) is not in the list of allowed values",
        ),
        Wording(
            "passed to parameter 'indices' has DataType",
            r"parameter 'indices' has DataType (?P<found>\w{1,20}) not in list of allowed values",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/ibab/tensorflow-wavenet/issues/393",
        "https://github.com/tensorflow/tensorflow/issues/44368",
    ),
)
