"""Input for a model: made from its specs, or bound from a user's arrays."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.data.batching import Batching, bind
from stethoscope.data.dummy import dummy_feed
from stethoscope.errors import BadInput
from stethoscope.types import Architecture, Layer, TensorSpec


def architecture(*layers: Layer) -> Architecture:
    return Architecture("x", "", 0, None, (), (), layers)


IMAGE = TensorSpec("image", (None, 8, 8, 3), "float32")


def test_the_same_seed_gives_the_same_input():
    first = dummy_feed(architecture(), [IMAGE], 4, seed=1)
    again = dummy_feed(architecture(), [IMAGE], 4, seed=1)
    other = dummy_feed(architecture(), [IMAGE], 4, seed=2)
    np.testing.assert_array_equal(first["image"], again["image"])
    assert not np.array_equal(first["image"], other["image"])


def test_token_inputs_stay_inside_the_vocabulary():
    embedding = Layer("emb", "Embedding", None, 0, 0, "float32", config={"input_dim": 7})
    ids = dummy_feed(architecture(embedding), [TensorSpec("input_word_ids", (None, None), "int32")], 8, 0)
    assert ids["input_word_ids"].shape == (8, 16)
    assert 0 <= ids["input_word_ids"].min() <= ids["input_word_ids"].max() < 7


def test_a_float_that_goes_to_an_embedding_is_an_index():
    first = Layer("embedding_1", "Embedding", None, 0, 0, "float32", config={"input_dim": 5})
    ids = dummy_feed(architecture(first), [TensorSpec("embedding_1_input", (None, 6), "float32")], 8, 0)
    values = ids["embedding_1_input"]
    assert values.dtype == np.float32
    assert set(np.unique(values)) <= set(range(5))


def test_each_input_gets_the_vocabulary_of_its_own_embedding():
    layers = (
        Layer("words", "InputLayer", None, 0, 0, "int32"),
        Layer("flag", "InputLayer", None, 0, 0, "int32"),
        Layer("big", "Embedding", None, 0, 0, "float32", ("words",), {"input_dim": 1000}),
        Layer("small", "Embedding", None, 0, 0, "float32", ("flag",), {"input_dim": 2}),
    )
    specs = [TensorSpec("words", (None, 50), "int32"), TensorSpec("flag", (None, 50), "int32")]
    feed = dummy_feed(architecture(*layers), specs, 20, 0)
    assert feed["words"].max() > 100
    assert feed["flag"].max() == 1


def test_masks_are_ones_and_segments_zeros():
    specs = [TensorSpec("input_mask", (None, 4), "int32"), TensorSpec("segment_ids", (None, 4), "int32")]
    feed = dummy_feed(architecture(), specs, 2, 0)
    assert feed["input_mask"].all()
    assert not feed["segment_ids"].any()


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "uint8", "int64", "bool", "complex64", "string"]
)
def test_every_dtype_has_an_input(dtype):
    array = dummy_feed(architecture(), [TensorSpec("x", (None, 3), dtype)], 2, 0)["x"]
    assert array.shape == (2, 3)
    assert str(array.dtype) == ("object" if dtype == "string" else dtype)


def test_a_dynamic_batch_is_cut_and_a_scalar_is_not():
    batching = Batching.of([IMAGE, TensorSpec("rate", (), "float32")])
    feed = {"image": np.zeros((5, 8, 8, 3)), "rate": np.float32(0.5).reshape(())}
    assert [part["image"].shape[0] for part in batching.cut(feed, 2)] == [2, 2, 1]
    assert all(part["rate"].shape == () for part in batching.cut(feed, 2))


def test_a_fixed_batch_is_filled_by_repeating_rows():
    batching = Batching.of([TensorSpec("x", (4, 2), "float32")])
    assert batching.fixed == 4
    np.testing.assert_array_equal(batching.take({"x": np.arange(3)}, 4)["x"], [0, 1, 2, 0])


def test_inputs_that_share_no_first_dimension_are_called_whole():
    batching = Batching.of([TensorSpec("a", (3, 4), "float32"), TensorSpec("b", (4,), "float32")])
    feed = {"a": np.zeros((3, 4)), "b": np.zeros(4)}
    assert [part["a"].shape for part in batching.cut(feed, 1)] == [(3, 4)]


def test_the_length_of_a_signal_is_no_number_of_rows():
    wave = TensorSpec("wave", (15_600,), "float32")
    batching = Batching.of([wave])
    assert batching.rows({"wave": np.zeros(15_600)}) == 1
    assert batching.take({"wave": np.arange(15_600)}, 1)["wave"].shape == (15_600,)
    assert Batching.of([TensorSpec("x", (1,), "float32")]).fixed == 1
    assert Batching.of([TensorSpec("x", (4, 2), "float32"), TensorSpec("y", (4,), "float32")]).fixed == 4


def test_a_lone_array_goes_to_the_only_input():
    assert bind({"anything": np.zeros((2, 8, 8, 3))}, [IMAGE])["image"].shape == (2, 8, 8, 3)
    assert bind({"x": np.zeros((2, 8, 8, 3)), "y": np.zeros(2)}, [IMAGE])["image"].shape == (2, 8, 8, 3)


def test_missing_names_and_unequal_rows_are_sentences():
    two = [IMAGE, TensorSpec("mask", (None, 2), "float32")]
    with pytest.raises(BadInput, match="mask"):
        bind({"image": np.zeros((2, 8, 8, 3))}, two)
    with pytest.raises(BadInput, match="number of rows"):
        bind({"image": np.zeros((0, 8, 8, 3)), "mask": np.zeros((3, 2))}, two)


def test_rows_that_only_go_together_are_one_call():
    batching = Batching.of([IMAGE, TensorSpec("mask", (None, 2), "float32")])
    assert not batching.are_even({"image": np.zeros((2, 8)), "mask": np.zeros((3, 2))})
    assert batching.together(0).rows({"image": np.zeros((2, 8))}) == 1
    assert batching.together(4).fixed == 4
