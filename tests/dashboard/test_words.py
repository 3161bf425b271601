"""Numbers as a reader meets them."""

from __future__ import annotations

import math

import pytest

from dashboard import words


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1.00 KiB"),
        (1_048_570, "1.00 MiB"),
        (int(1.42 * 2**30), "1.42 GiB"),
        (2**50, "1,024 TiB"),
    ],
)
def test_sizes(value, shown):
    assert words.size(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (4.2e-7, "0.420 µs"),
        (0.00042, "420 µs"),
        (0.0999, "99.9 ms"),
        (1, "1.00 s"),
        (59.99, "1 min"),
        (61, "1 min 1 s"),
        (3700, "1 h 1 min"),
    ],
)
def test_durations(seconds, shown):
    assert words.duration(seconds) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (-2.5e-8, "−2.50e−8"),
        (1_234_567, "1,234,567"),
        (999.96, "1,000"),
        (0.000123, "0.000123"),
        (math.nan, "NaN"),
        (-math.inf, "−∞"),
    ],
)
def test_three_significant_digits(value, shown):
    assert words.significant(value) == shown


def test_a_dynamic_first_dimension_is_the_batch_and_others_are_unknown():
    assert words.shape((None, 28, None)) == "batch × 28 × ?"
    assert words.shape(()) == "scalar"
    assert words.shape(None) == "unknown"


def test_shares():
    assert [words.share(*pair) for pair in [(1, 3), (0, 5), (1, 10_000), (3, 0)]] == ["33.3 %", "0 %", "< 0.1 %", "0 %"]


def test_differences_that_a_worker_sends_by_name():
    assert [words.difference(value) for value in (0, "inf", "nan", None, 1e-7)] == [
        "identical",
        "∞",
        "NaN",
        "—",
        "1.00e−7",
    ]


def test_ago():
    assert words.ago(1000, 1010) == "just now"
    assert words.ago(1000, 1000 + 7300) == "2 hours ago"
    assert words.ago(1000, 1000 + 86_400) == "1 day ago"


@pytest.mark.parametrize(
    ("value", "shown"), [(0.002, "0.002"), (1e-5, "1e−5"), (8192, "8,192"), (2.259588, "2.25959"), (math.nan, "NaN")]
)
def test_numbers_that_somebody_set_are_shown_as_set(value, shown):
    assert words.given(value) == shown


def test_numbers_in_a_sentence_are_readable_and_names_stay():
    assert words.readable("5 runs agree within 1e-05: 0.20880734.") == "5 runs agree within 1e−5: 0.208807."
    assert words.readable("layer_1.2345678 of v1.2.3 and a-1.25e-07") == "layer_1.2345678 of v1.2.3 and a-1.25e-07"
