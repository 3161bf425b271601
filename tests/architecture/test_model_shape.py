"""From an architecture to numbers: dynamic dimensions, kinds, what the backward pass keeps."""

from __future__ import annotations

import dataclasses

import pytest

from stethoscope.architecture.layer_kinds import Kind
from stethoscope.architecture.model_shape import key_value_cache_bytes, model_shape
from stethoscope.errors import BadSetting
from stethoscope.memory.planner.stored import forward_flops, kept_tensors
from stethoscope.types import TensorSpec
from tests.memory.planner.architectures import architecture, dense_stack, layer, residual_network, transformer
from tests.tables import each


def korthikanti_bytes(sequence, hidden, heads):
    """What one transformer layer stores per sample in 16 bits. Source: arXiv 2205.05198, table 2."""
    return sequence * hidden * (34 + 5 * heads * sequence / hidden)


def kept_bytes(shape, activation_bytes=4, batch=1):
    return sum(tensor.bytes(batch, activation_bytes) for tensor in kept_tensors(shape))


def test_an_open_sequence_length_is_given_or_assumed_and_said():
    open_ended = transformer(sequence=None)
    assert model_shape(open_ended, sequence_length=50).transformer.sequence_length == 50
    assumed = model_shape(open_ended)
    assert assumed.transformer.sequence_length == 128
    assert "Sequence length 128 assumed" in assumed.assumptions[0]
    assert not model_shape(transformer(sequence=32)).assumptions


def test_a_position_embedding_bounds_the_sequence():
    layers = [
        layer("tokens", "InputLayer", (None, None), dtype="int32"),
        layer("positions", "PositionEmbedding", (None, None, 8), 64 * 8, ["tokens"], sequence_length=64),
    ]
    assert model_shape(architecture(layers)).layer("positions").shape == (64, 8)
    assert "64 positions" in model_shape(architecture(layers), sequence_length=100).assumptions[0]


def test_an_open_image_size_follows_the_strides():
    layers = [
        layer("image", "InputLayer", (None, None, None, 3)),
        layer("a", "Conv2D", (None, None, None, 8), 224, ["image"], strides=[2, 2], kernel_size=[3, 3], padding="same"),
        layer("b", "MaxPooling2D", (None, None, None, 8), 0, ["a"], pool_size=[2, 2], padding="valid"),
        layer("c", "Conv2D", (None, None, None, 4), 292, ["b"], strides=[1, 1], kernel_size=[3, 3], padding="valid"),
        layer("d", "UpSampling2D", (None, None, None, 4), 0, ["c"], size=[2, 2]),
    ]
    shape = model_shape(architecture(layers), image_size=(100, 60))
    assert [item.shape[:2] for item in shape.layers] == [(100, 60), (50, 30), (25, 15), (23, 13), (46, 26)]
    assert "224 × 224 assumed" in model_shape(architecture(layers)).assumptions[0]


@pytest.mark.parametrize("size", [0, -1, 1 << 30])
def test_a_senseless_size_is_refused(size):
    with pytest.raises(BadSetting):
        model_shape(transformer(sequence=None), sequence_length=size)


def test_layers_without_a_shape_are_said():
    shape = model_shape(architecture([layer("own", "MyLayer", None, 100)]))
    assert shape.parameters == 100
    assert "lower bound" in shape.assumptions[0]


def test_layers_run_in_the_order_of_their_edges():
    shuffled = architecture(list(reversed(residual_network().layers)))
    seen = set()
    for item in model_shape(shuffled).layers:
        assert set(item.inputs) <= seen
        seen.add(item.path)


def test_a_shared_layer_counts_once_in_weights_and_twice_in_activations():
    layers = [
        layer("left", "InputLayer", (None, 8, 8)),
        layer("right", "InputLayer", (None, 8, 8)),
        layer("flat", "Flatten", (None, 64), 0, ["left", "right"]),
        layer("reader", "Dense", (None, 10), 650, ["flat"], units=10),
        layer("same", "Dot", (None, 1), 0, ["reader"]),
    ]
    shape = model_shape(architecture(layers))
    assert (shape.parameters, shape.layer("reader").elements, shape.layer("same").elements) == (650, 20, 1)
    assert "reader" in shape.assumptions[0]


def test_kinds_have_one_name_in_every_format():
    for kind, names in {
        Kind.CONVOLUTION: ("Conv2D", "CONV_2D", "Conv", "DepthwiseConv2D", "DEPTHWISE_CONV_2D", "keras_hub>Conv1D"),
        Kind.DENSE: ("Dense", "FULLY_CONNECTED", "Gemm", "EinsumDense"),
        Kind.ATTENTION: ("MultiHeadAttention", "keras_hub>CachedMultiHeadAttention", "GroupedQueryAttention"),
        Kind.POOLING: ("MaxPooling2D", "MAX_POOL_2D", "GlobalMaxPooling1D"),
        Kind.AVERAGE: ("GlobalAveragePooling1D", "AVERAGE_POOL_2D", "AvgPool"),
        Kind.RECURRENT: ("LSTM", "GRU", "Bidirectional", "ConvLSTM2D"),
        Kind.NORMALIZATION: ("BatchNormalization", "LayerNormalization", "FusedBatchNormV3", "RMSNormalization"),
        Kind.OTHER: ("MyOwnLayer",),
    }.items():
        for name in names:
            shape = model_shape(architecture([layer("one", name, (None, 4), 8)]))
            assert shape.layers[0].kind is kind, name


@each(("hidden", "heads", "sequence"), [(64, 4, 32), (128, 8, 512), (48, 3, 17)])
@each("blocks", [1, 5])
def test_a_gpt_block_keeps_exactly_what_korthikanti_counts(hidden, heads, sequence, blocks):
    """s·b·h·(34 + 5·a·s/h) per block at 16 bits, but for the token indices and the tensor behind the last block."""
    shape = model_shape(transformer(blocks, hidden, heads, sequence))
    indices = 4 * sequence
    formula = blocks * korthikanti_bytes(sequence, hidden, heads)
    assert kept_bytes(shape, activation_bytes=2) == formula + indices


def test_a_relu_network_keeps_each_output_once():
    shape = model_shape(dense_stack([16, 16, 4], inputs=8))
    assert kept_bytes(shape) == 4 * (8 + 16 + 16 + 4)


def test_a_gelu_network_keeps_the_value_before_it_too():
    shape = model_shape(dense_stack([16, 16], inputs=8, activation="gelu"))
    assert kept_bytes(shape) == 4 * (8 + 16 + 16 + 16)


def test_nothing_is_kept_before_the_first_trained_layer():
    everything = kept_bytes(model_shape(residual_network(blocks=3)))
    last_block = kept_bytes(model_shape(residual_network(blocks=3, frozen=2)))
    assert 0.2 < last_block / everything < 0.45
    frozen = residual_network(blocks=3, frozen=3)
    assert kept_bytes(model_shape(frozen)) == 4 * (16 + 10)


def test_batch_normalisation_before_a_relu_keeps_its_input_and_the_relus_output():
    shape = model_shape(residual_network(filters=4, blocks=0, size=8))
    image, convolution, relu, pooled, classes = 8 * 8 * 3, 8 * 8 * 4, 8 * 8 * 4, 4, 10
    assert kept_bytes(shape) == 4 * (image + convolution + relu + pooled + classes)


def test_recurrent_layers_keep_every_step():
    layers = [
        layer("x", "InputLayer", (None, 20, 3)),
        layer("lstm", "LSTM", (None, 8), 4 * 8 * (3 + 8 + 1), ["x"], units=8),
    ]
    assert kept_bytes(model_shape(architecture(layers))) == 4 * (20 * 3 + 20 * 6 * 8 + 8)


def test_attention_written_out_in_operators_is_recognised():
    h, a, s = 32, 4, 16
    layers = [layer("x", "Placeholder", (None, s, h))]
    for name in "qkv":
        layers.append(layer(name, "MatMul", (None, s, h), h * h, ["x"]))
        layers.append(layer(f"{name}_heads", "Reshape", (None, s, a, h // a), 0, [name]))
        layers.append(layer(f"{name}_turned", "Transpose", (None, a, s, h // a), 0, [f"{name}_heads"]))
    layers += [
        layer("scores", "BatchMatMulV2", (None, a, s, s), 0, ["q_turned", "k_turned"]),
        layer("weights", "Softmax", (None, a, s, s), 0, ["scores"]),
        layer("mixed", "BatchMatMulV2", (None, a, s, h // a), 0, ["weights", "v_turned"]),
        layer("merged", "Reshape", (None, s, h), 0, ["mixed"]),
        layer("out", "MatMul", (None, s, h), h * h, ["merged"]),
    ]
    found = model_shape(architecture(layers, format_id="frozen_graph")).transformer
    assert (found.blocks, found.heads, found.hidden, found.sequence_length) == (1, a, h, s)


def test_floating_point_operations_of_a_convolution_and_a_dense_layer():
    shape = model_shape(residual_network(filters=4, blocks=0, size=8))
    by_path = {item.path: item for item in shape.layers}
    assert forward_flops(shape.layer("stem_conv"), by_path) == 2 * (9 * 3 * 4 + 4) * 64
    assert forward_flops(shape.layer("classes"), by_path) == 2 * 50


def test_a_time_distributed_layer_is_what_it_wraps():
    inner = {"class_name": "Dense", "config": {"units": 6, "activation": "relu"}}
    layers = [
        layer("x", "InputLayer", (None, 10, 4)),
        layer("each", "TimeDistributed", (None, 10, 6), 30, ["x"], layer=inner),
    ]
    shape = model_shape(architecture(layers))
    assert shape.layer("each").kind is Kind.DENSE
    assert kept_bytes(shape) == 4 * (40 + 60)


def test_a_whole_block_as_one_layer_keeps_what_its_parts_would():
    hidden, sequence = 64, 32
    layers = [
        layer("tokens", "InputLayer", (None, sequence), dtype="int32"),
        layer("embed", "Embedding", (None, sequence, hidden), 6400, ["tokens"], input_dim=100),
        layer(
            "block",
            "keras_hub>TransformerEncoder",
            (None, sequence, hidden),
            12 * hidden * hidden,
            ["embed"],
            num_heads=4,
            intermediate_dim=4 * hidden,
            dropout=0.1,
        ),
    ]
    shape = model_shape(architecture(layers))
    assert kept_bytes(shape, activation_bytes=2) == korthikanti_bytes(sequence, hidden, 4) + 4 * sequence
    assert shape.transformer.blocks == 1


def test_frozen_batch_normalisation_in_the_middle_keeps_nothing():
    def network(frozen):
        flags = {"trainable": False} if frozen else {}
        layers = [
            layer("x", "InputLayer", (None, 8)),
            layer("a", "Dense", (None, 16), 144, ["x"], units=16),
            layer("norm", "BatchNormalization", (None, 16), 64, ["a"], trainable=0 if frozen else 32),
            layer("b", "Dense", (None, 4), 68, ["norm"], units=4),
        ]
        norm = layers[2]
        layers[2] = dataclasses.replace(norm, config={**norm.config, **flags})
        return model_shape(architecture(layers))

    assert kept_bytes(network(True)) == 4 * (8 + 16)
    assert kept_bytes(network(False)) == 4 * (8 + 16 + 16)


def test_a_size_that_nothing_asks_for_is_said_to_be_unused():
    assert "not used" in model_shape(transformer(sequence=32), sequence_length=64).assumptions[0]
    assert "not used" in model_shape(residual_network(size=32), image_size=(64, 64)).assumptions[0]


def test_inputs_that_a_format_does_not_list_count_all_the_same():
    model = architecture([layer("double", "Mul", (None, 4))], format_id="onnx")
    model = dataclasses.replace(model, inputs=(TensorSpec("image", (None, 100), "float32"),))
    assert [item.elements for item in model_shape(model).layers] == [100, 4]


@each(
    ("layers", "heads", "size", "sequence", "gigabytes"),
    [(32, 32, 128, 2048, 1.07), (32, 32, 128, 4096, 2.147), (32, 8, 128, 4096, 0.537), (80, 8, 128, 4096, 1.342)],
    ids=["Llama 2 7B, 2k", "Llama 2 7B, 4k", "Llama 3 8B, 4k", "Llama 3 70B, 4k"],
)
def test_key_value_caches_of_known_models(layers, heads, size, sequence, gigabytes):
    assert key_value_cache_bytes(layers, heads, size, sequence, 1, 2) / 1e9 == pytest.approx(gigabytes, rel=0.005)


def test_half_a_megabyte_per_token_of_llama_2_7b():
    assert key_value_cache_bytes(32, 32, 128, 1, 1, 2) == 524_288
