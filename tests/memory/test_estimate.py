"""What an estimate adds up, and what it knows of a traced model without running it."""

from __future__ import annotations

import dataclasses

import pytest

from stethoscope.architecture.open_sizes import Sizes, sizes_to_try
from stethoscope.memory.estimate import Alive, Facts, estimate
from stethoscope.memory.layer_estimate import LayerFacts
from stethoscope.memory.liveness import Step, profile
from stethoscope.memory.run_settings import RunSettings
from stethoscope.memory.runtime_needs import Runtime, runtime_of
from stethoscope.models.formats import all_formats
from stethoscope.types import Architecture, Layer, TensorSpec
from tests.memory.models import opened

RUNTIME = Runtime(fixed_bytes=1000, weight_bytes=10, kernel_bytes=100, loading_copies=(1.0, 2.0), input_copies=2.0)


def facts(weights_bytes: int = 50) -> Facts:
    steps = [Step("a", ("a",), ("x",)), Step("b", ("b",), ("a",), inside_bytes=7)]
    return Facts(
        weights_bytes=weights_bytes,
        largest_weight_bytes=weights_bytes,
        input_bytes=20,
        output_bytes=30,
        weights=2,
        kernels=1,
        loops=0,
        profile=profile(steps, {"a": 40, "b": 30}, to_the_end=["b"]),
        names=["a", "b"],
        layers=["first", "second"],
        tensors={"a": Alive("a", "first", (10,), "float32", 40), "b": Alive("b", "second", (8,), "float32", 30)},
    )


def test_the_parts_add_up_and_say_where():
    found = estimate(facts(), RUNTIME, batch_size=8, samples=8, call="function")
    assert (found.weights_bytes, found.live_bytes, found.workspace_bytes) == (50, 70, 7)
    assert (found.outputs_bytes, found.input_bytes, found.runtime_bytes) == (0, 40, 1120)
    assert found.peak_bytes == 50 + 70 + 7 + 40 + 1120
    assert (found.phase, found.at, found.layer) == ("run", "b", "second")
    assert [item.name for item in found.alive] == ["a", "b"]
    assert [moment.live_bytes for moment in found.timeline] == [40, 77]
    assert found.timeline[1].largest == (("first", 40), ("second", 30))


def test_more_samples_are_held_with_their_outputs_and_joined_twice():
    once = estimate(facts(), RUNTIME, batch_size=8, samples=8, call="function")
    many = estimate(facts(), RUNTIME, batch_size=8, samples=80, call="function")
    assert many.phase == "collect"
    assert many.outputs_bytes == 2 * 10 * 30
    assert many.input_bytes == once.input_bytes + 9 * 20
    itself = estimate(facts(), RUNTIME, batch_size=8, samples=80, call="predict")
    assert itself.input_bytes == many.input_bytes + 12 * 20


def test_outputs_larger_than_all_else_are_there_twice_when_they_become_arrays():
    large = dataclasses.replace(facts(), output_bytes=400)
    found = estimate(large, RUNTIME, batch_size=8, samples=8, call="function")
    assert (found.phase, found.outputs_bytes) == ("collect", 800)


def test_loading_large_weights_is_the_peak():
    found = estimate(facts(10_000), RUNTIME, batch_size=8, samples=8, call="function")
    assert found.phase == "load"
    assert found.peak_bytes == 10_000 + 1020 + 10_000 + 20_000


def test_a_listed_graph_is_estimated_from_its_description():
    def layer(path: str, kind: str, width: int, *inputs: str, parameters: int = 0) -> Layer:
        return Layer(path, kind, (None, width), parameters, parameters, "float32", inputs)

    spec = TensorSpec("x", (None, 4), "float32")
    layers = (
        layer("wide", "Gemm", 100, "x", parameters=500),
        layer("relu", "Relu", 100, "wide"),
        layer("flat", "Reshape", 100, "relu"),
        layer("y", "Gemm", 2, "flat", parameters=202),
    )
    outputs = (TensorSpec("y", (None, 2), "float32"),)
    architecture = Architecture(
        "onnx", "", 702, None, (spec,), outputs, layers, weight_bytes=2808, output_layers=("y",)
    )
    found = LayerFacts(architecture).at(10, 16)
    assert found.profile.live_bytes == (4000, 4000, 4000, 4080)
    assert (found.weights_bytes, found.largest_weight_bytes, found.input_bytes, found.output_bytes) == (
        2808,
        2000,
        160,
        80,
    )
    assert (found.kernels, found.weights) == (4, 2)


@pytest.fixture(scope="module")
def keras():
    import keras

    return keras


def made(runner, call: str, batch: int, *size: int):
    from stethoscope.memory.graph_estimate import GraphFacts

    sizes = next(sizes_to_try(runner.inputs, Sizes.every(*size or (None,))))
    return GraphFacts(runner, call, (1, 1)).at([sizes.shape(spec, batch) for spec in runner.inputs])


def test_each_call_style_has_its_own_live_tensors(keras, tmp_path):
    layers = keras.layers
    x = start = keras.Input((256,))
    for number in range(4):
        x = layers.ReLU(name=f"relu_{number}")(layers.Dense(256, name=f"dense_{number}")(x))
    with opened(keras.Model(start, x), tmp_path) as runner:
        width = 64 * 256 * 4
        function, eager = made(runner, "function", 64), made(runner, "call", 64)
        assert function.weights_bytes == eager.weights_bytes == 4 * (256 * 256 + 256) * 4
        assert function.profile.peak_bytes == 2 * width  # the input is counted apart; ReLU writes over its own
        assert eager.profile.peak_bytes == 8 * width  # every layer's output is held
        assert runner.traces == 0
    assert function.layers[function.profile.at].startswith("dense")
    assert {function.tensors[name].layer for name in function.profile.alive} <= {
        f"{kind}_{n}" for kind in ("dense", "relu") for n in range(4)
    }


def test_a_recurrent_layer_keeps_what_its_turns_make(keras, tmp_path):
    layers = keras.layers
    model = keras.Sequential([keras.Input((None, 16)), layers.LSTM(64, return_sequences=True)])
    with opened(model, tmp_path) as runner:
        short, long = made(runner, "function", 8, 50), made(runner, "function", 8, 200)
    one = 8 * 64 * 4
    assert 2 * 200 * one <= long.profile.peak_bytes <= 3 * 200 * one
    assert short.profile.peak_bytes < long.profile.peak_bytes / 2
    assert long.loops == 1
    assert not long.notes


def test_a_short_loop_computes_no_more_turns_ahead_than_it_has(keras, tmp_path):
    layers = keras.layers
    turns, rows = 4, 8
    stack = [layers.ConvLSTM2D(16, 3, padding="same"), layers.Conv2D(1, 3)]
    with opened(keras.Sequential([keras.Input((turns, 40, 40, 1)), *stack]), tmp_path) as runner:
        found = made(runner, "function", rows)
    gate = rows * 40 * 40 * 16 * 4
    assert found.profile.peak_bytes <= (4 * turns // 2 + 10) * gate


def test_runtimes_differ_by_call_style():
    needs = {
        call: runtime_of(all_formats()["keras"], RunSettings(call=call)).fixed_bytes
        for call in ("function", "predict", "compiled")
    }
    assert needs["function"] < needs["predict"] < needs["compiled"]
    assert runtime_of(all_formats()["onnx"], RunSettings()) != runtime_of(all_formats()["tflite"], RunSettings())
