"""Weights of a model and of its loaded copy, to the bit."""

from __future__ import annotations

import numpy as np

from stethoscope.compare.consistency.mode_and_reload import _weights
from tests.tables import each

KERNEL, BIAS = np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros(3, np.float32)
MINE = {"body/dense/kernel": KERNEL, "body/dense/bias": BIAS}


def test_the_same_weights_pass_whatever_they_are_called():
    found = _weights(MINE, {"other/kernel": KERNEL.copy(), "other/bias": BIAS.copy()})
    assert found.passed is True and found.max_abs_diff == 0.0


@each(("kernel", "size"), [(KERNEL + np.float32(0.25), 0.25), (KERNEL.T, np.inf)])
def test_a_weight_that_is_another_is_named_with_its_layer(kernel, size):
    found = _weights(MINE, {"kernel": kernel, "bias": BIAS})
    assert found.passed is False and found.max_abs_diff == size
    assert found.origin.layer == "body/dense" and "1 of 2 weights differ; body/dense/kernel" in found.detail


def test_a_weight_that_is_lost_is_counted():
    found = _weights(MINE, {"kernel": KERNEL})
    assert found.passed is False and found.values == {"weights": 2, "loaded": 1}


def test_the_sign_of_zero_is_a_difference_of_bits():
    found = _weights({"bias": BIAS}, {"bias": -BIAS})
    assert found.passed is False and found.max_abs_diff == 0.0
