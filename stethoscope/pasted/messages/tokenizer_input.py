"""A tokenizer got something else than text."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A tokenizer takes a text or a plain list of texts; it got a column of a table, an array, a tensor, bytes, or a list in which a value is missing (NaN, NoneType) or a number.",
        Certainty.LIKELY,
        (
            Step(
                "Find what is no text.",
                "bad = [text for text in texts if not isinstance(text, str)]\nprint(len(bad), bad[:3])",
            ),
            Step(
                "Give a plain list of texts.",
                "texts = table['text'].fillna('').astype(str).tolist()\nrows = tokenizer(texts, padding=True, truncation=True, return_tensors='tf')",
            ),
        ),
    )


MESSAGE = Message(
    id="tokenizer-input",
    title="A tokenizer got something else than text",
    wordings=(
        Wording("text input must be of type"),
        Wording("text input must of type"),
        Wording("TextEncodeInput must be Union"),
        Wording("TextInputSequence must be str"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/huggingface/transformers/blob/main/src/transformers/tokenization_utils_base.py",),
)
