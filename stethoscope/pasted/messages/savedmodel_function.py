"""A SavedModel is called with other arguments than it was saved for."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    told = (
        f" It was given {read.get('found')} {read.get('found_type')} and takes {read.get('wanted')} {read.get('wanted_type')}."
        if "wanted" in read
        else ""
    )
    return Cause(
        f"A SavedModel holds functions for the shapes, types and names they were traced with, and this call fits none.{told} Usual: float64 instead of float32, a list instead of a tensor, training= that was not saved, or arguments by position where names are wanted.",
        Certainty.LIKELY,
        (
            Step("See what it takes.", "saved_model_cli show --dir folder --all"),
            Step(
                "Call the signature by name, with tensors of its type.",
                "infer = model.signatures['serving_default']\ninfer(x=tf.constant(x, tf.float32))",
            ),
        ),
    )


MESSAGE = Message(
    id="savedmodel-function",
    title="A SavedModel is called with other arguments than it was saved for",
    wordings=(
        Wording("Could not find matching concrete function to call loaded from the SavedModel"),
        Wording(
            "Binding inputs to tf.function failed",
            r"TensorSpec\(shape=(?P<found>\([^)]{0,60}\)), dtype=(?P<found_type>[\w.]{1,20}).{0,60}? to TensorSpec\(shape=(?P<wanted>\([^)]{0,60}\)), dtype=(?P<wanted_type>[\w.]{1,20})",
        ),
        Wording("Binding inputs to tf.function"),
        Wording("missing required inputs", r"missing required inputs: (?P<missing>[\w', ]{1,80})"),
        Wording("Signature specifies", r"Signature specifies"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.PREDICT),
    sources=(
        "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/saved_model/function_deserialization.py",
    ),
)
