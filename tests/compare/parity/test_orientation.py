"""Orders of axes: channels first and last, flattened, square pictures."""

from __future__ import annotations

import numpy as np

from stethoscope.compare.parity.orientation import candidates, orient
from tests.tables import each

RANDOM = np.random.default_rng(0)


@each("shape", [(2, 5, 5, 3), (2, 4, 6, 3), (2, 3, 3, 3), (2, 7, 4)])
def test_channels_first_is_turned_back(shape):
    a = RANDOM.standard_normal(shape)
    b = np.moveaxis(a, -1, 1)
    found, turned = orient(a, b)
    assert np.array_equal(turned, a)
    assert found.said()


def test_what_is_nearly_the_same_stays_as_it_lies():
    a = RANDOM.standard_normal((2, 5, 5, 3))
    found, _ = orient(a, a + 0.5 * RANDOM.standard_normal(a.shape))
    assert found.is_plain


def test_axes_of_length_one_and_flattening_are_other_shapes():
    a = RANDOM.standard_normal((2, 1, 4, 3))
    found, turned = orient(a, a.reshape(2, 4, 3))
    assert found.reshaped
    assert np.array_equal(turned, a)
    found, turned = orient(a, a.reshape(2, 12))
    assert np.array_equal(turned, a)


def test_other_sizes_have_no_orientation():
    assert orient(np.zeros((2, 3)), np.zeros((2, 4))) is None
    assert list(candidates((2, 3), (3, 2))) == []


def test_the_orders_of_formats_come_before_others():
    assert next(one.said() for one in candidates((4, 8, 5, 8), (4, 8, 8, 5))) == "channels first"
