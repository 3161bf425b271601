"""Which changes are worth a try follows from the training and how it went; each makes what it says."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.evidence.training import RunCurve, Scores
from stethoscope.program.model_config import layer_at
from stethoscope.training.what_if import Course, what_ifs
from tests.checks.fixes.setups import dense, entry, setup
from tests.tables import each

FALLING = tuple(np.linspace(2.0, 1.0, 30).tolist())


def course(*loss: float, skill: float = 0.1) -> list[RunCurve]:
    values = loss or FALLING
    steps = tuple(range(len(values)))
    return [RunCurve(0, len(values), 3.0, steps, values, (), (), final=Scores(values[-1], skill, skill))]


def tried(base, **how):
    return {one.id: one for one in what_ifs(base, course(**how))}


def layer(changed, name):
    return layer_at(changed.config, name)["config"]


def test_saturating_and_missing_activations_are_replaced_by_relu():
    base = setup(
        dense("first", 32, "sigmoid"),
        dense("bare", 32),
        dense("bent", 32),
        entry("ReLU", "after"),
        dense("kept", 32, {"module": "builtins", "class_name": "function", "config": "elu", "registered_name": "f"}),
        dense("out", 3, "softmax"),
    )
    found = tried(base)["relu-hidden"]
    assert found.title.endswith("first, bare") and found.structural
    changed = found.make()
    activations = {name: layer(changed, name)["activation"] for name in ("first", "bare", "bent", "out")}
    assert activations == {"first": "relu", "bare": "relu", "bent": "linear", "out": "softmax"}


def test_initial_weights_of_zero_are_drawn_again():
    found = tried(setup())["default-init"]
    assert "hidden, out" in found.title
    changed = layer(found.make(), "hidden")
    assert (changed["kernel_initializer"], changed["bias_initializer"]) == ("glorot_uniform", "zeros")
    usual = setup(dense("out", 3, "softmax", kernel_initializer="he_normal"))
    assert "default-init" not in tried(usual)


def test_dropout_is_left_out_and_sooner_where_there_is_much():
    def dropping(rate):
        return tried(setup(dense("hidden", 32, "relu"), entry("Dropout", "drop", rate=rate), dense("out", 3)))

    heavy, light = dropping(0.5)["no-dropout"], dropping(0.1)["no-dropout"]
    assert heavy.rank < light.rank
    assert layer(heavy.make(), "drop")["rate"] == layer(light.make(), "drop")["rate"] == 0.0
    assert "no-dropout" not in dropping(0.0)


def test_frozen_layers_with_weights_of_the_file_are_trained():
    stack = (dense("base", 32, "relu", trainable=False), dense("out", 3, "softmax"))
    found = tried(setup(*stack, keep_weights=frozenset({"base"})))["unfrozen"]
    assert layer(found.make(), "base")["trainable"] is True
    assert "unfrozen" not in tried(setup(*stack))


def test_few_units_become_more_and_no_hidden_layer_becomes_one():
    narrow = tried(setup(dense("hidden", 8, "relu"), dense("out", 3, "softmax")))["wider"]
    assert layer(narrow.make(), "hidden")["units"] == 32
    alone = tried(setup(dense("out", 3, "softmax")))["wider"].make()
    assert [one["class_name"] for one in alone.config["config"]["layers"]] == ["InputLayer", "Dense", "Dense"]


ROWS = np.random.default_rng(0)


@each(
    ("values", "scaled"),
    [
        (ROWS.normal(size=(50, 4)), False),
        (ROWS.normal(100, 1, size=(50, 4)), True),
        (ROWS.normal(0, 0.01, size=(50, 4)), True),
        (ROWS.normal(size=(50, 4)) * [0.01, 1, 1, 2.5], True),
        (ROWS.normal(size=(50, 4)) * [0.5, 1, 1, 2.5], False),
        (ROWS.normal(size=(50, 1)), False),
        (np.full((50, 4), 7.0), False),
        (np.full((50, 4), np.nan), False),
        (np.full((50, 4), "word"), False),
    ],
)
def test_inputs_are_scaled_where_they_are_far_from_mean_0_and_spread_1(values, scaled):
    base = setup(x={"rows": values}, y=(np.arange(50) % 3,), x_val={}, y_val=())
    found = tried(base)
    assert ("scale-inputs" in found) is scaled
    if scaled:
        standard = found["scale-inputs"].make().x["rows"]
        assert np.allclose(standard.mean(axis=0), 0, atol=1e-4) and np.allclose(standard.std(axis=0), 1, atol=1e-3)


def test_targets_far_from_0_are_scaled_and_no_loss_is_compared():
    y = ROWS.normal(500, 40, size=(50, 1)).astype(np.float32)
    x = ROWS.normal(500, 40, size=(50, 4)).astype(np.float32)
    base = setup(dense("out", 1), x={"rows": x}, y=(y,), x_val={}, y_val=(), losses=("mse",))
    found = tried(base)
    for name in ("scale-targets", "scale-both"):
        changed = found[name].make()
        assert np.allclose((changed.y[0].mean(), changed.y[0].std()), (0, 1), atol=1e-3)
        assert changed.decode_targets == pytest.approx((y.mean(), y.std()), rel=1e-3) and not found[name].same_loss
        assert np.allclose(changed.x["rows"].mean(), 0, atol=1e-3) is (name == "scale-both")
    assert found["scale-both"].rank < found["scale-targets"].rank


def test_a_schedule_has_no_rate_to_change_and_a_class_of_its_own_no_layers():
    schedule = {"class_name": "ExponentialDecay", "config": {}}
    base = setup(optimizer={"class_name": "SGD", "config": {"learning_rate": schedule}}, config=None)
    assert not {one for one in tried(base) if one.startswith("rate") or one in ("wider", "relu-hidden", "no-dropout")}


def test_a_course_too_short_to_tell_counts_as_falling():
    assert Course.of(course(1.0, 1.0)).falling
    assert not Course.of(course(*[1.0] * 30)).falling
