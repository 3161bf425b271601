"""Which tensor stands for which."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.parity.array_difference import array_difference, orient
from stethoscope.compare.parity.layer_pairs import TensorPair, first_cut, pair
from stethoscope.compare.parity.layer_tensors import LayerTensors


def tensors(folder, **arrays):
    kept = LayerTensors(folder)
    for name, array in arrays.items():
        kept.add(name, name, np.ascontiguousarray(array))
    return kept


def test_a_layer_that_changed_nothing_stands_for_what_went_in(tmp_path):
    x = np.random.default_rng(0).standard_normal((2, 4, 4, 3)).astype(np.float32)
    flat, turned = x.reshape(2, -1), np.moveaxis(x, -1, 1).reshape(2, -1)
    first = tensors(tmp_path / "a", joined=x, flat=flat, drop=flat.copy(), end=flat @ np.ones((48, 2), np.float32))
    second = tensors(tmp_path / "b", concat=x, reshape=turned, end=turned @ np.ones((48, 2), np.float32))
    matched = {"joined": ("concat", "structure"), "flat": ("reshape", "structure"), "end": ("end", "name")}
    found = pair(first, second, matched, 1e-6)
    assert found["joined"].b == "concat"
    assert found["flat"].b == "reshape"
    assert found["drop"].b == "reshape"
    assert found["drop"].difference.nrmse > 0.1
    clean = tensors(tmp_path / "c", concat=x, reshape=flat, end=flat @ np.ones((48, 2), np.float32))
    assert {one.difference.nrmse for one in pair(first, clean, matched, 1e-6).values()} == {0.0}


def test_cubes_that_differ_lie_as_the_others_do(tmp_path):
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 4, 4, 3)).astype(np.float32)
    cube, other = (random.standard_normal((2, 4, 4, 4)).astype(np.float32) for _ in range(2))
    first = tensors(tmp_path / "a", here=x, cube=cube)
    second = tensors(tmp_path / "b", here=np.moveaxis(x, -1, 1), cube=np.moveaxis(other, -1, 1))
    found = pair(first, second, {"cube": ("cube", "name")}, 1e-6)
    assert found["cube"].orientation == found["here"].orientation


def test_an_operator_is_told_by_its_whole_path_not_by_what_it_does(tmp_path):
    random = np.random.default_rng(0)
    one, two, other = (random.standard_normal((2, 5)).astype(np.float32) for _ in range(3))
    first = tensors(tmp_path / "a", **{"m/unit1/Add": one, "m/unit2/Add": two})
    second = tensors(tmp_path / "b", **{"m_1/unit1_1/Add": other, "m_1/unit2_1/Add": two})
    found = pair(first, second, {}, 1e-6)
    assert {key: item.b for key, item in found.items()} == {
        "m/unit1/Add": "m_1/unit1_1/Add",
        "m/unit2/Add": "m_1/unit2_1/Add",
    }


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
        {
            "before": quantised(values, -6, 6),
            "cut": quantised(values),
            "after": quantised(np.clip(values, -1, 1) * 2 + 1, -wide, wide),
        },
        {"before": (-6.0, 6.0), "cut": (LOW, HIGH), "after": (-wide, wide)},
    )
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
