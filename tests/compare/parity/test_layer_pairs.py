"""Which tensor stands for which."""

from __future__ import annotations

import numpy as np

from stethoscope.compare.parity.layer_pairs import pair
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
