"""A value is taken for something that it is not."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kind, attribute = read.get("type", "another type"), read.get("attribute", "an attribute")
    text = {"lower", "upper", "split", "strip", "encode", "replace", "startswith"}
    if attribute in text:
        nan = " A number with a point among texts is mostly NaN: an empty cell of a table." if kind == "float" else ""
        return Cause(
            f"A text is wanted here and a value of type {kind} came: texts that were turned into numbers already (a cell that ran twice under one name), rows of lists, or numbers in a column of words.{nan}",
            Certainty.LIKELY,
            (
                Step("See what is in there.", "print(type(texts[0]), texts[:3])"),
                Step("Make texts of a column.", "texts = table['text'].fillna('').astype(str).tolist()"),
            ),
        )
    if kind == "dict" and attribute in ("shape", "dtype", "ndim", "get_shape", "rank"):
        return Cause(
            "A dictionary stands where one tensor is wanted: one loss, layer or operation got all outputs, targets or inputs of a model with several at once.",
            Certainty.LIKELY,
            (
                Step(
                    "Take one of them out, or give a loss for each name.",
                    "model.compile(loss={'price': 'mse', 'kind': 'sparse_categorical_crossentropy'})",
                ),
                Step("See its keys.", "print(batch.keys())"),
            ),
        )
    return Cause(
        f"A value of type {kind} has no “{attribute}”: it is another thing than the line takes it for. Its name was overwritten, a function returned several values (or nothing), or a trailing comma made a tuple.",
        Certainty.POSSIBLE,
        (Step("At that line, see what it is, then where it was made.", "print(type(thing), thing)"),),
    )


MESSAGE = Message(
    id="missing-attribute",
    title="A value is taken for something that it is not",
    wordings=(
        Wording(
            "' object has no attribute '",
            r"'(?P<type>numpy\.ndarray|float|int|str|list|tuple|dict|bytes|DataFrame|Series)' object has no attribute '(?P<attribute>lower|upper|split|strip|encode|decode|replace|startswith|shape|dtype|ndim|numpy|apply_gradients|minimize|fit|predict|layers|summary|compile|save|keys|items|values|append|get_shape|eval|reshape|astype|op|layer|rank|inputs|outputs|get_weights|trainable|name|map|batch|take|cache|prefetch)'",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/aravindpai/How-to-build-own-text-summarizer-using-deep-learning/issues/17",
        "https://github.com/tensorflow/tensorflow/issues/43582",
    ),
    rank=-2,
)
