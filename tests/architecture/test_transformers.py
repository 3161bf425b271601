"""The published formulas of transformers, against their papers' numbers."""

from __future__ import annotations

import pytest

from stethoscope.architecture.transformers import key_value_cache_bytes
from tests.tables import each


@each(
    ("layers", "heads", "size", "sequence", "gigabytes"),
    [(32, 32, 128, 2048, 1.07), (32, 32, 128, 4096, 2.147), (32, 8, 128, 4096, 0.537), (80, 8, 128, 4096, 1.342)],
    ids=["Llama 2 7B, 2k", "Llama 2 7B, 4k", "Llama 3 8B, 4k", "Llama 3 70B, 4k"],
)
def test_key_value_caches_of_known_models(layers, heads, size, sequence, gigabytes):
    assert key_value_cache_bytes(layers, heads, size, sequence, 1, 2) / 1e9 == pytest.approx(gigabytes, rel=0.005)


def test_half_a_megabyte_per_token_of_llama_2_7b():
    assert key_value_cache_bytes(32, 32, 128, 1, 1, 2) == 524_288
