"""Streamed statistics against the same computed at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.data.study.marks import CategoryStudy, Counted
from stethoscope.data.study.numbers import NumberStudy, Reservoir
from stethoscope.data.study.repeats import RelationStudy, RepeatStudy, combined, numbers_of
from stethoscope.data.study.texts import SequenceStudy, TextStudy, TokenStudy
from tests.exploring import examples


@examples(100)
@given(st.lists(st.lists(st.floats(-1e6, 1e6), max_size=40), min_size=1, max_size=8))
def test_numbers_in_parts_equal_numbers_at_once(parts):
    study = NumberStudy()
    for part in parts:
        study.add(np.array(part, np.float64))
    whole = np.array([value for part in parts for value in part])
    found = study.result()
    assert found.count == whole.size
    if whole.size:
        assert found.mean == pytest.approx(whole.mean(), abs=1e-6)
        assert found.std == pytest.approx(whole.std(), rel=1e-6, abs=1e-6)
        assert (found.min, found.max) == (whole.min(), whole.max())
        assert sum(found.histogram.counts) == whole.size


def test_missing_and_infinite_numbers_are_counted_apart():
    study = NumberStudy()
    study.add(np.array([1.0, np.nan, np.inf, -np.inf, 3.0]))
    found = study.result()
    assert (found.count, found.nan, found.infinite, found.mean) == (2, 1, 2, 2.0)


def test_few_whole_numbers_have_a_bin_each():
    study = NumberStudy()
    study.add(np.array([1, 1, 2, 4]))
    assert study.result().histogram.counts == (2, 1, 0, 1)
    assert study.result().distinct == 3


def test_a_constant_field_is_known():
    study = NumberStudy()
    study.add(np.full(5, 7.0))
    assert study.constant
    study.add(np.array([np.nan]))
    assert not study.constant


def test_a_reservoir_keeps_a_fair_sample():
    kept = Reservoir(1_000)
    for start in range(0, 100_000, 1_000):
        kept.add(np.arange(start, start + 1_000))
    assert len(kept.values) == 1_000
    assert kept.values.mean() == pytest.approx(50_000, rel=0.06)
    assert not kept.complete


def test_categories_count_missing_values_apart():
    study = CategoryStudy()
    study.add(["a", "b", "a", "", None, float("nan")])
    found = study.result()
    assert found.missing == 3
    assert found.values == (Counted("a", 2), Counted("b", 1))


def test_too_many_categories_are_counted_together():
    study = CategoryStudy()
    study.add([str(number) for number in range(12_000)])
    found = study.result()
    assert found.distinct is None
    assert found.others == 12_000 - 60


def test_texts_are_measured_in_characters_and_words():
    study = TextStudy()
    study.add(["A good film", "bad", ""])
    found = study.result()
    assert found.empty == 1
    assert found.words.max == 3
    assert found.characters.max == 11


@pytest.mark.parametrize("side", ["end", "start"])
def test_padding_is_found_and_its_share_told(side):
    rows = np.zeros((50, 10), np.int64)
    for row, length in enumerate(np.random.default_rng(0).integers(2, 8, 50)):
        place = slice(0, length) if side == "end" else slice(10 - length, 10)
        rows[row, place] = np.random.default_rng(row).integers(5, 90, length)
    study = TokenStudy()
    study.add(list(rows))
    found = study.result()
    assert (found.padding.value, found.padding.side) == (0, side)
    assert found.padding.share == pytest.approx((rows == 0).mean())
    assert found.lengths.max <= 7


def test_a_closing_token_is_no_padding():
    rows = [np.r_[np.random.default_rng(row).integers(5, 90, 6), 1] for row in range(50)]
    study = TokenStudy()
    study.add(rows)
    assert study.result().padding is None


def test_sequences_are_measured_over_their_whole_length():
    study = SequenceStudy()
    study.add([np.linspace(0, 1, length)[:, None] * [1, 10] for length in (50, 400)])
    found = study.result()
    assert (found.lengths.min, found.lengths.max) == (50, 400)
    assert found.channels[1].max == 10
    assert found.course.mean[1][-1] == pytest.approx(10, rel=0.03)


def test_repeated_rows_and_clashing_labels_are_named_by_their_places():
    inputs = np.array([[1, 2], [3, 4], [1, 2], [5, 6], [3, 4], [1, 2]])
    labels = np.array([0, 1, 0, 0, 0, 0])
    study = RepeatStudy()
    study.add(range(3), numbers_of(inputs[:3]), numbers_of(labels[:3]))
    study.add(range(3, 6), numbers_of(inputs[3:]), numbers_of(labels[3:]))
    found = study.result()
    assert found.repeated_rows == 3
    assert found.groups == ((0, 2, 5), (1, 4))
    assert found.conflicts == ((1, 4),)
    assert found.conflicting_rows == 2


def test_rows_of_several_fields_are_equal_only_if_all_are():
    first, second = np.array(["a", "a", "b"]), np.array([1, 2, 1])
    numbers = combined([numbers_of(first), numbers_of(second)])
    assert len(set(numbers.tolist())) == 3
    assert numbers_of([np.array([1, 2]), np.array([1, 2]), np.array([1])])[0] != 0


def test_ranks_that_rise_together_are_related():
    values = np.random.default_rng(0).normal(size=500)
    study = RelationStudy(["a", "b", "c"])
    study.add({"a": values, "b": np.exp(values), "c": np.zeros(500)})
    found = study.result()
    assert found.matrix[0][1] == pytest.approx(1.0)
    assert found.matrix[0][2] is None
