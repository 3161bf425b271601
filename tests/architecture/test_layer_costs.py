"""Operations and bytes per layer: exact for layers whose formula is known, None where it is not, the same in every format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.architecture.layer_costs import costs, total
from stethoscope.architecture.open_sizes import Sizes
from stethoscope.architecture.receptive_field import receptive_fields
from stethoscope.codec import decode, plain
from stethoscope.errors import BadSetting
from stethoscope.models.formats import detect
from stethoscope.tasks.describe import Description
from stethoscope.types import Architecture, Layer, ModelFile, Operand, TensorSpec
from tests.architecture.keras_files import described, described_h5, work_of
from tests.exploring import examples
from tests.frameworks import keras, tf, tf_keras
from tests.frameworks import layers as L
from tests.small_models import tiny_onnx
from tests.tables import each


def one_layer(layer, *shapes, folder, **call):
    inputs = [keras.Input(shape, name=f"in_{at}") for at, shape in enumerate(shapes)]
    output = (
        layer(inputs[0] if len(inputs) == 1 else inputs, **call)
        if not isinstance(layer, L.MultiHeadAttention)
        else layer(*inputs)
    )
    model = keras.Model(inputs, output, name="one")
    return work_of(described(model, folder))[layer.name]


@each(
    ("layer", "shape", "macs"),
    [
        (lambda: L.Dense(5, name="it"), (7,), 7 * 5),
        (lambda: L.Dense(5, name="it"), (3, 7), 3 * 7 * 5),
        (lambda: L.Conv2D(8, 3, strides=2, padding="same", name="it"), (9, 9, 4), 5 * 5 * 8 * 9 * 4),
        (lambda: L.Conv2D(8, 3, groups=2, name="it"), (9, 9, 4), 7 * 7 * 8 * 9 * 2),
        (lambda: L.Conv1D(6, 5, dilation_rate=2, name="it"), (20, 3), 12 * 6 * 5 * 3),
        (lambda: L.DepthwiseConv2D(3, depth_multiplier=2, name="it"), (9, 9, 4), 7 * 7 * 8 * 9),
        (lambda: L.SeparableConv2D(6, 3, name="it"), (9, 9, 4), 7 * 7 * 4 * 9 + 7 * 7 * 4 * 6),
        (lambda: L.Conv2DTranspose(5, 3, strides=2, padding="same", name="it"), (4, 4, 3), 16 * 9 * 3 * 5),
        (lambda: L.LSTM(6, name="it"), (10, 4), 10 * 4 * 6 * (4 + 6)),
        (lambda: L.GRU(6, name="it"), (10, 4), 10 * 3 * 6 * (4 + 6)),
        (lambda: L.Bidirectional(L.LSTM(6), name="it"), (10, 4), 2 * 10 * 4 * 6 * (4 + 6)),
        (lambda: L.TimeDistributed(L.Dense(5), name="it"), (10, 4), 10 * 4 * 5),
        (lambda: L.EinsumDense("abc,cde->abde", output_shape=(None, 3, 5), name="it"), (7, 4), 7 * 4 * 3 * 5),
        (lambda: L.ConvLSTM2D(4, 3, padding="same", name="it"), (5, 6, 6, 2), 5 * 36 * 4 * 4 * 9 * (2 + 4)),
    ],
)
def test_products_of_one_layer(layer, shape, macs, tmp_path):
    cost = one_layer(layer(), shape, folder=tmp_path)
    assert cost.macs == macs
    assert cost.flops >= 2 * macs
    assert cost.why_not == ""


def test_attention_counts_projections_pairs_and_output(tmp_path):
    cost = one_layer(L.MultiHeadAttention(2, 8, name="it"), (10, 16), (12, 24), folder=tmp_path)
    assert cost.macs == 10 * 16 * 16 + 2 * 12 * 24 * 16 + 2 * 2 * 10 * 12 * 8 + 10 * 16 * 16


def test_bytes_and_operations_grow_with_the_batch(tmp_path):
    x = keras.Input((8, 8, 3))
    model = keras.Model(x, L.Conv2D(4, 3)(x), name="grow")
    architecture = described(model, tmp_path)
    one, eight = total(costs(architecture, 1)), total(costs(architecture, 8))
    assert (eight.flops, eight.output_bytes) == (8 * one.flops, 8 * one.output_bytes)
    assert one.output_bytes == 4 * (8 * 8 * 3 + 6 * 6 * 4)


def test_open_sizes_are_those_that_are_asked_for(tmp_path):
    x = keras.Input((None, None, 3))
    architecture = described(keras.Model(x, L.Conv2D(4, 3, padding="same", name="conv")(x), name="open"), tmp_path)
    (cost,) = [c for c in costs(architecture, 1, Sizes(image_size=(10, 20))) if c.path == "conv"]
    assert cost.macs == 10 * 20 * 4 * 27


def test_a_shared_layer_counts_once_per_call(tmp_path):
    a, b = keras.Input((4, 6)), keras.Input((9, 6))
    shared = L.Dense(5, name="shared")
    model = keras.Model([a, b], L.Concatenate(axis=1)([shared(a), shared(b)]), name="twice")
    assert work_of(described(model, tmp_path))["shared"].macs == (4 + 9) * 6 * 5


def test_a_nested_model_called_twice_counts_twice(tmp_path):
    inner = keras.Sequential([keras.Input((6,)), L.Dense(5, name="inner_dense")], name="inner")
    a, b = keras.Input((6,)), keras.Input((6,))
    found = work_of(described(keras.Model([a, b], L.Add()([inner(a), inner(b)]), name="siamese"), tmp_path))
    assert found["inner/inner_dense"].macs == 2 * 6 * 5


def test_what_is_not_known_is_none_with_the_reason():
    layers = (
        Layer("x", "InputLayer", (None, 4), 0, 0, "float32"),
        Layer("own", "MyBlock", (None, 4), 12, 12, "float32", ("x",)),
    )
    spec = TensorSpec("x", (None, 4), "float32")
    architecture = Architecture("keras", "", 12, 12, (spec,), (), layers)
    own = costs(architecture)[1]
    assert own.flops is None and own.macs is None
    assert "MyBlock" in own.why_not
    assert total(costs(architecture)).without_flops == 1


def test_a_fixed_batch_is_scaled():
    layers = (
        Layer(
            "fc",
            "FULLY_CONNECTED",
            (1, 5),
            35,
            0,
            "int8",
            (),
            {"fusedActivationFunction": "NONE"},
            (Operand("", (1, 7)), Operand("", (5, 7))),
        ),
    )
    spec = TensorSpec("x", (1, 7), "int8")
    architecture = Architecture("tflite", "", 35, None, (spec,), (), layers)
    (cost,) = costs(architecture, 4)
    assert (cost.macs, cost.output_bytes) == (4 * 35, 4 * 5)


def test_a_matrix_product_of_onnx(tmp_path):
    file = ModelFile.at(tiny_onnx(tmp_path / "m.onnx"))
    (cost,) = costs(detect(file).describe(file), 3)
    assert cost.macs == 3 * 4 * 4


@pytest.mark.parametrize("batch", [0, -1, 1 << 30])
def test_a_batch_that_makes_no_sense_is_refused(batch):
    with pytest.raises(BadSetting, match="expected 1 to"):
        costs(Architecture("keras", "", 0, 0, (), (), ()), batch)


def test_costs_survive_the_way_to_the_server_and_back(tmp_path):
    x = keras.Input((4,))
    shared = L.Dense(4, name="shared")
    architecture = described(keras.Model(x, shared(shared(x)), name="loop"), tmp_path)
    again = decode(Description, plain(Description.of(architecture, 0))).architecture
    assert costs(again) == costs(architecture)
    assert {cost.path: cost.macs for cost in costs(again)}["shared"] == 2 * 16


_settings = st.dictionaries(
    st.sampled_from(
        ["kernel_size", "strides", "padding", "groups", "units", "axes", "equation", "pads", "data_format", "layer"]
    ),
    st.one_of(
        st.none(),
        st.integers(-3, 9),
        st.sampled_from(["same", "ab,bc->ac", "channels_first"]),
        st.lists(st.integers(-2, 5), max_size=4),
        st.just({"class_name": "Dense"}),
    ),
    max_size=6,
)


@examples(100)
@given(
    st.sampled_from(
        [
            "Conv2D",
            "Dense",
            "LSTM",
            "Einsum",
            "Conv",
            "MatMul",
            "Dot",
            "TimeDistributed",
            "MaxPooling2D",
            "MultiHeadAttention",
            "RNN",
        ]
    ),
    _settings,
    st.one_of(st.none(), st.lists(st.one_of(st.none(), st.integers(0, 6)), max_size=4)),
    st.sampled_from(["keras", "onnx", "tflite", "saved_model"]),
)
def test_settings_of_a_hostile_file_never_raise(kind, config, shape, format_id):
    shape = None if shape is None else tuple(shape)
    layers = (Layer("a", kind, shape, 5, 5, "float32", (), config, (Operand("", shape), Operand("", shape))),)
    architecture = Architecture(format_id, "", 5, 5, (TensorSpec("x", shape, "float32"),), (), layers)
    (cost,) = costs(architecture)
    assert set(receptive_fields(architecture)) <= {"a"}
    assert (cost.flops is None) == bool(cost.why_not)


@each(
    ("wrapped", "plain", "shape"),
    [
        (lambda: L.RNN(L.LSTMCell(6), name="it"), lambda: L.LSTM(6, name="it"), (10, 4)),
        (lambda: L.RNN(L.GRUCell(6), name="it"), lambda: L.GRU(6, name="it"), (10, 4)),
        (lambda: L.RNN(L.SimpleRNNCell(6), name="it"), lambda: L.SimpleRNN(6, name="it"), (10, 4)),
        (lambda: L.SpectralNormalization(L.Dense(5), name="it"), lambda: L.Dense(5, name="it"), (4,)),
        (lambda: L.SpectralNormalization(L.Conv2D(5, 3), name="it"), lambda: L.Conv2D(5, 3, name="it"), (8, 8, 2)),
    ],
)
def test_a_wrapper_does_the_work_of_what_it_wraps(wrapped, plain, shape, tmp_path):
    (tmp_path / "plain").mkdir()
    inside, alone = one_layer(wrapped(), shape, folder=tmp_path), one_layer(plain(), shape, folder=tmp_path / "plain")
    assert (inside.macs, inside.flops) == (alone.macs, alone.flops)
    assert inside.macs


def test_stacked_cells_read_what_the_one_before_made(tmp_path):
    cost = one_layer(L.RNN([L.LSTMCell(6), L.GRUCell(5)], name="it"), (10, 4), folder=tmp_path)
    assert cost.macs == 10 * 4 * 6 * (4 + 6) + 10 * 3 * 5 * (6 + 5)


@each(
    ("layer", "macs"),
    [
        (lambda: L.Attention(name="it"), 10 * 12 * 8 + 10 * 12 * 6),
        (lambda: L.Attention(use_scale=True, name="it"), 10 * 12 * 8 + 10 * 12 * 6),
        (lambda: L.AdditiveAttention(name="it"), 10 * 12 * 6),
    ],
)
def test_attention_without_weights_scores_each_pair(layer, macs, tmp_path):
    cost = one_layer(layer(), (10, 8), (12, 6), (12, 8), folder=tmp_path)
    assert cost.macs == macs
    assert cost.flops > 2 * macs


@each(
    ("kind", "config", "reason"),
    [
        ("RNN", {}, "Keras' own"),
        ("RNN", {"cell": {"class_name": "MyCell", "config": {"units": 3}}}, "Keras' own"),
        ("Bidirectional", {}, "in the file"),
        ("TimeDistributed", {}, "in the file"),
        ("SpectralNormalization", {}, "in the file"),
        ("TimeDistributed", {"layer": {"class_name": "MyLayer", "config": {}}}, "MyLayer inside it"),
    ],
)
def test_a_wrapper_around_something_unknown_says_so(kind, config, reason):
    layer = Layer("a", kind, (None, 4, 3), 0, 0, "float32", (), config, (Operand("", (None, 4, 3)),))
    architecture = Architecture("keras", "", 0, 0, (TensorSpec("x", (None, 4, 3), "float32"),), (), (layer,))
    (cost,) = costs(architecture)
    assert cost.macs is None
    assert reason in cost.why_not


def test_a_function_that_keras_2_keeps_as_a_layer_does_its_own_work(tmp_path):
    x, y = tf_keras.Input((5, 4)), tf_keras.Input((4, 3))
    model = tf_keras.Model([x, y], tf.square(tf.matmul(x, y)), name="functions")
    found = [(cost.macs, cost.flops) for cost in costs(described_h5(model, tmp_path), 2)]
    assert found == [(0, 0), (0, 0), (2 * 5 * 4 * 3, 2 * 2 * 5 * 4 * 3), (0, 2 * 5 * 3)]
