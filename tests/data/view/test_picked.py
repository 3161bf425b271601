"""Which rows are shown: paged, shuffled, filtered."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.data.dataset import Box, DataAbout, DataField, Sample
from stethoscope.data.view.picked import Only, classes_in, pick, words_of
from stethoscope.errors import BadSetting


class Rows:
    """A table of 100 rows: class i % 4, split by half; every tenth is damaged."""

    def __init__(self, *, columns: bool = True) -> None:
        role = "target" if columns else "other"
        self.about = DataAbout(
            "t",
            "T",
            100,
            True,
            (DataField("kind", "category", "int64", (), role), DataField("part", "category", "string", (), "split")),
        )
        self.read = 0

    def samples(self, places):
        self.read += len(places)
        return [
            Sample(
                at,
                f"file-{at}",
                {},
                str(at % 4),
                (Box("wheel", 0, 0, 1, 1),) if at == 7 else (),
                self.part(at),
                ("Damaged.",) if at % 10 == 0 else (),
            )
            for at in places
        ]

    def columns(self, start, stop, names=None):
        places = range(start, min(stop, 100))
        return {"kind": np.array([at % 4 for at in places]), "part": np.array([self.part(at) for at in places])}

    @staticmethod
    def part(at):
        return "train" if at < 50 else "test"


def found(data, start=0, count=5, seed=None, **only):
    return pick(data, start, count, seed, Only.from_json(only), lambda *_: None)


def test_pages_follow_each_other():
    assert found(Rows(), 95, 10).places == [95, 96, 97, 98, 99]
    assert found(Rows(), 200).places == []


def test_a_shuffle_is_the_same_every_time_and_shows_every_row_once():
    pages = [found(Rows(), start, 30, seed=3).places for start in (0, 30, 60, 90)]
    assert sorted(place for page in pages for place in page) == list(range(100))
    assert pages[0] == found(Rows(), 0, 30, seed=3).places != found(Rows(), 0, 30, seed=4).places


def test_a_class_is_found_in_the_column_without_reading_rows():
    data = Rows()
    picked = found(data, 1, 3, **{"class": "2", "split": "test"})
    assert (picked.places, picked.matches, picked.complete, data.read) == ([54, 58, 62], 13, True, 0)


def test_without_such_a_column_rows_are_looked_through():
    data = Rows(columns=False)
    assert found(data, **{"class": "wheel"}).places == [7]
    assert found(data, count=99, problem=True).places == list(range(0, 100, 10))
    assert found(data, text="FILE-42").places == [42]


def test_classes_the_data_does_not_name_come_from_the_column_in_the_order_of_their_numbers():
    assert classes_in(Rows(), 100) == ["0", "1", "2", "3"]


def test_values_are_told_by_the_names_of_their_classes():
    assert words_of(np.array([1.0, 0.0, 5.0]), ["cat", "dog"]) == ["dog", "cat", "5"]
    assert words_of([None, b"x", np.array([2])]) == ["", "x", "2"]


@pytest.mark.parametrize("given", [{"colour": "red"}, "cat", 3])
def test_another_filter_is_refused(given):
    with pytest.raises(BadSetting):
        Only.from_json(given)
