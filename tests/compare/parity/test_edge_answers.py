"""Rows as the second model takes them."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.parity.edge_cases import TurnedInputs
from stethoscope.types import TensorSpec


@pytest.mark.parametrize("channels", [1, 3])
def test_pictures_channels_first_are_not_turned_on_their_side(channels):
    rows = np.random.default_rng(0).random((2, 8, 8, channels)).astype(np.float32)
    turned = TurnedInputs({"x": "image"}, [TensorSpec("x", (None, channels, 8, 8), "float32")])
    assert np.array_equal(turned.feed({"image": rows})["x"], np.moveaxis(rows, -1, 1))
