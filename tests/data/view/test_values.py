"""Signals made short keep their peaks; sounds become WAV files that play."""

from __future__ import annotations

import io
import wave

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.data.view.values import MOST_CHANNELS, envelope, wav
from tests.exploring import examples
from tests.tables import each


@examples(100)
@given(st.integers(1, 5_000), st.integers(1, 300), st.integers(1, 12))
def test_no_peak_is_lost(steps, most, channels):
    signal = np.zeros((steps, channels))
    signal[steps // 2] = 7
    made = envelope(signal, most)
    assert made.shape == (min(channels, MOST_CHANNELS), 2, min(most, steps))
    assert made.max() == 7 and (made[:, 0] <= made[:, 1]).all()


def test_what_is_not_finite_is_a_gap():
    made = envelope(np.array([np.nan, np.nan, 1.0, np.inf]), 2)
    assert np.isnan(made[0, :, 0]).all() and made[0, 0, 1] == 1


@each(
    ("sound", "first"),
    [
        (np.array([1.0, -2.0, np.nan]), 32_767),
        (np.array([128, 0], np.uint8), 0),
        (np.array([1000, 5], np.int16), 1000),
        (np.array([2**31 - 1, 0], np.int32), 32_767),
    ],
)
def test_a_sound_is_written_in_16_bits(sound, first):
    with wave.open(io.BytesIO(wav(sound, 8_000, 1.0))) as file:
        assert (file.getframerate(), file.getsampwidth(), file.getnframes()) == (8_000, 2, len(sound))
        assert np.frombuffer(file.readframes(1), "<i2")[0] == first


def test_a_long_sound_is_cut_and_its_third_channel_left_out():
    with wave.open(io.BytesIO(wav(np.zeros((1_000, 3), np.float32), 100, 2.0))) as file:
        assert (file.getnframes(), file.getnchannels()) == (200, 2)
