"""A variable is made a second time."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    named = f"“{read.get('variable')}”" if "variable" in read else "A variable"
    if read.says("was not created with tf.get_variable()"):
        return Cause(
            f"{named} is to be reused and was never made: reuse is on for a scope in which nothing exists yet, often because the optimizer's own variables are made in it.",
            Certainty.LIKELY,
            (
                Step(
                    "Let it make what is missing, and make the optimizer outside of the scope.",
                    "with tf.compat.v1.variable_scope('generator', reuse=tf.compat.v1.AUTO_REUSE): ...",
                ),
            ),
        )
    return Cause(
        f"{named} is there already and get_variable is to make it anew: the graph is built twice (a cell or function that runs again, a loop), or one network is applied twice without sharing its weights.",
        Certainty.LIKELY,
        (
            Step("Built again: begin with an empty graph.", "tf.compat.v1.reset_default_graph()"),
            Step(
                "Applied twice: share the weights.",
                "with tf.compat.v1.variable_scope('net', reuse=tf.compat.v1.AUTO_REUSE): ...",
            ),
            Step("Predicting in a loop: build the network once, before it."),
        ),
    )


MESSAGE = Message(
    id="variable-exists",
    title="A variable is made a second time",
    wordings=(
        Wording(
            "already exists, disallowed. Did you mean to set reuse=",
            r"Variable (?P<variable>[\w/.:-]{1,160}) already exists",
        ),
        Wording("already exists, disallowed", r"Variable (?P<variable>[\w/.:-]{1,160}) already exists"),
        Wording(
            "does not exist, or was not created with tf.get_variable()",
            r"Variable (?P<variable>[\w/.:-]{1,160}) does not exist",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/google-deepmind/neural-processes/issues/4",
        "https://github.com/gaussic/text-classification-cnn-rnn/issues/144",
        "https://github.com/MaybeShewill-CV/lanenet-lane-detection/issues/1",
    ),
)
