"""The tokenizer of this model gives no such input."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    key = read.get("key", "token_type_ids")
    if key == "token_type_ids":
        return Cause(
            "Not every tokenizer gives token_type_ids: those of BERT do, those of T5, RoBERTa, DistilBERT and others do not.",
            Certainty.LIKELY,
            (
                Step(
                    "Take what it gives.",
                    "rows = tokenizer(texts, padding=True, truncation=True, return_tensors='tf')\nprint(rows.keys())\nrows.pop('token_type_ids', None)",
                ),
            ),
        )
    return Cause(
        f"“{key}” is not among what was handed on: the rows were not made by the tokenizer, a map over the data set left its columns out, or the model's inputs have other names.",
        Certainty.LIKELY,
        (Step("See the names of what comes and of what is wanted.", "print(rows.keys(), model.input_names)"),),
    )


MESSAGE = Message(
    id="tokenizer-output",
    title="The tokenizer of this model gives no such input",
    wordings=(
        Wording("KeyError: 'token_type_ids'", r"KeyError: '(?P<key>token_type_ids)'"),
        Wording("KeyError: 'input_ids'", r"KeyError: '(?P<key>input_ids)'"),
        Wording("KeyError: 'attention_mask'", r"KeyError: '(?P<key>attention_mask)'"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/mikeizbicki/cmc-csci145-math166/issues/46",
        "https://huggingface.co/docs/transformers/glossary",
    ),
)
