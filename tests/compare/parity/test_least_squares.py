"""One number by Gauss and Newton's steps."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.parity.causes.recomputed import fitted

X = np.random.default_rng(0).standard_normal((40, 6))


def test_a_factor_is_found_at_once_with_next_to_no_error():
    found = fitted(lambda factor: factor * X, 3.7 * X, 1.0)
    assert found.value == pytest.approx(3.7, abs=1e-9)
    assert found.error < 1e-9
    assert found.differs_from(1.0)


def test_the_standard_error_is_that_of_linear_regression():
    noise = 0.1 * np.random.default_rng(1).standard_normal(X.shape)
    found = fitted(lambda factor: factor * X, 2 * X + noise, 1.0)
    assert found.error == pytest.approx(0.1 / np.sqrt(np.sum(X * X)), rel=0.1)
    assert abs(found.value - 2) < 4 * found.error


@pytest.mark.parametrize("start", [1e-3, 0.5])
def test_a_bent_function_and_a_bound(start):
    found = fitted(lambda epsilon: X / np.sqrt(X**2 + epsilon), X / np.sqrt(X**2 + 1e-4), start, low=0.0)
    assert found.value == pytest.approx(1e-4, rel=1e-3)


def test_what_cannot_explain_is_none():
    other = np.random.default_rng(2).standard_normal(X.shape)
    assert fitted(lambda factor: factor * X, other, 1.0) is None
    assert fitted(lambda _: X, 2 * X, 1.0) is None
    assert fitted(lambda _: None, X, 1.0) is None


def test_a_number_that_does_not_differ_is_told():
    noise = 0.5 * np.random.default_rng(3).standard_normal(X.shape)
    wide = fitted(lambda factor: factor * X, X + 20 * X + noise, 1.0)
    assert wide.differs_from(1.0)
    assert not wide.differs_from(wide.value + 3 * wide.error)
