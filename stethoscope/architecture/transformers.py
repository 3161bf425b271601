"""Published arithmetic of transformers: the cache of keys and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Recompute = Literal["none", "selective", "full"]


@dataclass(frozen=True)
class TransformerShape:
    """The numbers that the formulas of transformers take."""

    blocks: int
    heads: int
    hidden: int
    sequence_length: int
    key_value_heads: int
    head_size: int


def key_value_cache_bytes(
    layers: int, key_value_heads: int, head_size: int, sequence: int, batch: int, element_bytes: int
) -> int:
    """Bytes of the keys and values kept while generating: 2·L·n_kv·d_head·s·B·bytes.

    Source: NVIDIA, “Mastering LLM Techniques: Inference Optimization” (Llama 2 7B, 4096 tokens, 16-bit: about 2 GB).
    """
    return 2 * layers * key_value_heads * head_size * sequence * batch * element_bytes
