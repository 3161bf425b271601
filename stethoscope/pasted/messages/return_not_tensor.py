"""A traced function gives back what is no tensor."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "flat" in read:
        return Cause(
            "The function of flat_map or interleave has to give a data set for each element.",
            Certainty.CERTAIN,
            (Step("Make one.", "data.flat_map(lambda x: tf.data.Dataset.from_tensor_slices(x))"),),
        )
    return Cause(
        f"A function that becomes a graph (tf.function, map) may give tensors, and tuples, lists and dictionaries of them; it gave {read.get('found', 'another object')}.",
        Certainty.LIKELY,
        (
            Step(
                "Give back tensors only; what is Python belongs outside.",
                "def prepare(x, y):\n    return tf.cast(x, tf.float32), y",
            ),
        ),
    )


MESSAGE = Message(
    id="return-not-tensor",
    title="A traced function gives back what is no tensor",
    wordings=(
        Wording("Python functions must return zero or more Tensors", r"got (?P<found>.{1,100}?)(?:\.|$)"),
        Wording(
            "Unsupported return value from function passed to",
            r"function passed to (?P<where>[\w.()]{1,60}): (?P<found>.{1,100}?)(?:\.|$)",
        ),
        Wording("argument must return a `Dataset` object", r"(?<!`reader` )argument must return a `(?P<flat>Dataset)`"),
        Wording("Could not build a TypeSpec for", r"TypeSpec for (?P<found>.{1,100}?)(?: with type|$)"),
        Wording("Could not build a `TypeSpec` for", r"`TypeSpec` for (?P<found>.{1,100}?)(?: with type|$)"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/data/ops/structured_function.py",),
    rank=-1,
)
