"""A NumPy number where a number of Python is wanted."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "item" in read:
        return Cause(
            "What logs a number (the TensorBoard callback of old Keras) asks NumPy's item() of it, and got a plain number of Python: from a callback or a training loop of one's own.",
            Certainty.LIKELY,
            (Step("Hand on NumPy numbers.", "logs['score'] = np.float32(score)"),),
        )
    return Cause(
        f"{read.get('value', 'A value')} is of type {read.get('type', 'another type')}, and the field of a protocol buffer (a summary, an Example) takes plain numbers, texts or bytes only.",
        Certainty.CERTAIN,
        (
            Step(
                "Make a plain number of it; text becomes bytes in an Example.",
                "value = value.item()        # NumPy to Python\ntf.train.Feature(int64_list=tf.train.Int64List(value=[int(label)]))\ntf.train.Feature(bytes_list=tf.train.BytesList(value=[text.encode()]))",
            ),
        ),
    )


MESSAGE = Message(
    id="number-for-protobuf",
    title="A NumPy number where a number of Python is wanted",
    wordings=(
        Wording(
            ", but expected one of:",
            r"(?P<value>[^\s:]{1,40}) has type <?(?:class )?'?(?P<type>[\w.]{1,60})'?>?, but expected one of: (?P<wanted>.{1,120})",
        ),
        Wording("'int' object has no attribute 'item'", r"'(?P<type>int)' object has no attribute '(?P<item>item)'"),
        Wording(
            "'float' object has no attribute 'item'", r"'(?P<type>float)' object has no attribute '(?P<item>item)'"
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/keras-team/keras/issues/4048", "https://github.com/keras-rl/keras-rl/pull/112"),
)
