"""A variable that was never given a value."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    variable = f"“{read.get('variable')}”" if "variable" in read else "A variable"
    return Cause(
        f"{variable} was read before it had a value: the initializer of TensorFlow 1 was not run in this session, or the model was made in another session or graph, or its process had forked.",
        Certainty.LIKELY,
        (
            Step(
                "Run the initializers, or restore a checkpoint, in this very session.",
                "session.run([tf.compat.v1.global_variables_initializer(), tf.compat.v1.tables_initializer()])",
            ),
            Step(
                "A model in several threads: load and use it in one session.",
                "tf.compat.v1.keras.backend.set_session(session)",
            ),
        ),
    )


MESSAGE = Message(
    id="uninitialised-variable",
    title="A variable that was never given a value",
    wordings=(
        Wording("Attempting to use uninitialized value", r"uninitialized value (?P<variable>[\w/.:-]{1,120})"),
        Wording("Could not find variable", r"Could not find variable (?P<variable>[\w/.:-]{1,120}?)\. "),
        Wording("Error while reading resource variable", r"resource variable (?P<variable>[\w/.:-]{1,120}) from"),
        Wording("Table not initialized"),
        Wording("Container localhost does not exist"),
    ),
    explain=_explain,
    ways=(ways.PREDICT,),
    sources=("https://github.com/keras-team/keras/issues/5427", "https://github.com/maples1993/Cats_vs_Dogs/issues/2"),
)
