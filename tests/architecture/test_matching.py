"""Which layer is which: names that were given, numbers that shifted, insertions, and graphs of thousands of operators."""

from __future__ import annotations

from stethoscope.architecture.layer_looks import changes, kind_word
from stethoscope.architecture.matching import aligned, match
from stethoscope.types import Architecture, Layer, TensorSpec
from tests.architecture.keras_files import described
from tests.frameworks import keras
from tests.frameworks import layers as L


def pairs(first, second):
    return {(found.a, found.b): found.how for found in match(first, second)}


def chain(folder, name, *layers):
    return described(keras.Sequential([keras.Input((8,), name="x"), *layers], name=name), folder)


def test_a_model_matches_itself_by_name(tmp_path):
    one = chain(tmp_path, "one", L.Dense(4, name="a"), L.Dense(3, name="b"))
    assert pairs(one, one) == {("x", "x"): "name", ("a", "a"): "name", ("b", "b"): "name"}


def test_renamed_layers_are_matched_by_structure(tmp_path):
    one = chain(tmp_path, "one", L.Dense(4, name="left"), L.Dense(4, name="middle"), L.Dense(3, name="right"))
    two = chain(tmp_path, "two", L.Dense(4, name="p"), L.Dense(4, name="q"), L.Dense(3, name="r"))
    found = pairs(one, two)
    assert found["left", "p"] == found["middle", "q"] == found["right", "r"] == "structure"


def test_numbers_that_shifted_do_not_mislead(tmp_path):
    one = chain(tmp_path, "one", L.Dense(16, name="dense"), L.Dense(5, name="dense_1"))
    two = chain(tmp_path, "two", L.Dense(32, name="dense"), L.Dense(16, name="dense_1"), L.Dense(5, name="dense_2"))
    found = {(a, b) for a, b in pairs(one, two)}
    assert ("dense_1", "dense_2") in found
    assert ("dense_1", "dense_1") not in found


def test_an_inserted_layer_is_the_only_one_without_a_partner(tmp_path):
    one = chain(tmp_path, "one", L.Dense(4, name="a"), L.Dense(3, name="b"))
    two = chain(tmp_path, "two", L.Dense(4, name="a"), L.Dropout(0.5, name="fresh"), L.Dense(3, name="b"))
    found = match(one, two)
    assert {item.b for item in found} == {"x", "a", "b"}


def test_a_layer_with_other_units_is_a_changed_one(tmp_path):
    one = chain(tmp_path, "one", L.Dense(4, name="a", activation="relu"), L.Dense(3, name="b"))
    two = chain(tmp_path, "two", L.Dense(6, name="a2", activation="tanh"), L.Dense(3, name="b"))
    found = pairs(one, two)
    assert found["a", "a2"] == "structure"
    layers = [{layer.path: layer for layer in side.layers} for side in (one, two)]
    told = {(c.what, c.field): (c.a, c.b) for c in changes(layers[0]["a"], layers[1]["a2"], {"x": "x"}, across=False)}
    assert told["config", "units"] == (4, 6)
    assert told["config", "activation"] == ("relu", "tanh")
    assert told["shape", "output_shape"] == ([None, 4], [None, 6])
    assert ("inputs", "inputs") not in told


def test_other_edges_are_said(tmp_path):
    x = keras.Input((4,), name="x")
    a, b = L.Dense(4, name="a")(x), L.Dense(4, name="b")(x)
    one = described(keras.Model(x, L.Add(name="sum")([a, b]), name="one"), tmp_path)
    c = L.Dense(4, name="a")(x)
    two = described(keras.Model(x, L.Add(name="sum")([c, L.Dense(4, name="b")(c)]), name="two"), tmp_path)
    layers = [{layer.path: layer for layer in side.layers} for side in (one, two)]
    partners = {found.a: found.b for found in match(one, two)}
    assert [c.what for c in changes(layers[0]["b"], layers[1]["b"], partners, across=False)] == ["inputs"]


def long_chain(count: int, prefix: str, skip: int = -1) -> Architecture:
    layers = [Layer(f"{prefix}0", "Input", (None, 8), 0, 0, "float32")]
    for at in range(1, count):
        if at == skip:
            continue
        kind = ("MatMul", "Add", "Relu")[at % 3]
        layers.append(
            Layer(f"{prefix}{at}", kind, (None, 8), 64 * (kind == "MatMul"), 0, "float32", (layers[-1].path,))
        )
    return Architecture("onnx", "", 0, None, (TensorSpec("x", (None, 8), "float32"),), (), tuple(layers))


def test_five_thousand_operators_are_aligned():
    found = match(long_chain(5000, "a"), long_chain(5000, "b", skip=2500))
    assert len(found) >= 4990


def test_each_layer_is_matched_at_most_once():
    found = match(long_chain(60, "a"), long_chain(40, "b"))
    assert len({item.a for item in found}) == len({item.b for item in found}) == len(found)


def operators(*layers: tuple[str, str, tuple[str, ...]]) -> Architecture:
    made = tuple(Layer(path, kind, (None, 8), 0, 0, "float32", inputs) for path, kind, inputs in layers)
    return Architecture("onnx", "", 0, None, (TensorSpec("x", (None, 8), "float32"),), (), made)


def test_operators_of_other_kinds_in_the_same_place_are_each_other():
    first = operators(
        ("x", "Input", ()), ("mid", "Relu", ("x",)), ("late", "Neg", ("mid",)), ("end", "Softmax", ("late",))
    )
    second = operators(
        ("x", "Input", ()), ("m", "LeakyRelu", ("x",)), ("late", "Neg", ("m",)), ("e", "Sigmoid", ("late",))
    )
    found = {item.a: item.b for item in match(first, second)}
    assert (found["mid"], found["end"]) == ("m", "e")


def test_an_activation_is_one_kind_in_every_language():
    def word(kind, **config):
        return kind_word(Layer("here", kind, None, 0, 0, "float32", (), config))

    assert keras.activations.get("swish") is keras.activations.silu
    assert keras.activations.get("hard_swish") is keras.activations.hard_silu
    for alike in (
        {word("LOGISTIC"), word("Sigmoid"), word("Activation", activation="sigmoid")},
        {word("Swish"), word("Activation", activation="swish"), word("Activation", activation="silu")},
        {word("HARD_SWISH"), word("HardSwish"), word("Activation", activation="hard_silu")},
        {word("RELU_N1_TO_1"), word("Activation", activation="hard_tanh")},
        {word("LEAKY_RELU"), word("LeakyRelu"), word("LeakyReLU"), word("Activation", activation="leaky_relu")},
    ):
        assert len(alike) == 1, alike


def test_long_sequences_with_many_differences_are_walked_in_order():
    left = [f"op{at}" for at in range(4000)]
    gone, new = set(range(5, 4000, 397)), set(range(100, 4000, 811))
    right = [
        item for at, name in enumerate(left) if at not in gone for item in (["new"] * 3 if at in new else []) + [name]
    ]
    right[0] = "another start"
    right[-1] = "another end"
    found = list(aligned(left, right))
    assert [left[a] for a, _ in found] == [right[b] for _, b in found]
    assert [a for a, _ in found] == sorted({a for a, _ in found})
    assert [b for _, b in found] == sorted({b for _, b in found})
    assert {a for a, _ in found} == set(range(1, 3999)) - gone


def test_after_a_difference_too_long_to_see_over_both_go_on():
    same = [f"op{at}" for at in range(1200)]
    found = list(aligned(["a", *same[:600], *(["left"] * 200), *same[600:], "b"], ["c", *same, "d"]))
    assert {(a, b) for a, b in found if b <= 600} == {(at, at) for at in range(1, 601)}
    assert all(a > 0 for a, _ in found)


def test_nothing_of_one_is_in_the_other():
    assert list(aligned([f"a{at}" for at in range(1500)], [f"b{at}" for at in range(1500)])) == []
