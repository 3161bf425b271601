"""The published formulas of transformers, against their papers' numbers."""

from __future__ import annotations

import pytest

from stethoscope.planner.transformers import (
    activation_bytes_per_layer,
    key_value_cache_bytes,
)
from tests.tables import each

SEQUENCE, T = 2048, 8
MODELS = {  # heads, hidden, layers, micro-batch: Korthikanti et al., table 3
    "22B": (64, 6144, 48, 4),
    "175B": (96, 12288, 96, 1),
    "530B": (128, 20480, 105, 1),
    "1T": (160, 25600, 128, 1),
}


@pytest.mark.parametrize(("name", "ratio"), [("175B", 80), ("530B", 64), ("1T", 64)])
def test_the_attention_term_has_the_size_the_paper_gives(name, ratio):
    heads, hidden, _, batch = MODELS[name]
    sbh = SEQUENCE * batch * hidden
    none = activation_bytes_per_layer(SEQUENCE, batch, hidden, heads)
    selective = activation_bytes_per_layer(SEQUENCE, batch, hidden, heads, recompute="selective")
    assert none == sbh * (34 + ratio)
    assert selective == 34 * sbh


@pytest.mark.parametrize(("name", "saved"), [("175B", 0.70), ("530B", 0.65)])
def test_selective_recomputation_saves_what_the_paper_says(name, saved):
    heads, hidden, _, batch = MODELS[name]
    none = activation_bytes_per_layer(SEQUENCE, batch, hidden, heads)
    selective = activation_bytes_per_layer(SEQUENCE, batch, hidden, heads, recompute="selective")
    assert 1 - selective / none == pytest.approx(saved, abs=0.005)


@each("name", MODELS)
def test_table_2_with_tensor_parallelism_of_8(name):
    heads, hidden, _, batch = MODELS[name]
    sbh = SEQUENCE * batch * hidden
    term = 5 * heads * SEQUENCE / hidden

    def bytes_of(**options):
        return activation_bytes_per_layer(SEQUENCE, batch, hidden, heads, tensor_parallel=T, **options)

    assert bytes_of() == pytest.approx(sbh * (10 + 24 / T + term / T))
    assert bytes_of(sequence_parallel=True) == pytest.approx(sbh * (34 / T + term / T))
    assert bytes_of(recompute="selective") == pytest.approx(sbh * (10 + 24 / T))
    assert bytes_of(sequence_parallel=True, recompute="selective") == pytest.approx(sbh * 34 / T)
    assert bytes_of(recompute="full") == 2 * sbh


@each("name", MODELS)
def test_both_techniques_together_bring_a_fifth_of_the_baseline(name):
    heads, hidden, _, batch = MODELS[name]
    base = activation_bytes_per_layer(SEQUENCE, batch, hidden, heads, tensor_parallel=T)
    both = activation_bytes_per_layer(
        SEQUENCE, batch, hidden, heads, tensor_parallel=T, sequence_parallel=True, recompute="selective"
    )
    full = activation_bytes_per_layer(SEQUENCE, batch, hidden, heads, tensor_parallel=T, recompute="full")
    assert both / base < 0.21
    assert full / base == pytest.approx(0.1, abs=0.03)


@each(("name", "gibibytes"), [("22B", 39.5625), ("175B", 32.0625), ("530B", 50.234375), ("1T", 76.5625)])
def test_the_first_stage_of_the_papers_models(name, gibibytes):
    """s·b·h·L/t·(34 + 5as/h), computed by hand from table 3."""
    heads, hidden, layers, batch = MODELS[name]
    one = activation_bytes_per_layer(SEQUENCE, batch, hidden, heads, tensor_parallel=T, sequence_parallel=True)
    found = one * layers
    by_hand = SEQUENCE * batch * hidden * layers / T * (34 + 5 * heads * SEQUENCE / hidden)
    assert found == pytest.approx(by_hand)
    assert found / 2**30 == pytest.approx(gibibytes, rel=0.001)


@each(
    ("layers", "heads", "size", "sequence", "gigabytes"),
    [(32, 32, 128, 2048, 1.07), (32, 32, 128, 4096, 2.147), (32, 8, 128, 4096, 0.537), (80, 8, 128, 4096, 1.342)],
    ids=["Llama 2 7B, 2k", "Llama 2 7B, 4k", "Llama 3 8B, 4k", "Llama 3 70B, 4k"],
)
def test_key_value_caches_of_known_models(layers, heads, size, sequence, gigabytes):
    assert key_value_cache_bytes(layers, heads, size, sequence, 1, 2) / 1e9 == pytest.approx(gigabytes, rel=0.005)


def test_half_a_megabyte_per_token_of_llama_2_7b():
    assert key_value_cache_bytes(32, 32, 128, 1, 1, 2) == 524_288
