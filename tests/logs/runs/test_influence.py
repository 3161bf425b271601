"""Which parameters go with better results: found where there is something, silent where chance would do."""

from __future__ import annotations

import math

import numpy as np

from stethoscope.logs.runs.compare import metric_of
from stethoscope.logs.runs.influence import MIN_RUNS, influences
from stethoscope.logs.series import Series


def reached(values, higher=False):
    return metric_of(
        "loss",
        [
            None if one is None else Series("loss", np.zeros(1, np.int64), np.zeros(1), np.array([one]))
            for one in values
        ],
        higher,
    )


def by_name(parameters, metric):
    return {one.parameter: one for one in influences(parameters, metric)}


def test_a_sweet_spot_in_the_middle_is_found():
    rng = np.random.default_rng(0)
    rate = 10 ** rng.uniform(-5, 0, 30)
    found = influences(
        {"noise": rng.normal(size=30).tolist(), "lr": rate.tolist()}, reached((np.log10(rate) + 2.5) ** 2)
    )
    assert found[0].parameter == "lr"
    assert found[0].matters
    low, high = (float(part.replace("−", "-")) for part in found[0].best.split(" to "))
    assert 1e-4 < low < high < 3e-2
    assert not found[1].matters


def test_names_and_the_direction_of_numbers():
    rng = np.random.default_rng(1)
    size = rng.choice([8, 16, 32, 64], 40)
    optimizer = rng.choice(["adam", "sgd"], 40)
    score = size / 8 + 4 * (optimizer == "adam") + rng.normal(0, 0.3, 40)
    found = by_name({"size": size.tolist(), "opt": optimizer.tolist()}, reached(score, higher=True))
    assert found["opt"].matters
    assert found["opt"].best == "adam"
    assert math.isnan(found["opt"].direction)
    assert found["size"].direction < -0.6
    assert found["size"].best == "64"


def test_runs_that_only_gave_nan_are_the_worst_not_unknown():
    rate = [1e-3] * 8 + [1.0] * 8
    found = by_name({"lr": rate}, reached([0.5 + place / 100 for place in range(8)] + [math.nan] * 8))
    assert found["lr"].matters
    assert found["lr"].best == "0.001"


def test_few_runs_say_nothing():
    few = by_name({"lr": [1, 2, 3, 4]}, reached([1, 2, 3, 4]))["lr"]
    assert "too few" in few.untold
    assert MIN_RUNS == 5
    five = by_name({"lr": [1, 2, 3, 4, 5], "b": [1, 1, 2, 2, 3]}, reached([3, 1, 5, 2, 4]))
    assert not any(one.matters for one in five.values())


def test_false_alarms_are_rare():
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(40):
        parameters = {f"p{place}": rng.choice([1, 2, 3], 20).tolist() for place in range(5)}
        alarms += any(one.matters for one in influences(parameters, reached(rng.normal(size=20))))
    assert alarms <= 6  # 5 % of 40 are 2


def test_parameters_that_changed_together_are_named():
    rng = np.random.default_rng(3)
    size = rng.choice([1, 2, 4], 24)
    found = by_name(
        {"size": size.tolist(), "model": [f"m{one}" for one in size], "lr": (0.1 * size).tolist()},
        reached(size + rng.normal(0, 0.1, 24)),
    )
    assert set(found["size"].together_with) == {"model", "lr"}


def test_what_cannot_be_judged_says_why():
    found = by_name(
        {"id": [f"x{place}" for place in range(6)], "same": [1] * 6, "rare": [1, 2, None, None, None, None]},
        reached([1, 2, 3, 4, 5, None]),
    )
    assert "every run" in found["id"].untold
    assert "the same" in found["same"].untold
    assert "too few" in found["rare"].untold
    flat = by_name({"lr": [1, 2, 3, 4, 5]}, reached([1.0] * 5))["lr"]
    assert "reached the same" in flat.untold


def test_huge_and_odd_numbers_do_no_harm():
    values = [10**400, math.nan, math.inf, -math.inf, 1, 2, 3, 0.5]
    found = by_name({"odd": values, "big": [10**400 + one for one in range(8)]}, reached(list(range(8))))
    assert found["odd"].runs == 8
