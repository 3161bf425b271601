"""A BERT-style encoder out of built-in Keras layers only, so that its file loads without custom classes."""

from __future__ import annotations

from typing import Any


def encoder(*, blocks: int, hidden: int, heads: int, vocabulary: int, positions: int) -> Any:
    """An encoder over int32 inputs input_word_ids, input_mask, segment_ids, each of shape (batch, length).

    Post-norm blocks, exact GELU, learned positions. Outputs sequence_output (batch, length, hidden) and pooled_output
    (batch, hidden).

    Source: Devlin et al. 2019, "BERT", section 3 and appendix A.
    """
    import keras
    from keras import layers, ops

    normal = keras.initializers.TruncatedNormal(stddev=0.02, seed=1)

    def embedding(size: int, name: str) -> Any:
        return layers.Embedding(size, hidden, embeddings_initializer=normal.clone(), name=name)

    def dense(units: int, activation: str | None, name: str) -> Any:
        return layers.Dense(units, activation, kernel_initializer=normal.clone(), name=name)

    def norm(name: str) -> Any:
        return layers.LayerNormalization(epsilon=1e-12, name=name)

    words = layers.Input((None,), dtype="int32", name="input_word_ids")
    mask = layers.Input((None,), dtype="int32", name="input_mask")
    segments = layers.Input((None,), dtype="int32", name="segment_ids")

    places = ops.cumsum(ops.ones_like(words), axis=1) - 1
    x = layers.Add(name="embeddings")(
        [
            embedding(vocabulary, "word_embeddings")(words),
            embedding(positions, "position_embeddings")(places),
            embedding(2, "segment_embeddings")(segments),
        ]
    )
    x = layers.Dropout(0.1, name="embeddings_dropout")(norm("embeddings_norm")(x))
    visible = ops.expand_dims(ops.not_equal(mask, 0), axis=1)
    for block in range(blocks):
        name = f"block_{block}"
        attention = layers.MultiHeadAttention(
            heads, hidden // heads, dropout=0.1, kernel_initializer=normal.clone(), name=f"{name}_attention"
        )(x, x, attention_mask=visible)
        attention = layers.Dropout(0.1, name=f"{name}_attention_dropout")(attention)
        x = norm(f"{name}_attention_norm")(layers.Add(name=f"{name}_attention_residual")([x, attention]))
        y = dense(4 * hidden, "gelu", f"{name}_intermediate")(x)
        y = layers.Dropout(0.1, name=f"{name}_output_dropout")(dense(hidden, None, f"{name}_output")(y))
        x = norm(f"{name}_output_norm")(layers.Add(name=f"{name}_output_residual")([x, y]))
    pooled = dense(hidden, "tanh", "pooler")(x[:, 0])
    return keras.Model(
        {"input_word_ids": words, "input_mask": mask, "segment_ids": segments},
        {"sequence_output": x, "pooled_output": pooled},
        name="bert_encoder",
    )
