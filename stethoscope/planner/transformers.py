"""Published arithmetic of transformers: stored activations, and the cache of keys and values."""

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


def activation_bytes_per_layer(
    sequence: int,
    batch: int,
    hidden: int,
    heads: int,
    *,
    tensor_parallel: int = 1,
    sequence_parallel: bool = False,
    recompute: Recompute = "none",
) -> float:
    """Bytes one transformer layer stores for its backward pass, 16-bit activations, on each tensor-parallel device.

    No recomputation: s·b·h·(34 + 5·a·s/h). Tensor parallelism over t: s·b·h·(10 + 24/t + 5·a·s/(h·t)); with sequence
    parallelism everything is divided by t. Selective recomputation drops the 5·a·s/h; full keeps the layer's input, 2·s·b·h.

    Source: Korthikanti et al. 2022, arXiv 2205.05198, table 2.
    """
    sbh = sequence * batch * hidden
    t = tensor_parallel
    if recompute == "full":
        return 2 * sbh
    attention = 0.0 if recompute == "selective" else 5 * heads * sequence / hidden / t
    linear = 34 / t if sequence_parallel else 10 + 24 / t
    return sbh * (linear + attention)


def key_value_cache_bytes(
    layers: int, key_value_heads: int, head_size: int, sequence: int, batch: int, element_bytes: int
) -> int:
    """Bytes of the keys and values kept while generating: 2·L·n_kv·d_head·s·B·bytes.

    Source: NVIDIA, “Mastering LLM Techniques: Inference Optimization” (Llama 2 7B, 4096 tokens, 16-bit: about 2 GB).
    """
    return 2 * layers * key_value_heads * head_size * sequence * batch * element_bytes
