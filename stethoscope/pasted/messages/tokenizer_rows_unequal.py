"""Rows of tokens have different lengths."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "The texts became rows of different lengths, and a tensor has one length"
        + (f" (or “{read.get('column')}” holds lists in lists, or texts)." if "column" in read else "."),
        Certainty.LIKELY,
        (
            Step(
                "Pad and cut.",
                "rows = tokenizer(texts, padding=True, truncation=True, max_length=128, return_tensors='tf')",
            ),
            Step(
                "With a data set of the datasets package: let a collator pad, and take columns of text out.",
                "collate = DataCollatorWithPadding(tokenizer, return_tensors='tf')",
            ),
        ),
    )


MESSAGE = Message(
    id="tokenizer-rows-unequal",
    title="Rows of tokens have different lengths",
    wordings=(
        Wording("you should probably activate truncation and/or padding"),
        Wording("Perhaps your features (", r"Perhaps your features \(`?(?P<column>\w{1,60})`?"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/huggingface/transformers/blob/main/src/transformers/tokenization_utils_base.py",),
)
