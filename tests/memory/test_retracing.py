"""Traces are counted against calls, and the signature that is named stops them when it is pasted."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from stethoscope.data.batching import Batching, other_shapes, resized
from stethoscope.memory.retracing import retracing
from stethoscope.memory.run_settings import RunSettings
from tests.memory.models import branches, opened, sequences


@pytest.fixture(scope="module", params=["keras", pytest.param("tf_keras", marks=pytest.mark.sweep)])
def keras(request):
    return importlib.import_module(request.param)


@pytest.fixture(scope="module")
def two_inputs(keras, tmp_path_factory):
    return opened(branches(keras), tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def of_any_length(keras, tmp_path_factory):
    return opened(sequences(keras), tmp_path_factory.mktemp("length"))


def feeds(runner, rows: int = 8, length: int = 12) -> list[dict[str, np.ndarray]]:
    random = np.random.default_rng(0)
    whole = {
        spec.name: random.integers(0, 9, [rows, *(size or length for size in spec.shape[1:])]).astype(spec.dtype)
        for spec in runner.inputs
    }
    return other_shapes(whole, runner.inputs, Batching.of(runner.inputs), runner.predict)


def test_a_function_is_traced_for_every_shape_until_it_has_a_signature(two_inputs):
    found = retracing(two_inputs, RunSettings(call="function"), feeds(two_inputs), 600)
    by_id = {way.id: way for way in found.ways}
    assert found.verdict == "retraced"
    assert by_id["every shape"].traces == 8
    assert by_id["signature"].traces == 1
    assert found.stops is True
    assert "8 traces over 8 shapes" in found.message


def assert_pasted_code_is_traced_once(runner):
    given = feeds(runner)[:3]
    space = {"model": runner.model}
    exec(retracing(runner, RunSettings(call="function"), given, 600).signature, space)
    for feed in given:
        runner.called_with(feed, space["infer"])
    assert space["infer"].experimental_get_tracing_count() == 1


def test_the_code_named_stops_it_for_several_inputs(two_inputs):
    assert_pasted_code_is_traced_once(two_inputs)


def test_the_code_named_stops_it_for_open_lengths(of_any_length):
    assert_pasted_code_is_traced_once(of_any_length)


def test_the_code_named_stops_it_in_keras_2(tmp_path):
    assert_pasted_code_is_traced_once(opened(branches(importlib.import_module("tf_keras")), tmp_path))


def test_lengths_vary_too(of_any_length):
    given = feeds(of_any_length)[:4]
    shapes = {next(iter(feed.values())).shape for feed in given}
    assert len({shape[1] for shape in shapes}) > 2
    found = retracing(of_any_length, RunSettings(call="function"), given, 600)
    assert found.ways[0].traces == len(shapes)
    assert "(None, None, 4)" in found.signature


def test_keras_own_calls_are_not_traced_for_every_shape(two_inputs):
    found = retracing(two_inputs, RunSettings(call="predict_on_batch"), feeds(two_inputs), 600)
    assert found.verdict == "stable"
    assert found.present == "predict_on_batch"
    assert found.ways[0].traces is not None
    assert found.ways[0].traces <= 2


def test_an_eager_call_is_not_traced(two_inputs):
    assert retracing(two_inputs, RunSettings(call="call"), feeds(two_inputs)[:3], 600).verdict == "not traced"


def test_one_shape_needs_one_trace(two_inputs):
    assert retracing(two_inputs, RunSettings(), feeds(two_inputs)[:1], 600).verdict == "one shape"


def test_a_compiled_function_with_a_signature_is_traced_once(two_inputs):
    found = retracing(two_inputs, RunSettings(call="compiled"), feeds(two_inputs)[:4], 600)
    assert found.verdict == "retraced"
    assert found.stops is True
    assert "jit_compile=True" in found.signature


def test_no_way_is_begun_when_time_is_over(two_inputs):
    found = retracing(two_inputs, RunSettings(), feeds(two_inputs), 1e-9)
    assert all(way.reason for way in found.ways)


def test_only_open_dimensions_are_cut(of_any_length):
    name = of_any_length.inputs[0].name
    cut = resized({name: np.zeros((2, 12, 4), np.float32)}, of_any_length.inputs, 5)
    assert cut[name].shape == (2, 5, 4)
