"""A session and a model of different graphs."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    tensor = f"{read.get('tensor')[:80]} " if "tensor" in read else "A tensor "
    if read.says("The Session graph is empty"):
        return Cause(
            "The session has no graph: in TensorFlow 2 operations run at once and are not put into the default graph (or, in TensorFlow 1, the graph was reset or is another one).",
            Certainty.LIKELY,
            (
                Step(
                    "Old programs: turn eager execution off at the very beginning.",
                    "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()",
                ),
            ),
        )
    return Cause(
        f"{tensor}was made in one graph and is used with the session of another: a model that was loaded in another thread (a web server), a graph that was reset, or a second model.",
        Certainty.LIKELY,
        (
            Step(
                "TensorFlow 1 in a server: keep graph and session of the model, and enter them.",
                "graph = tf.get_default_graph()\nwith graph.as_default(), session.as_default():\n    model.predict(x)",
            ),
            Step("TensorFlow 2 has no such trouble: load the model once, call it from each thread."),
        ),
    )


MESSAGE = Message(
    id="session-graph",
    title="A session and a model of different graphs",
    wordings=(
        Wording("The Session graph is empty"),
        Wording("is not an element of this graph", r"Tensor (?P<tensor>.{1,100}?) is not an element of this graph"),
        Wording(
            "was not found in the Graph",
            r"Tensor (?P<tensor>[^,]{1,100}), specified in either feed_devices or fetch_devices was not found in the Graph",
        ),
        Wording("must be from the same graph as"),
        Wording("Attempted to use a closed Session"),
        Wording("is not an element of this graph"),
    ),
    explain=_explain,
    ways=(ways.PREDICT,),
    sources=(
        "https://github.com/minimaxir/gpt-2-simple/issues/196",
        "https://github.com/jrosebr1/simple-keras-rest-api/pull/8",
    ),
)
