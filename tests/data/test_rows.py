"""All rows as arrays: what jobs that run a model on data begin with."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.data.rows import read_rows
from stethoscope.errors import BadInput, TooLarge
from stethoscope.types import ModelFile
from tests.data.opened import BUDGET, put


def read(file, steps=(), budget=BUDGET, **options):
    return read_rows(file, budget, Preparation.from_json(steps), options)


def test_a_table_is_read_whole_in_parts_and_prepared(tmp_path):
    text = "a,b,label\n" + "".join(f"{place},{place * 2},{'no' if place % 2 else 'yes'}\n" for place in range(3_000))
    feed = read(put(tmp_path, "t.csv", text), [{"step": "scale", "of": "x", "factor": 0.5}])
    np.testing.assert_allclose(feed["x"][-1], [1499.5, 2999])
    assert feed["x"].shape == (3_000, 2) and feed["y"].tolist()[:3] == [1, 0, 1]
    assert feed["a"].shape == (3_000,)


def test_arrays_of_different_rows_stay_whole(tmp_path):
    np.savez(tmp_path / "a.npz", x_train=np.ones((6, 2)), x_test=np.ones((3, 2)), y_train=np.arange(6))
    feed = read(ModelFile.at(tmp_path / "a.npz"))
    assert {name: len(array) for name, array in feed.items()} == {"x_train": 6, "x_test": 3, "y_train": 6}


def test_the_first_rows_only(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(100.0), y=np.arange(100))
    feed = read_rows(ModelFile.at(tmp_path / "a.npz"), BUDGET, Preparation(), most_rows=7)
    assert feed["x"].tolist() == list(range(7))


def test_rows_of_several_lengths_say_what_to_do_unless_the_model_does_not_get_them(tmp_path):
    rows = [{"ids": [1, 2, 3][: 2 + place % 2], "label": place % 2} for place in range(9)]
    lines = "\n".join(json.dumps(row) for row in rows)
    with pytest.raises(BadInput, match="Pad"):
        read(put(tmp_path, "t.jsonl", lines))
    rows = [{"a": place, "tags": ["x", "z"][: 1 + place % 2], "y": 1} for place in range(9)]
    lines = "\n".join(json.dumps(row) for row in rows)
    feed = read(put(tmp_path, "u.jsonl", lines), target="y")
    assert feed["x"].tolist() == [[place] for place in range(9)] and "tags" not in feed


def test_a_row_that_cannot_be_read_is_left_out_of_every_array(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for kind in ("cat", "dog"):
            for number in range(3):
                stream = archive.open(f"{kind}/{number}.npy", "w")
                np.save(stream, np.full(4, number, np.float32))
                stream.close()
        archive.writestr("dog/broken.npy", b"\x93NUMPY broken")
    feed = read(ModelFile.at(tmp_path / "a.zip"))
    assert feed["x"].shape == (6, 4) and feed["y"].tolist() == [0, 0, 0, 1, 1, 1]


def test_more_than_the_budget_is_refused_with_the_row(tmp_path):
    text = "a,b\n" + "1.5,2.5\n" * 20_000
    with pytest.raises(TooLarge, match="at row"):
        read(put(tmp_path, "t.csv", text), budget=100_000)
