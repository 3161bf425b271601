"""Raw texts or pictures where the model takes numbers.

Why: a network computes with numbers of one shape. Texts have to become token numbers, pictures have to become arrays of one size;
without that step nothing else about the model can be told.
Example: reviews as text for an Embedding of 5,000 words and 32 places; a folder of photographs of many sizes for (224, 224, 3).
Fix: the step between, as code, with the model's own vocabulary, length or size. A model that was trained already needs the very
step it was trained with: another vocabulary gives other numbers to the same words.
Limits: which vocabulary the weights were trained with is in no model file; a size of 30,522 is that of `bert-base-uncased`, and no proof.
Source: keras.io/api/layers/preprocessing_layers (TextVectorization, Resizing); sizes of vocabularies: the configurations of the named
models on huggingface.co.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.checks.judging.contract import as_shape
from stethoscope.data.study.profiles import Unprepared
from stethoscope.evidence.kinds import Evidence, EvidenceSet

TOKENIZERS = {
    30_522: "bert-base-uncased",
    28_996: "bert-base-cased",
    119_547: "bert-base-multilingual-cased",
    105_879: "bert-base-multilingual-uncased",
    21_128: "bert-base-chinese",
    30_000: "albert-base-v2",
    50_265: "roberta-base",
    250_002: "xlm-roberta-base",
    50_257: "gpt2",
}
"""Tokenizers by the size of their vocabulary."""
_MASK, _SEGMENTS, _IDS = ("mask",), ("segment", "type"), ("id", "token", "word")


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    found = evidence.raw or ()
    if texts := [one for one in found if one.kind == "text"]:
        yield _text(texts)
    for one in found:
        if one.kind != "text":
            yield _uneven(one)


def _text(found: Sequence[Unprepared]) -> Finding:
    tokens = next((one for one in found if one.looked_up and _part(one.input) in ("", "input_ids")), found[0])
    known = tokens.vocabulary
    length = tokens.shape[0] if tokens.shape else None
    names = ", ".join(one.input for one in found)
    takes = f"{names} take{'s' * (len(found) == 1)} {'token numbers' if _counts(tokens) else 'numbers'} of shape {as_shape((None, *tokens.shape))}"
    size = f", from a vocabulary of {known:,}" if known else ""
    long = f"Its texts have {tokens.usual_words or 0:,} words in the middle, {tokens.most_words or 0:,} at most."
    return Finding(
        fault=Fault.PREPROCESSING,
        severity=Severity.CRITICAL,
        confidence=1.0,
        where=f"input:{tokens.input}",
        message=f"{takes}{size}; {tokens.array!r} of the data is text. {long} They have to be made into numbers first.",
        evidence=(
            Table(
                "Inputs and data",
                ("input", "takes", "the data has"),
                tuple(
                    (one.input, f"{one.dtype} {as_shape((None, *one.shape))}", f"text in {one.array}") for one in found
                ),
            ),
        ),
        fix=_tokens(found, tokens, known, length),
        title="Raw text where the model takes numbers",
    )


def _tokens(found: Sequence[Unprepared], tokens: Unprepared, known: int | None, length: int | None) -> Advice:
    name = TOKENIZERS.get(known or 0)
    parts = {one.input: _part(one.input) for one in found}
    if not _counts(tokens):
        return Advice(
            "The model takes numbers that are no token numbers: use the step by which its training data was made (bag of words, TF-IDF, "
            "sentence embeddings); the model file does not say which."
        )
    if name is not None or len(found) > 1:
        return _word_pieces(found, tokens, name, length, parts)
    limits = [f"max_tokens={known}"] if known else []
    limits += [f"output_sequence_length={length}"] if length else []
    return Advice(
        "Give every word a number. A model that is trained already needs the vocabulary it was trained with.",
        "\n".join(
            (
                f"vectorize = keras.layers.TextVectorization({', '.join(limits)})",
                f"vectorize.adapt({tokens.array})  # texts of the training rows alone; or vectorize.set_vocabulary(the one it was trained with)",
                f"{tokens.array} = vectorize({tokens.array}).numpy()",
            )
        ),
    )


def _word_pieces(
    found: Sequence[Unprepared], tokens: Unprepared, name: str | None, length: int | None, parts: dict[str, str]
) -> Advice:
    size = f"{tokens.vocabulary:,} tokens" if tokens.vocabulary else "a vocabulary of its own"
    which = f'"{name}"' if name else '"..."'
    fed = [f'    "{one.input}": found["{parts[one.input]}"],' for one in found if parts[one.input]]
    if len(fed) < len(found):
        lost = ", ".join(one.input for one in found if not parts[one.input])
        return Advice(
            f"Use the tokenizer that the weights were trained with. What {lost} takes is not known from the name."
        )
    most = f", max_length={length}" if length else ""
    return Advice(
        f"Use the tokenizer that the weights were trained with; the model has {size}{f', as many as {name}' if name else ''}.",
        "\n".join(
            (
                "from transformers import AutoTokenizer",
                "",
                f"tokenizer = AutoTokenizer.from_pretrained({which})",
                f'found = tokenizer(list({tokens.array}), padding="max_length", truncation=True{most}, return_token_type_ids=True, '
                'return_tensors="np")',
                "inputs = {",
                *fed,
                "}",
            )
        ),
    )


def _counts(one: Unprepared) -> bool:
    """Whether an input takes whole numbers, as tokens are."""
    return one.looked_up or one.dtype.startswith(("int", "uint"))


def _part(name: str) -> str:
    """What of a tokenizer's answer goes into an input of this name; "" where it does not say."""
    low = name.lower()
    for words, part in ((_MASK, "attention_mask"), (_SEGMENTS, "token_type_ids"), (_IDS, "input_ids")):
        if any(word in low for word in words):
            return part
    return ""


def _uneven(one: Unprepared) -> Finding:
    what = "pictures" if one.kind == "picture" else "rows"
    sizes = ", ".join("×".join(map(str, size)) for size in one.sizes)
    span = "" if one.low is None or one.high is None else f" from {one.low:,.4g} to {one.high:,.4g}"
    steps = "; ".join(one.steps)
    return Finding(
        fault=Fault.PREPROCESSING,
        severity=Severity.CRITICAL,
        confidence=1.0,
        where=f"input:{one.input}",
        message=(
            f"{one.input} takes rows of one shape, {as_shape((None, *one.shape))}; the data has {what} of {one.different_sizes:,} different "
            f"shapes ({sizes}{' …' if one.different_sizes > len(one.sizes) else ''}), values{span}."
        ),
        evidence=(
            Table(
                "Inputs and data",
                ("input", "takes", "the data has"),
                ((one.input, f"{one.dtype} {as_shape((None, *one.shape))}", f"{one.different_sizes:,} shapes"),),
            ),
        ),
        fix=Advice(f"Prepare them: {steps}." if steps else "Bring them into one shape, as for the training.", one.code),
        title=f"Raw {what} of many sizes where the model takes one",
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.RAW}),
    explains=BADLY_TRAINED
    | {"embedding-range", "fit-small-batch", "input-scaling", "input-shape", "missing-flatten", "nonfinite-data"},
)
