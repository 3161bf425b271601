"""Tiles of 8 × 128, and what a TPU cannot do of a model."""

from __future__ import annotations

import dataclasses

import pytest

from sample_models import BUILT
from stethoscope.memory.planner.plan import Settings, plan
from stethoscope.memory.planner.presets import device
from stethoscope.memory.planner.tiles import padded
from stethoscope.memory.planner.tpu_limits import compiled_operators, tpu_limits
from stethoscope.models.formats import detect
from stethoscope.types import Layer, ModelFile, TensorSpec
from tests.memory.planner.architectures import architecture, layer, transformer
from tests.tables import each


@each(
    ("axes", "size", "filled"),
    [
        ((512, 768), 512 * 768, 512 * 768),
        ((12, 512, 64), 12 * 512 * 64, 12 * 512 * 128),
        ((7, 7, 130), 7 * 7 * 130, 7 * 8 * 256),
        ((2,), 2, 128),
        ((), 1, 128),
    ],
)
def test_the_last_two_axes_are_filled_up(axes, size, filled):
    assert padded(size, axes) == filled


def test_a_plan_for_tpus_counts_them_and_says_what_they_add():
    model = transformer(blocks=2, hidden=64, heads=8, sequence=256)
    on_tpu = plan(model, Settings(device("tpu-v3")))[0]
    same_size = dataclasses.replace(device("t4"), usable_bytes=device("tpu-v3").usable_bytes)
    on_card = plan(model, Settings(same_size))[0]
    assert on_tpu.bytes_per_device.activations > 1.2 * on_card.bytes_per_device.activations
    assert on_tpu.bytes_per_device.weights == on_card.bytes_per_device.weights
    assert [note for note in on_tpu.notes if "8 × 128" in note]
    assert not [note for note in on_card.notes if "8 × 128" in note]


def test_open_lengths_are_named():
    file = ModelFile.at(BUILT / "bert_small.keras")
    found = tpu_limits(detect(file).describe(file))
    assert {(axis.input, axis.axis) for axis in found.open_axes} >= {("input_word_ids", 1)}
    assert not found.without_kernel
    assert any("input_word_ids" in sentence for sentence in found.sentences())


def kept(*layers: Layer) -> dict[str, bool]:
    model = architecture(list(layers))
    return {item.path: item.certain for item in tpu_limits(model).without_kernel}


def test_layers_without_a_kernel():
    text = dataclasses.replace(layer("t", "TextVectorization", (None, 8), 0))
    area = dataclasses.replace(layer("r", "Resizing", (None, 8, 8, 3), 0), config={"interpolation": "area"})
    plain = dataclasses.replace(layer("b", "Resizing", (None, 8, 8, 3), 0), config={"interpolation": "bilinear"})
    own = layer("l", "Lambda", (None, 8), 0)
    assert kept(text, area, plain, own, layer("d", "Dense", (None, 8), 10)) == {"t": True, "r": True, "l": False}


def test_operators_of_a_graph_without_a_kernel():
    graph = dataclasses.replace(
        architecture([layer("a", "MatMul", (None, 8), 0), layer("s", "StringSplitV2", None, 0)]),
        format_id="frozen_graph",
        inputs=(TensorSpec("words", (None,), "string"),),
    )
    assert [item.path for item in tpu_limits(graph).without_kernel] == ["words", "s"]


def test_the_list_is_that_of_the_tensorflow_installed():
    import tensorflow as tf
    from tensorflow.python.framework import kernels, test_util

    with test_util.device(use_gpu=False):
        tf.function(lambda x: x + 1, jit_compile=True)(
            tf.constant(1.0)
        )  # XLA's kernels are registered at its first use
    registered = kernels.get_all_registered_kernels().kernel
    assert compiled_operators() == {kernel.op for kernel in registered if kernel.device_type == "XLA_CPU_JIT"}


@pytest.mark.parametrize(
    ("name", "options", "value"),
    [
        ("IntegerLookup", {"vocabulary": [1, 2]}, [[1], [2]]),
        ("Hashing", {"num_bins": 5}, [[1], [2]]),
        ("RandomRotation", {"factor": 0.1}, "image"),
        ("RandomTranslation", {"height_factor": 0.1, "width_factor": 0.1}, "image"),
        ("RandomZoom", {"height_factor": 0.1}, "image"),
        ("Resizing", {"height": 8, "width": 8, "interpolation": "area"}, "image"),
        ("Resizing", {"height": 8, "width": 8, "interpolation": "bicubic"}, "image"),
        ("Resizing", {"height": 8, "width": 8}, None),
        ("Discretization", {"bin_boundaries": [0.0]}, None),
    ],
)
def test_xla_refuses_the_layers_that_are_named_and_no_others(name, options, value):
    import keras
    import numpy as np
    import tensorflow as tf

    made = getattr(keras.layers, name)(**options)
    image = np.ones((1, 16, 16, 3), "float32")
    given = tf.constant(image if value in ("image", None) else value)
    training = {"training": True} if name.startswith("Random") else {}
    made(given)
    compiled = tf.function(lambda x: made(x, **training), jit_compile=True)
    described = dataclasses.replace(layer("it", name, (None, 8), 0), config=made.get_config())
    assert ("it" in kept(described)) == (value is not None)
    if value is None:
        compiled(given)
        return
    with pytest.raises(tf.errors.InvalidArgumentError, match="XLA_CPU_JIT"):
        compiled(given)
