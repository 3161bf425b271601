"""A row of a text is no list of words."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    found = f" ({read.get('found').strip()})" if "found" in read else ""
    return Cause(
        f"pad_sequences takes a list of lists, and one row is a single value{found}. Most often one text was given instead of a list of texts, or rows with one word became plain numbers (in R).",
        Certainty.CERTAIN,
        (
            Step(
                "A list, also for one text.",
                "x = tokenizer.texts_to_sequences([text])\nx = keras.utils.pad_sequences(x, maxlen=100)",
            ),
        ),
    )


MESSAGE = Message(
    id="sequences-not-lists",
    title="A row of a text is no list of words",
    wordings=(Wording("`sequences` must be a list of iterables", r"Found non-iterable: (?P<found>.{1,60})"),),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/rstudio/keras3/issues/77",),
)
