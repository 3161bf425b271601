"""Changes to rows: the training rows' statistics hold for validation rows too."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.errors import CannotRun
from stethoscope.program.model_config import layer_at, structure
from stethoscope.program.setup import (
    filled,
    finite_rows,
    scaled_inputs,
    scaled_targets,
    shuffled_split,
    without_columns,
    without_duplicates,
)
from tests.checks.fixes.setups import dense, entry, setup


def test_validation_rows_are_scaled_by_the_statistics_of_the_training_rows():
    base = setup()
    changed = scaled_inputs(base, "rows", "standardise", None)
    train, held = base.x["rows"], base.x_val["rows"]
    assert changed.x["rows"].mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-5)
    assert changed.x_val["rows"] == pytest.approx((held - train.mean(axis=0)) / train.std(axis=0), rel=1e-4)


def test_constant_columns_do_not_divide_by_zero():
    base = setup(x={"rows": np.full((8, 4), 3.0, np.float32)}, x_val={"rows": np.full((4, 4), 3.0, np.float32)})
    for method in ("standardise", "minmax"):
        assert np.array_equal(scaled_inputs(base, "", method, None).x["rows"], np.zeros((8, 4)))


def test_whole_images_share_one_scale():
    images = np.zeros((8, 2, 2, 3), np.uint8)
    images[..., 0] = 255
    changed = scaled_inputs(setup(x={"rows": images}, x_val={}, y_val=()), "", "minmax", None)
    assert set(np.unique(changed.x["rows"])) == {0.0, 1.0}
    assert scaled_inputs(setup(x={"rows": images}, x_val={}, y_val=()), "", "divide", 255.0).x["rows"].max() == 1.0


def test_tokens_are_not_scaled():
    base = setup(entry("Embedding", "tokens", input_dim=9, output_dim=2), dense("out", 3))
    with pytest.raises(CannotRun, match="Embedding"):
        scaled_inputs(base, "", "standardise", None)


@pytest.mark.parametrize("method", ["standardise", "minmax"])
def test_scaled_targets_can_be_decoded(method):
    y = np.linspace(100, 900, 8)
    changed = scaled_targets(setup(y=(y,), y_val=(y[:4],)), "", method)
    shift, scale = changed.decode_targets
    assert changed.y[0] * scale + shift == pytest.approx(y, rel=1e-5)
    assert changed.y_val[0] * scale + shift == pytest.approx(y[:4], rel=1e-5)
    twice = scaled_targets(changed, "", "standardise")
    shift, scale = twice.decode_targets
    assert twice.y[0] * scale + shift == pytest.approx(y, rel=1e-5)


def test_rows_stay_together_when_they_are_split_anew():
    x = np.arange(12, dtype=np.float32)[:, None]
    base = setup(x={"rows": x[:9]}, y=(np.arange(9),), x_val={"rows": x[9:]}, y_val=(np.arange(9, 12),))
    changed = shuffled_split(base, 0.25)
    assert len(changed.y_val[0]) == 3
    assert np.array_equal(changed.x["rows"][:, 0], changed.y[0])
    assert sorted([*changed.y[0], *changed.y_val[0]]) == list(range(12))
    assert changed.y_val[0].tolist() != [9, 10, 11]
    alone = shuffled_split(setup(x_val={}, y_val=()), 0.25)
    assert len(alone.y_val[0]) == 2


def test_rows_with_gaps_go_or_are_filled():
    base = setup()
    x = base.x["rows"].copy()
    x[0, 1], x[3, 2], x[:, 3] = np.nan, np.inf, np.nan
    broken = base.with_changes(x={"rows": x})
    with pytest.raises(CannotRun, match="some rows"):
        finite_rows(broken)
    x[1:3, 3] = x[4:, 3] = 1.0
    assert finite_rows(broken.with_changes(x={"rows": x})).rows == 6
    whole = filled(broken.with_changes(x={"rows": x})).x["rows"]
    assert np.isfinite(whole).all()
    assert whole[0, 1] == pytest.approx(np.median(x[1:, 1]))


def test_repeated_rows_go_and_so_do_validation_rows_seen_in_training():
    base = setup()
    x, y = base.x["rows"].copy(), base.y[0].copy()
    x[5], y[5] = x[0], y[0]
    held, held_y = base.x_val["rows"].copy(), base.y_val[0].copy()
    held[1], held_y[1] = x[2], y[2]
    changed = without_duplicates(base.with_changes(x={"rows": x}, y=(y,), x_val={"rows": held}, y_val=(held_y,)))
    assert (changed.rows, len(changed.y_val[0])) == (7, 3)


def test_fewer_columns_make_a_narrower_input():
    changed = without_columns(setup(), "rows", (1, 3))
    assert changed.x["rows"].shape == (8, 2)
    assert changed.x_val["rows"].shape == (4, 2)
    assert layer_at(structure(changed), "rows")["config"]["batch_shape"] == [None, 2]
    with pytest.raises(CannotRun, match="columns"):
        without_columns(setup(), "rows", (9,))
