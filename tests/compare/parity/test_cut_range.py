"""The tensor that cuts off what it should hold."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.parity.array_difference import array_difference
from stethoscope.compare.parity.cut_range import first_cut
from stethoscope.compare.parity.layer_pairs import TensorPair
from stethoscope.compare.parity.layer_tensors import LayerTensors
from stethoscope.compare.parity.orientation import orient

LOW, HIGH = -1.0, 1.0
STEP = (HIGH - LOW) / 255


@pytest.fixture
def values():
    return np.random.default_rng(0).standard_normal((4, 500)).astype(np.float32)


def quantised(values, low=LOW, high=HIGH):
    step = (high - low) / 255
    return (np.round((np.clip(values, low, high) - low) / step) * step + low).astype(np.float32)


def side(folder, arrays, ranges=()):
    kept = LayerTensors(folder)
    for name, array in arrays.items():
        kept.add(name, name, array)
    for name, (low, high) in dict(ranges).items():
        kept.quantised[name], kept.steps[name] = (low, high), (high - low) / 255
    return kept


def paired(first, second, names):
    found = {}
    for a, b in names.items():
        turned = orient(first.read(a), second.read(b))
        found[a] = TensorPair(a, b, "name", turned[0], array_difference(first.read(a), turned[1]))
    return found


def test_the_first_layer_whose_values_are_cut_off_is_named(tmp_path, values):
    wide, after = 6 * STEP * 255, values * 2 + 1
    first = side(tmp_path / "a", {"before": values, "cut": values * 1.0, "after": after})
    second = side(
        tmp_path / "b",
        {"before": quantised(values, -6, 6), "cut": quantised(values), "after": quantised(np.clip(values, -1, 1) * 2 + 1, -wide, wide)},
        {"before": (-6.0, 6.0), "cut": (LOW, HIGH), "after": (-wide, wide)},
    )  # fmt: skip
    found = first_cut(first, second, paired(first, second, {name: name for name in first}))
    assert found.pair.a == "cut"
    assert found.share == pytest.approx(np.mean(np.abs(values) > 1), abs=0.02)
    assert found.left < 0.01


def test_rounding_is_no_cut(tmp_path, values):
    first = side(tmp_path / "a", {"layer": values})
    second = side(tmp_path / "b", {"layer": quantised(values, -6, 6)}, {"layer": (-6.0, 6.0)})
    assert first_cut(first, second, paired(first, second, {"layer": "layer"})) is None


def test_a_layer_before_a_relu_that_is_one_operator_with_it_is_not_cut(tmp_path, values):
    relu = np.maximum(values, 0)
    first = side(tmp_path / "a", {"dense": values, "relu": relu})
    second = side(tmp_path / "b", {"both": quantised(relu, 0, 6)}, {"both": (0.0, 6.0)})
    assert first_cut(first, second, paired(first, second, {"dense": "both", "relu": "both"})) is None


def test_what_cutting_does_not_explain_is_another_fault(tmp_path, values):
    other = np.random.default_rng(1).standard_normal(values.shape).astype(np.float32)
    first = side(tmp_path / "a", {"layer": values})
    second = side(tmp_path / "b", {"layer": quantised(other)}, {"layer": (LOW, HIGH)})
    assert first_cut(first, second, paired(first, second, {"layer": "layer"})) is None
