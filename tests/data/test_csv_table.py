"""Tables of text: what a person would read in them is what comes out."""

from __future__ import annotations

import gzip
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.data import recognise
from stethoscope.errors import BadSetting, StethoscopeError
from tests.data.opened import opened, put
from tests.exploring import examples
from tests.tables import each

IRIS = "length,width,species\n" + "".join(f"{place}.5,{place % 3},{'ab'[place % 2]}\n" for place in range(20))


def test_columns_of_numbers_are_one_matrix_and_classes_become_numbers(tmp_path):
    with opened(put(tmp_path, "iris.csv", IRIS)) as data:
        assert data.about.rows == 20 and data.about.classes == ("a", "b")
        assert [field.role for field in data.about.fields] == ["input", "input", "target"]
        feed = data.feed(0, 4)
        np.testing.assert_array_equal(feed["x"], [[0.5, 0], [1.5, 1], [2.5, 2], [3.5, 0]])
        assert feed["y"].tolist() == feed["species"].tolist() == [0, 1, 0, 1]
        assert [sample.label for sample in data.samples([1, 0, 99])] == ["b", "a"]


def test_another_target_can_be_chosen_and_an_unknown_one_is_said(tmp_path):
    file = put(tmp_path, "iris.csv", IRIS)
    with opened(file, target="width") as data:
        assert data.feed(0, 3)["y"].tolist() == [0, 1, 2]
        assert data.feed(0, 3)["x"].tolist() == [[0.5], [1.5], [2.5]]
    with opened(file, target="none") as data:
        assert "y" not in data.feed(0, 3)
    with pytest.raises(BadSetting, match="length, width, species"):
        opened(file, target="colour")


def test_semicolons_decimal_commas_and_old_encodings(tmp_path):
    text = "Größe;Preis\n1,5;2.000,25\n2,5;3,0\n"
    with opened(put(tmp_path, "t.csv", text.encode("cp1252"))) as data:
        assert [field.name for field in data.about.fields] == ["Größe", "Preis"]
        assert data.feed(0, 2)["x"].tolist() == [[1.5, 2000.25], [2.5, 3.0]]


@each("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_encodings_by_mark_or_by_looking(tmp_path, encoding):
    with opened(put(tmp_path, "t.csv", "name,age\nÄnne,3\nBob,4\n".encode(encoding))) as data:
        assert data.feed(0, 2)["name"].tolist() == ["Änne", "Bob"]


def test_a_cell_may_hold_commas_quotes_and_line_breaks(tmp_path):
    text = 'text,label\n"one, two\nthree",pos\n"a ""word""",neg\n'
    with opened(put(tmp_path, "t.csv", text)) as data:
        assert [str(sample.values["text"]) for sample in data.samples([0, 1])] == ["one, two\nthree", 'a "word"']


def test_a_table_without_a_header_has_all_its_rows(tmp_path):
    with opened(put(tmp_path, "t.csv", "".join(f"{place},{place * 2},x{place % 2}\n" for place in range(12)))) as data:
        assert data.about.rows == 12 and data.about.fields[0].name == "column 1"


def test_missing_and_wrong_cells_are_missing_and_said(tmp_path):
    rows = "".join(f"{place},{place}\n" for place in range(60))
    with opened(put(tmp_path, "t.csv", "a,target\n" + rows + "oops,1\nNA,2\n")) as data:
        column = data.columns(58, 62)["a"]
        assert column[:2].tolist() == [58, 59] and np.isnan(column[2:]).all()
        assert [problem.where for problem in data.about.problems] == ["row 61"]
        assert "'oops'" in data.about.problems[0].sentence


def test_rows_of_another_width_are_left_out_and_said(tmp_path):
    with opened(put(tmp_path, "t.csv", "a,b\n1,2\n3,4,5\n6,7\n")) as data:
        assert data.feed(0, 9)["x"].tolist() == [[1, 2], [6, 7]]
        assert "3 cells" in data.about.problems[0].sentence and data.about.problems[0].where == "row 2"


def test_a_quote_that_is_never_closed_is_said(tmp_path):
    with opened(put(tmp_path, "t.csv", 'a,b\n1,"never closed\n2,3\n')) as data:
        assert "never closed" in data.about.problems[0].sentence


def test_row_numbers_and_dates_are_no_input(tmp_path):
    text = "id,when,a\n" + "".join(f"{place + 7},2024-01-{place + 1:02},{place % 5}.5\n" for place in range(20))
    with opened(put(tmp_path, "t.csv", text), target="none") as data:
        assert data.feed(0, 1)["x"].shape == (1, 1)
        assert data.about.field("id").role == "other"
        assert data.about.field("when").details == {"looks_like": "date"}


def test_compressed_and_archived_tables_and_their_splits(tmp_path):
    with opened(put(tmp_path, "t.csv.gz", gzip.compress(IRIS.encode()))) as data:
        assert data.about.rows == 20
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("train.csv", IRIS)
        archive.writestr("test.csv", IRIS)
        archive.writestr("sample_submission.csv", "id,species\n1,a\n")
    with opened(put(tmp_path, "t.zip", (tmp_path / "t.zip").read_bytes())) as data:
        assert (data.about.rows, data.about.splits) == (40, ("train", "test"))
        assert [sample.split for sample in data.samples([0, 39])] == ["train", "test"]
        assert any("sample_submission.csv" in note for note in data.about.notes)


def test_rows_beyond_the_first_bytes_are_read_when_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("stethoscope.data.csv_table._FIRST_BYTES", 10_000)
    monkeypatch.setattr("stethoscope.data.tables.csv_stream._BLOCK_BYTES", 5_000)
    text = "a,b\n" + "".join(f"{place},{place / 2}\n" for place in range(5_000))
    with opened(put(tmp_path, "t.csv", text)) as data:
        assert not data.about.rows_exact and 2_500 < data.about.rows < 10_000
        assert float(data.samples([4_999])[0].values["a"]) == 4_999
        assert data.columns(4_999, 6_000)["a"].tolist() == [4_999]
        assert data.about.rows_exact and data.about.rows == 5_000


def test_outlines_tell_classes_without_the_other_columns(tmp_path):
    with opened(put(tmp_path, "iris.csv", IRIS)) as data:
        found = data.outlines(range(20))
        assert [one.label for one in found[:3]] == ["a", "b", "a"] and not found[0].values


def test_prose_and_code_are_no_tables(tmp_path):
    for name, text in (("a.txt", "Well, hello.\nOnce, upon a time.\n"), ("a.html", "<p>a,b</p>\n<p>c,d</p>\n")):
        try:
            assert recognise(put(tmp_path, name, text)).id != "csv"
        except StethoscopeError as error:
            assert name in str(error)


CELLS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=8)


@examples(35)
@given(st.lists(st.tuples(CELLS, st.integers(-(10**9), 10**9), st.floats(-1e6, 1e6)), min_size=2, max_size=12))
def test_what_pythons_writer_writes_is_read_again(tmp_path_factory, rows):
    import csv
    import io

    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(["words", "whole", "real"])
    writer.writerows(rows)
    file = put(tmp_path_factory.mktemp("csv"), "t.csv", stream.getvalue())
    with opened(file, target="none") as data:
        columns = data.columns(0, len(rows))
    assert columns["whole"].tolist() == [row[1] for row in rows]
    np.testing.assert_allclose(columns["real"], [row[2] for row in rows])


@examples(50)
@given(st.binary(max_size=400))
def test_any_bytes_are_a_table_or_a_sentence(tmp_path_factory, content):
    file = put(tmp_path_factory.mktemp("csv"), "t.csv", content)
    try:
        with opened(file) as data:
            assert len(data.samples(range(5))) == min(5, data.about.rows)
    except StethoscopeError as error:
        assert "t.csv" in str(error)
