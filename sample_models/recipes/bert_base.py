"""A BERT-style encoder of the original's size."""

from __future__ import annotations

from pathlib import Path

from sample_models.bert import encoder
from sample_models.canonical import save_keras
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    model = encoder(blocks=12, hidden=768, heads=12, vocabulary=30_522, positions=512)
    return save_keras(model, folder / "bert_base.keras")


RECIPE = Recipe(
    id="bert_base",
    title="BERT-style text encoder, full size",
    behaviour="A real-world size: 109 million parameters in 438 MB.",
    description="Twelve transformer blocks of width 768 over 30,522 words and 512 positions, with random weights.",
    parameters=109_482_240,
    build=_build,
    big=True,
    expectations={"consistent": True, "integer_limits": {"input_word_ids": 30_522, "input_mask": 2, "segment_ids": 2}},
)
