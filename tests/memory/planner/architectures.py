"""Architectures made by hand: what `describe` would say of well-known models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stethoscope.types import Architecture, Layer, Shape, TensorSpec


def layer(
    path: str,
    kind: str,
    shape: Shape | None,
    parameters: int = 0,
    inputs: Sequence[str] = (),
    *,
    trainable: int | None = None,
    dtype: str = "float32",
    **config: Any,
) -> Layer:
    return Layer(
        path, kind, shape, parameters, parameters if trainable is None else trainable, dtype, tuple(inputs), config
    )


def architecture(
    layers: Sequence[Layer], *, format_id: str = "keras", outputs: Sequence[str] = (), weight_bytes: int = 0
) -> Architecture:
    parameters = sum(item.parameters for item in layers)
    read = {source for item in layers for source in item.inputs}
    ends = tuple(outputs) or tuple(item.path for item in layers if item.path not in read)
    return Architecture(
        format_id=format_id,
        framework_version="",
        parameters=parameters,
        trainable_parameters=sum(item.trainable_parameters for item in layers) if format_id == "keras" else None,
        inputs=tuple(
            TensorSpec(item.path, item.output_shape, item.dtype) for item in layers if item.type == "InputLayer"
        ),
        outputs=tuple(TensorSpec(item.path, item.output_shape, item.dtype) for item in layers if item.path in ends),
        layers=tuple(layers),
        weight_bytes=weight_bytes or 4 * parameters,
        output_layers=ends,
    )


def transformer(
    blocks: int = 2,
    hidden: int = 64,
    heads: int = 4,
    sequence: int | None = 32,
    vocabulary: int = 100,
    *,
    activation: str = "gelu",
    dropout: float = 0.1,
    head: int = 0,
) -> Architecture:
    """A GPT-style stack: pre-norm blocks of attention and a dense pair of 4·h, dropouts where Megatron has them."""
    stream = (None, sequence, hidden)
    layers = [
        layer("tokens", "InputLayer", (None, sequence), dtype="int32"),
        layer("embed", "Embedding", stream, vocabulary * hidden, ["tokens"], input_dim=vocabulary, output_dim=hidden),
    ]
    last = "embed"
    for index in range(blocks):
        name = f"block_{index}"
        size = hidden // heads
        layers += [
            layer(f"{name}_norm_1", "LayerNormalization", stream, 2 * hidden, [last]),
            layer(
                f"{name}_attention",
                "MultiHeadAttention",
                stream,
                4 * hidden * (hidden + 1),
                [f"{name}_norm_1"],
                num_heads=heads,
                key_dim=size,
                dropout=dropout,
            ),
            layer(f"{name}_dropout_1", "Dropout", stream, 0, [f"{name}_attention"], rate=dropout),
            layer(f"{name}_add_1", "Add", stream, 0, [last, f"{name}_dropout_1"]),
            layer(f"{name}_norm_2", "LayerNormalization", stream, 2 * hidden, [f"{name}_add_1"]),
            layer(
                f"{name}_wide",
                "Dense",
                (None, sequence, 4 * hidden),
                4 * hidden * (hidden + 1),
                [f"{name}_norm_2"],
                units=4 * hidden,
                activation=activation,
            ),
            layer(
                f"{name}_narrow",
                "Dense",
                stream,
                hidden * (4 * hidden + 1),
                [f"{name}_wide"],
                units=hidden,
                activation="linear",
            ),
            layer(f"{name}_dropout_2", "Dropout", stream, 0, [f"{name}_narrow"], rate=dropout),
            layer(f"{name}_add_2", "Add", stream, 0, [f"{name}_add_1", f"{name}_dropout_2"]),
        ]
        last = f"{name}_add_2"
    if head:
        layers.append(layer("head", "Dense", (None, sequence, head), head * (hidden + 1), [last], units=head))
    return architecture(layers)


def residual_network(filters: int = 16, blocks: int = 3, size: int | None = 32, *, frozen: int = 0) -> Architecture:
    """Conv, batch normalisation and ReLU in residual pairs, then a classifier; the first `frozen` blocks do not train."""

    def convolution(name: str, source: str, channels: int, trained: bool) -> list[Layer]:
        shape = (None, size, size, filters)
        kernel = 9 * channels * filters + filters
        return [
            layer(
                f"{name}_conv",
                "Conv2D",
                shape,
                kernel,
                [source],
                trainable=None if trained else 0,
                filters=filters,
                kernel_size=[3, 3],
                strides=[1, 1],
                padding="same",
            ),
            layer(
                f"{name}_norm",
                "BatchNormalization",
                shape,
                4 * filters,
                [f"{name}_conv"],
                trainable=2 * filters if trained else 0,
            ),
            layer(f"{name}_relu", "ReLU", shape, 0, [f"{name}_norm"]),
        ]

    layers = [layer("image", "InputLayer", (None, size, size, 3)), *convolution("stem", "image", 3, not frozen)]
    last = "stem_relu"
    for index in range(blocks):
        name, trained = f"block_{index}", index >= frozen
        layers += convolution(f"{name}_a", last, filters, trained)
        layers += convolution(f"{name}_b", f"{name}_a_relu", filters, trained)
        layers.append(layer(f"{name}_add", "Add", (None, size, size, filters), 0, [last, f"{name}_b_relu"]))
        last = f"{name}_add"
    layers += [
        layer("pool", "GlobalAveragePooling2D", (None, filters), 0, [last]),
        layer("classes", "Dense", (None, 10), 10 * (filters + 1), ["pool"], units=10, activation="softmax"),
    ]
    return architecture(layers)


def dense_stack(widths: Sequence[int], inputs: int = 8, activation: str = "relu") -> Architecture:
    layers = [layer("x", "InputLayer", (None, inputs))]
    last, before = "x", inputs
    for index, width in enumerate(widths):
        layers.append(
            layer(
                f"dense_{index}",
                "Dense",
                (None, width),
                width * (before + 1),
                [last],
                units=width,
                activation=activation,
            )
        )
        last, before = f"dense_{index}", width
    return architecture(layers)
