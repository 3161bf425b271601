"""A small BERT-style encoder."""

from __future__ import annotations

from pathlib import Path

from sample_models.bert import encoder
from sample_models.canonical import save_keras
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    model = encoder(blocks=2, hidden=64, heads=4, vocabulary=1000, positions=128)
    return save_keras(model, folder / "bert_small.keras")


RECIPE = Recipe(
    id="bert_small",
    title="BERT-style text encoder, small",
    behaviour="Three integer inputs and a sequence length that is open: words, mask and segments go in together.",
    description="Two transformer blocks over a vocabulary of 1,000 words and up to 128 positions, with random weights. The mask "
    "hides padding from attention; outputs are one vector per word and one for the whole text.",
    parameters=176_576,
    build=_build,
    order=2,
    expectations={"consistent": True, "integer_limits": {"input_word_ids": 1000, "input_mask": 2, "segment_ids": 2}},
)
