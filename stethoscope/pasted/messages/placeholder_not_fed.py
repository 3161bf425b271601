"""A placeholder was not fed."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    named = f"“{read.get('tensor')}”" if "tensor" in read else "A placeholder"
    return Cause(
        f"{named} was not fed, and what is to be computed depends on it: it is missing in feed_dict, a second graph with placeholders of the same names was built (a cell that ran twice), or a summary or metric that is run along needs more than was fed.",
        Certainty.LIKELY,
        (
            Step("Feed it, by the tensor of this graph.", "session.run(fetches, feed_dict={x: batch_x, y: batch_y})"),
            Step(
                "In a notebook begin with an empty graph.",
                "tf.compat.v1.reset_default_graph()   # Keras: keras.backend.clear_session()",
            ),
            Step(
                "merge_all gathers every summary: take only those that this run feeds.",
                "tf.compat.v1.summary.merge([loss_summary])",
            ),
        ),
    )


MESSAGE = Message(
    id="placeholder-not-fed",
    title="A placeholder was not fed",
    wordings=(
        Wording(
            "You must feed a value for placeholder tensor",
            r"placeholder tensor '(?P<tensor>[\w/.:-]{1,120})'(?: with dtype (?P<type>\w{1,20}))?",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/tensorflow/tensorboard/issues/218",
        "https://github.com/tensorflow/tensorflow/issues/10632",
        "https://github.com/nethsix/gentle_tensorflow/issues/17",
    ),
)
