"""How far two sets of weights are apart, array by array."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from stethoscope.tasks.compare_weights import TASK, WeightsDifference
from stethoscope.types import ModelFile
from tests.models.formats import weights_files
from tests.models.formats.weights_files import checkpoint, dense, h5, numbered_h5, safetensors


def compared(first: Path, second: Path) -> WeightsDifference:
    context: Any = SimpleNamespace(
        files={"model": ModelFile.at(first), "other": ModelFile.at(second)}, report=lambda *_, **__: None
    )
    return TASK.run(context)


def test_the_same_in_every_form_is_equal(tmp_path):
    files = [make(tmp_path, dense()) for make in weights_files.MAKERS.values()]
    for first in files:
        for second in files:
            found = compared(first, second)
            assert found.verdict == "equal" and len(found.weights) == 4


def test_two_checkpoints_of_one_training_differ_where_it_moved(tmp_path):
    before = dense() | {"dense_2/kernel/Adam": np.zeros((4, 6), "f")}
    after = dense() | {"dense_2/kernel/Adam": np.ones((4, 6), "f")}
    after["dense_3/bias"] = after["dense_3/bias"] + np.float32(0.5)
    found = compared(checkpoint(tmp_path / "1", before), checkpoint(tmp_path / "2", after))
    moved = {one.name: one for one in found.weights if one.changed}
    assert found.verdict == "different" and set(moved) == {"dense_3/bias", "dense_2/kernel/Adam"}
    bias = moved["dense_3/bias"]
    assert (bias.changed, bias.max_abs_diff, bias.is_weight) == (10, 0.5, True)
    assert np.isclose(bias.norm_of_difference, np.sqrt(10) / 2) and not moved["dense_2/kernel/Adam"].is_weight


def test_what_only_an_optimizer_keeps_does_not_make_weights_different(tmp_path):
    steps = [dense() | {"dense_2/kernel/Adam": np.full((4, 6), step, "f")} for step in (1, 2)]
    found = compared(*(checkpoint(tmp_path / str(step), one) for step, one in enumerate(steps)))
    assert found.verdict == "equal"


def test_rounding_is_not_a_difference_and_nan_is_itself(tmp_path):
    wide = {name: values.astype("f8") * (1 + 1e-9) for name, values in dense().items()}
    assert compared(h5(tmp_path / "a.h5", dense()), h5(tmp_path / "b.h5", wide)).verdict == "within_tolerance"
    broken = dense() | {"dense_3/bias": np.full(10, np.nan, "f")}
    again = compared(h5(tmp_path / "c.h5", broken), h5(tmp_path / "d.h5", broken))
    assert again.verdict == "equal" and {one.nonfinite_a for one in again.weights} == {0, 10}
    assert compared(tmp_path / "a.h5", tmp_path / "c.h5").verdict == "different"


def test_shapes_and_names_that_only_one_has_are_told(tmp_path):
    found = compared(
        h5(tmp_path / "a.h5", dense(10)), h5(tmp_path / "b.h5", dense(12) | {"more/bias": np.zeros(3, "f")})
    )
    assert {(one.weight, one.in_model, one.in_weights) for one in found.misfits} == {
        ("kernel", (6, 10), (6, 12)),
        ("bias", (10,), (12,)),
    }
    assert found.only_b == ("more/bias",) and found.verdict == "different"


def test_arrays_that_could_be_either_are_not_compared(tmp_path):
    norms = {f"bn/{role}": np.full(4, place, "f") for place, role in enumerate(("gamma", "beta"))}
    numbered = numbered_h5(tmp_path / "a.weights.h5", norms)
    found = compared(numbered, safetensors(tmp_path / "b.safetensors", norms))
    assert all(one.unreadable for one in found.weights) and found.verdict == "different"
