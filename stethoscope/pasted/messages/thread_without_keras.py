"""A thread that Keras was not imported in."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "Standalone Keras 2.3 keeps a mark for each thread and sets it only in the one that imported it; a web server or generator calls it from another one. With TensorFlow 2 beside it, that fails.",
        Certainty.LIKELY,
        (
            Step(
                "Take Keras out of TensorFlow.",
                "from tensorflow.keras.models import load_model   # not from keras.models",
            ),
            Step("A server for trying out: one thread.", "app.run(threaded=False)"),
        ),
    )


MESSAGE = Message(
    id="thread-without-keras",
    title="A thread that Keras was not imported in",
    wordings=(
        Wording("'_thread._local' object has no attribute 'value'"),
        Wording("'thread._local' object has no attribute 'value'"),
        Wording(
            "'_thread._local' object has no attribute",
            r"'_thread\._local' object has no attribute '(?P<attribute>\w{1,40})'",
            beside="eras",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/keras-team/keras/issues/13353", "https://github.com/keras-team/keras/issues/13959"),
)
