"""An index that the embedding has no row for."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    index, rows = read.number("index"), read.number("rows")
    table = read.layer("The table")
    look = Step("See the largest and smallest index.", "print(x.min(), x.max())")
    if index is None or rows is None:
        return Cause(
            "An index is larger than the table it is looked up in (an Embedding's input_dim).",
            Certainty.CERTAIN,
            (look,),
        )
    told = f"{table} has {rows:,} rows, 0 to {rows - 1:,}, and is asked for row {index:,}."
    if index < 0:
        return Cause(
            f"{told} A negative index stands for a value that is missing, or for a token that is not in the vocabulary.",
            Certainty.LIKELY,
            (look,),
        )
    if index == rows:
        return Cause(
            f"{told} One row short: indices that count from 1 (Tokenizer, padding is 0) need the size of the vocabulary plus one.",
            Certainty.LIKELY,
            (
                Step(
                    "One row more.",
                    f"keras.layers.Embedding(input_dim={rows + 1}, output_dim=64)   # len(tokenizer.word_index) + 1",
                ),
                look,
            ),
        )
    if rows in (512, 1024, 2048) and "position" in read.get("node") + read.text[:20_000].lower()[:20_000]:
        return Cause(
            f"{told} Tables of {rows} rows are usually those of positions: the text has more tokens than the model takes.",
            Certainty.POSSIBLE,
            (Step("Cut the text.", f"tokens = tokenizer(text, truncation=True, max_length={rows})"), look),
        )
    return Cause(
        f"{told} The vocabulary that made the indices is larger than the table's input_dim: another tokenizer, a limit that was set in one place only (num_words, max_tokens), or ids that are not numbered from 0.",
        Certainty.LIKELY,
        (
            Step(
                "Make the table as large as the vocabulary.",
                "keras.layers.Embedding(input_dim=vectorizer.vocabulary_size(), output_dim=64)",
            ),
            Step("Or limit the vocabulary.", f"tokenizer = Tokenizer(num_words={rows}, oov_token='<unknown>')"),
            look,
        ),
    )


MESSAGE = Message(
    id="index-beyond-table",
    title="An index that the embedding has no row for",
    wordings=(
        Wording(
            "is not in [0,",
            r"indices\[(?P<place>[\d, ]{1,30})\] = (?P<index>-?\d{1,20}) is not in \[0, ?(?P<rows>\d{1,15})\)",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.DATA),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/37254",
        "https://github.com/keras-team/keras/issues/11819",
        "https://github.com/tensorflow/tensorflow/issues/11583",
    ),
)
