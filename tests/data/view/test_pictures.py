"""Pictures of arrays: what is black, what is white, how large."""

from __future__ import annotations

import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from stethoscope.data.view.marks import Scale, channels_last, full_picture, picture
from tests.exploring import examples
from tests.tables import each


def pixels(made) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(made.png)))


@each(
    ("array", "low", "high", "usual"),
    [
        (np.array([[0, 200]], np.uint8), 0, 255, True),
        (np.array([[0, 16]], np.uint8), 0, 16, False),
        (np.array([[0, 0.5]], np.float32), 0, 1, True),
        (np.array([[-1, 0.5]], np.float32), -1, 1, False),
        (np.array([[0, 254.5]], np.float32), 0, 255, True),
        (np.array([[0, 4000]], np.uint16), 0, 4000, False),
        (np.array([[-3, 9]], np.float64), -3, 9, False),
        (np.array([[np.nan, 0.5]]), 0, 1, False),
    ],
)
def test_black_and_white_are_what_the_values_suggest(array, low, high, usual):
    scale = Scale.of([array])
    assert (scale.low, scale.high, scale.usual) == (low, high, usual)


def test_all_pictures_of_a_page_share_one_scale():
    dark, light = np.full((4, 4), 0.1), np.array([[3.0]])
    assert pixels(picture(dark, 64, Scale.of([dark, light])))[0, 0] == round(0.1 / 3 * 255)


def test_small_pictures_keep_their_pixels_and_large_ones_their_proportions():
    small = np.arange(64, dtype=np.uint8).reshape(8, 8) * 4
    np.testing.assert_array_equal(pixels(picture(small, 256, Scale())), small)
    made = picture(np.zeros((300, 900, 3), np.uint8), 90, Scale())
    assert (made.width, made.height) == (90, 30)
    assert full_picture(np.zeros((300, 900, 3), np.uint8), Scale()).width == 900


def test_channels_that_come_first_are_put_last_and_many_are_reduced_to_three():
    assert channels_last(np.zeros((3, 20, 30))).shape == (20, 30, 3)
    assert pixels(picture(np.ones((20, 30, 13), np.float32), 64, Scale(0, 1))).shape == (20, 30, 3)


@examples(50)
@given(
    hnp.arrays(
        st.sampled_from([np.uint8, np.int64, np.float32, np.float64, np.bool_]),
        hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=12),
    ),
    st.integers(1, 40),
)
def test_whatever_the_values_it_is_a_picture(array, longest):
    made = picture(array, longest, Scale.of([array]))
    assert max(made.width, made.height) <= max(longest, 1) or max(array.shape[:2]) <= longest
    assert pixels(made).shape[:2] == (made.height, made.width)
