"""What a model's inputs leave open, as a number: given, of the data, or assumed, and each says which."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

from stethoscope.architecture.open_sizes import TRIED, Sizes, open_sizes, sizes_of_file, sizes_to_try
from stethoscope.types import Layer, TensorSpec

TOKENS = TensorSpec("tokens", (None, None), "int32")
IMAGE = TensorSpec("image", (None, None, None, 3), "float32")
CHANNELS_FIRST = TensorSpec("image", (None, 3, None, None), "float32")
FIXED = TensorSpec("fixed", (None, 4), "float32")


def told(found):
    return [(item.input, item.axis, item.size, item.source) for item in found.dimensions]


def test_what_is_given_comes_before_the_data_and_the_data_before_an_assumption():
    specs = (TOKENS, IMAGE, FIXED)
    data = {"tokens": (5, 512), "image": (5, 20, 30, 3)}
    assert told(open_sizes(specs, given=Sizes(64), data=data)) == [
        ("tokens", 1, 64, "given"),
        ("image", 1, 20, "data"),
        ("image", 2, 30, "data"),
    ]
    found = open_sizes(specs)
    assert told(found) == [("tokens", 1, 128, "assumed"), ("image", 1, 224, "assumed"), ("image", 2, 224, "assumed")]
    assert [found.shape(spec, 8) for spec in specs] == [(8, 128), (8, 224, 224, 3), (8, 4)]


def test_height_and_width_stand_where_the_input_has_them():
    given = Sizes(image_size=(20, 30))
    assert open_sizes((IMAGE,), given=given).shape(IMAGE, 1) == (1, 20, 30, 3)
    assert open_sizes((CHANNELS_FIRST,), given=given).shape(CHANNELS_FIRST, 1) == (1, 3, 20, 30)


def test_data_of_another_rank_says_nothing():
    assert told(open_sizes((TOKENS,), data={"tokens": (5, 512, 7)})) == [("tokens", 1, 128, "assumed")]


def test_a_run_tries_further_sizes_only_where_one_is_assumed():
    assert [found.size for found in sizes_to_try((TOKENS,))] == list(TRIED)
    assert [found.size for found in sizes_to_try((TOKENS,), data={"tokens": (5, 512)})] == [512]
    assert [found.size for found in sizes_to_try((TOKENS,), Sizes.every(7))] == [7]
    (nothing,) = sizes_to_try((FIXED,))
    assert (nothing.size, nothing.source) == (None, None)


def layer(path, type_, **config):
    return Layer(path, type_, (None, 512, 8), 0, 0, "float32", config=config)


POSITIONS = layer("position_embedding", "Embedding", input_dim=512)


def test_the_file_says_what_nobody_else_does():
    of_file = sizes_of_file([layer("words", "Embedding", input_dim=30_000), POSITIONS])
    assert of_file == Sizes(512)
    assert told(open_sizes((TOKENS,), of_file=of_file)) == [("tokens", 1, 512, "file")]
    assert told(open_sizes((TOKENS,), given=Sizes(7), of_file=of_file)) == [("tokens", 1, 7, "given")]
    assert told(open_sizes((TOKENS,), data={"tokens": (1, 9)}, of_file=of_file)) == [("tokens", 1, 9, "data")]
    resized = sizes_of_file([layer("resizing", "Resizing", height=96, width=64)])
    assert open_sizes((IMAGE,), of_file=resized).shape(IMAGE, 1) == (1, 96, 64, 3)


def test_positions_are_read_from_hand_written_layers():
    assert sizes_of_file([layer("pos", "SinePositionEncoding", max_length=256)]) == Sizes(256)
    assert sizes_of_file([layer("pos", "PositionEmbedding", sequence_length=64)]) == Sizes(64)
    assert sizes_of_file([layer("attention", "MultiHeadAttention", num_heads=8)]) == Sizes()


def test_a_run_tries_the_size_of_the_file_first_and_the_others_after_it():
    assert [found.size for found in sizes_to_try((TOKENS,), of_file=Sizes(512))] == [512, *TRIED]
    assert [found.size for found in sizes_to_try((TOKENS,), data={"tokens": (5, 9)}, of_file=Sizes(512))] == [9]
    assert [found.size for found in sizes_to_try((IMAGE,), of_file=Sizes(512))] == list(TRIED)


def squares(path):
    """y = x · x over a length that is open, for estimates that need no TensorFlow."""
    shape = ["n", "length", 4]
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "x"], ["y"], name="square")],
        "squares",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)
    return path


def test_an_estimate_takes_the_length_of_the_data_and_says_so(commands, tmp_path):
    model = squares(tmp_path / "squares.onnx")
    np.savez(tmp_path / "reviews.npz", x=np.zeros((3, 5_000, 4), np.float32))
    words = ("sweep", model, "--estimate-only", "--batch-sizes", "8")
    of_data, given, assumed = (
        commands.answer(*words, *more)["points"][0]
        for more in (("--data", tmp_path / "reviews.npz"), ("--sizes", "5000"), ())
    )
    assert (of_data["size"], of_data["size_from"]) == (5_000, "data")
    assert (given["size"], given["size_from"]) == (5_000, "given")
    assert (assumed["size"], assumed["size_from"]) == (16, "assumed")
    assert of_data["estimated_peak_bytes"] == given["estimated_peak_bytes"] > assumed["estimated_peak_bytes"]
