"""Plans: what fits, in which order, and what always holds."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.architecture.model_shape import model_shape
from stethoscope.errors import BadSetting
from stethoscope.memory.planner.margin import margin
from stethoscope.memory.planner.parallelism import Workload, estimate
from stethoscope.memory.planner.plan import Settings, plan, together
from stethoscope.memory.planner.presets import Device, device
from stethoscope.memory.planner.remarks import milliseconds
from stethoscope.memory.planner.states import Layout, optimizer, precision, precision_of
from stethoscope.types import Architecture, CompileSettings
from tests.exploring import examples
from tests.memory.planner.architectures import architecture, dense_stack, layer, residual_network, transformer
from tests.tables import each

MODELS: dict[str, Architecture] = {
    "transformer": transformer(blocks=4, hidden=64, heads=8, vocabulary=96, head=96),
    "residual": residual_network(filters=16, blocks=3, size=16),
    "dense": dense_stack([256, 128, 64, 32, 8]),
}
KINDS = ("data", "zero1", "zero2", "zero3", "tensor", "pipeline")


def by_kind(plans):
    return {item.layout.family: item for item in plans}


def small(memory_bytes: int) -> Device:
    return Device("own", "small", "own", memory_bytes, memory_bytes, "given")


def test_plans_that_use_all_devices_come_first_and_each_group_by_its_time():
    asked = Settings(device("16GB"), devices=8)
    plans = plan(MODELS["transformer"], asked)
    assert all(item.fits for item in plans)
    assert set(KINDS) <= {item.kind for item in plans}
    groups = [(not item.available, item.devices < 8 if item.available else False) for item in plans]
    assert groups == sorted(groups)
    assert plans[0].available and plans[0].devices == 8
    for group in set(groups):
        times = [item.time.total_s for item, its in zip(plans, groups, strict=True) if its == group and item.available]
        assert times == sorted(times)


def test_more_to_compute_makes_more_devices_worth_it_and_less_is_said():
    large = plan(MODELS["residual"], Settings(device("t4"), devices=8, batch_size=4096))
    first, single = by_kind(large)["data"], by_kind(large)["single"]
    assert large[0] is first and first.time.total_s < single.time.total_s
    small_batch = plan(MODELS["dense"], Settings(device("t4"), devices=8, batch_size=8))
    assert small_batch[0].devices == 8
    faster = by_kind(small_batch)["single"]
    assert faster.time.total_s < small_batch[0].time.total_s
    assert milliseconds(faster.time.total_s) in small_batch[0].notes[0]


def test_keras_adam_in_float32_needs_16_bytes_per_parameter():
    shape = model_shape(MODELS["dense"])
    found = plan(shape, Settings(device("16GB")))[0].bytes_per_device
    assert found.weights + found.gradients + found.optimizer == 16 * shape.parameters


def test_mirrored_data_parallelism_repeats_the_states_and_divides_the_activations():
    one = by_kind(plan(MODELS["residual"], Settings(device("16GB"), batch_size=64)))["single"].bytes_per_device
    four = by_kind(plan(MODELS["residual"], Settings(device("16GB"), 4, batch_size=64)))["data"].bytes_per_device
    assert (four.weights, four.gradients, four.optimizer) == (one.weights, one.gradients, one.optimizer)
    assert four.activations * 4 == one.activations
    assert four.buffers >= four.gradients  # all gradients in one flat copy for the all-reduce


@pytest.mark.usefixtures("sure")
def test_what_does_not_fit_comes_last_and_says_by_how_much():
    needs = plan(MODELS["transformer"], Settings(device("16GB"), devices=4))
    limit = sorted(item.bytes_per_device.total for item in needs)[2]
    plans = plan(MODELS["transformer"], Settings(small(limit), devices=4, recompute=False))
    for available in (True, False):
        fits = [item.fits for item in plans if item.available is available]
        assert fits == sorted(fits, reverse=True)
    assert {True, False} == {item.fits for item in plans}
    for item in plans:
        assert item.headroom_bytes == limit - item.bytes_per_device.total
        assert item.fits == (item.headroom_bytes >= 0)


@pytest.mark.usefixtures("sure")
def test_what_does_not_fit_names_the_batch_that_does():
    asked = Settings(device("16GB"), 4, batch_size=64, recompute=False)
    whole = by_kind(plan(MODELS["residual"], asked))["data"].bytes_per_device.total
    tight = dataclasses.replace(asked, device=small(int(whole * 0.6)))
    first = by_kind(plan(MODELS["residual"], tight))["data"]
    batch = int(re.search(r"batch of (\d+)", first.notes[0])[1])
    assert 0 < batch < 64 and batch % 4 == 0
    assert by_kind(plan(MODELS["residual"], dataclasses.replace(tight, batch_size=batch)))["data"].fits
    assert not by_kind(plan(MODELS["residual"], dataclasses.replace(tight, batch_size=batch + 4)))["data"].fits


@pytest.mark.usefixtures("sure")
def test_recomputation_is_a_line_where_it_makes_the_difference():
    settings_ = Settings(device("1TB"), batch_size=64, precision="bfloat16")
    model = transformer(blocks=12, hidden=64, heads=8, sequence=256)
    whole = plan(model, settings_)[0].bytes_per_device.total
    as_it_is, found = plan(model, dataclasses.replace(settings_, device=small(int(whole * 0.7))))
    assert (found.kind, found.fits, found.available) == ("single+selective-recompute", True, False)
    assert (as_it_is.kind, as_it_is.fits, as_it_is.available) == ("single", False, True)
    tighter = plan(model, dataclasses.replace(settings_, device=small(int(whole * 0.15))))[1]
    assert (tighter.kind, tighter.fits) == ("single+recompute", True)
    assert tighter.cost.recompute == pytest.approx(1 / 3)
    without = plan(model, dataclasses.replace(settings_, device=small(int(whole * 0.7)), recompute=False))
    assert [item.kind for item in without] == ["single"]


def test_recomputation_saves_memory_in_a_convolutional_network_too():
    work = Workload(model_shape(residual_network(blocks=12, size=64)), precision("float32"), optimizer("adam"), 8)
    without = estimate(work, Layout()).bytes.total
    assert estimate(work, Layout(recompute="full")).bytes.total < 0.6 * without


def test_inference_has_no_gradients_and_keeps_the_peak_not_the_sum():
    found = plan(MODELS["residual"], Settings(device("16GB"), training=False, batch_size=1))[0].bytes_per_device
    assert found.gradients == found.optimizer == 0
    assert found.weights == 4 * model_shape(MODELS["residual"]).parameters
    size = 4 * 16 * 16 * 16
    assert found.activations <= 4 * size


def test_a_quantised_file_weighs_what_it_weighs():
    model = dataclasses.replace(dense_stack([64]), format_id="tflite", weight_bytes=600, trainable_parameters=None)
    assert plan(model, Settings(device("16GB"), training=False))[0].bytes_per_device.weights == 600


def test_generation_keeps_keys_and_values():
    model = transformer(blocks=4, hidden=64, heads=8, sequence=8)
    asked = Settings(device("16GB"), training=False, precision="bfloat16", batch_size=2)
    without = plan(model, asked)[0].bytes_per_device
    kept = plan(model, dataclasses.replace(asked, cached_tokens=1000))[0].bytes_per_device
    assert kept.activations - without.activations == 2 * 4 * 8 * 8 * 1000 * 2 * 2


def test_frozen_layers_need_weights_only():
    tuned = plan(residual_network(frozen=3), Settings(device("16GB")))[0].bytes_per_device
    assert tuned.gradients == 4 * 170
    assert tuned.optimizer == 8 * 170
    assert tuned.activations < plan(residual_network(), Settings(device("16GB")))[0].bytes_per_device.activations / 50


def test_the_ways_of_other_frameworks_are_arithmetic_and_marked():
    plans = by_kind(plan(MODELS["transformer"], Settings(device("16GB"), 8)))
    assert {kind for kind, item in plans.items() if not item.available} == {"zero1", "zero2", "zero3", "pipeline"}
    assert all(
        "Not available in TensorFlow" in plans[kind].notes[0] for kind in ("zero1", "zero2", "zero3", "pipeline")
    )
    data, parameters = plans["data"].bytes_per_device, model_shape(MODELS["transformer"]).parameters
    share = -(-parameters // 8)
    assert plans["zero1"].bytes_per_device.optimizer == 8 * share
    assert plans["zero2"].bytes_per_device.gradients == 4 * share
    assert plans["zero3"].bytes_per_device.weights == 4 * share
    assert plans["zero3"].bytes_per_device.activations == data.activations
    assert plans["pipeline"].cost.bubble == 7 / 32
    assert not {item.kind for item in plan(MODELS["dense"], Settings(device("16GB")))} & {"zero1", "pipeline"}


@pytest.mark.usefixtures("sure")
def test_what_tensorflow_cannot_run_comes_after_what_it_can():
    needs = by_kind(plan(MODELS["transformer"], Settings(device("16GB"), 8, recompute=False)))
    room = min(item.bytes_per_device.total for item in needs.values() if item.available)
    fitting = [item for item in plan(MODELS["transformer"], Settings(small(room), 8, recompute=False)) if item.fits]
    assert fitting[0].available
    assert not fitting[-1].available


def test_more_devices_than_samples_is_said():
    notes = by_kind(plan(MODELS["dense"], Settings(device("16GB"), 8, batch_size=4)))["data"].notes
    assert any("4 of 8 replicas" in note for note in notes)


@each("change", [{"batch_size": 0}, {"devices": 0}, {"optimizer": "none"}, {"precision": "fp7"}, {"cached_tokens": -1}])
def test_senseless_settings_are_refused(change):
    with pytest.raises(BadSetting):
        plan(MODELS["dense"], dataclasses.replace(Settings(device("16GB")), **change))


def test_an_architecture_without_layers_still_has_an_answer():
    plans = plan(architecture([]), Settings(device("16GB"), 4))
    assert by_kind(plans)["single"].time.total_s == 0
    assert plans[0].bytes_per_device.total == 0


def test_unknown_shapes_give_states_and_a_note():
    plans = plan(architecture([layer("own", "MyLayer", None, 1000)]), Settings(device("16GB"), 2))
    assert plans[0].bytes_per_device.weights == 4000
    assert any("lower bound" in note for note in plans[0].notes)


def test_models_together():
    found = together({"a": 6 * 10**9, "b": 8 * 10**9}, device("16GB"))
    assert found.shares_bytes == {"a": 6_600_000_000, "b": 8_800_000_000}
    assert found.fits
    assert found.left_bytes == 600_000_000
    assert not together({"a": 6 * 10**9, "b": 9 * 10**9}, device("16GB")).fits
    with pytest.raises(BadSetting):
        together({}, device("16GB"))


PRECISIONS = st.sampled_from(["float32", "mixed_float16", "bfloat16"])


@examples(12)
@given(
    name=st.sampled_from(sorted(MODELS)),
    devices=st.integers(2, 40),
    batch=st.integers(1, 100),
    numbers=PRECISIONS,
    training=st.booleans(),
)
def test_more_devices_never_need_more_on_each(name, devices, batch, numbers, training):
    work = Workload(model_shape(MODELS[name]), precision(numbers), optimizer("adam") if training else None, batch)
    fewer = estimate(work, Layout(data=devices)).bytes.total
    more = estimate(work, Layout(data=devices + 1)).bytes.total
    assert more <= fewer + 8  # a share that does not divide is rounded up
    nothing_fits = Settings(small(1), devices, training, "adam", numbers, batch)
    least = [
        min(
            item.bytes_per_device.total for item in plan(MODELS[name], dataclasses.replace(nothing_fits, devices=count))
        )
        for count in (devices, devices + 1)
    ]
    assert least[1] <= least[0] + 8


@examples(60)
@given(name=st.sampled_from(sorted(MODELS)), devices=st.integers(2, 64), batch=st.integers(1, 100), numbers=PRECISIONS)
def test_a_higher_zero_stage_never_needs_more(name, devices, batch, numbers):
    plans = by_kind(plan(MODELS[name], Settings(device("16GB"), devices, precision=numbers, batch_size=batch)))
    totals = [plans[kind].bytes_per_device.total for kind in ("data", "zero1", "zero2", "zero3")]
    assert totals == sorted(totals, reverse=True)


@examples(40)
@given(name=st.sampled_from(sorted(MODELS)), devices=st.integers(1, 16), memory=st.integers(10**4, 10**8))
def test_totals_are_sums_and_fitting_is_what_it_says(name, devices, memory):
    for item in plan(MODELS[name], Settings(small(memory), devices)):
        size = item.bytes_per_device
        assert size.total == size.weights + size.gradients + size.optimizer + size.activations + size.buffers
        assert min(dataclasses.astuple(size)) >= 0
        assert item.margin_bytes == margin(size).short_bytes
        assert item.fits == (item.verdict == "fits") == (size.total + item.margin_bytes <= memory)
        assert item.devices <= devices
        assert item.cost.relative >= 1 - 1e-9


@each(
    ("dtype", "bytes_each", "optimizer", "found"),
    [
        ("float32", 4, None, "float32"),
        ("float32", 12, "Adam", "float32"),
        ("float16", 4, None, "mixed_float16"),
        ("float16", 2, None, "float16"),
        ("bfloat16", 12, "Adam", "mixed_bfloat16"),
        ("bfloat16", 6, "Adam", "bfloat16"),
        ("bfloat16", 4, "SGD", "mixed_bfloat16"),
    ],
)
def test_precision_of_a_file(dtype, bytes_each, optimizer, found):
    model = dense_stack([16, 4])
    layers = tuple(dataclasses.replace(layer, dtype=dtype) for layer in model.layers)
    compiled = CompileSettings("mse", optimizer, None) if optimizer else None
    model = dataclasses.replace(model, layers=layers, weight_bytes=bytes_each * model.parameters, compile=compiled)
    assert precision_of(model) == found
