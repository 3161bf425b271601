"""JSON records, lines of text, texts in folders."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.data import recognise
from stethoscope.errors import StethoscopeError
from stethoscope.types import ModelFile
from tests.data.opened import opened, put
from tests.exploring import examples
from tests.tables import each


def lines(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_objects_by_line_with_nested_names_and_a_broken_line(tmp_path):
    rows = [{"text": f"review {place}", "meta": {"stars": place}, "label": "ab"[place % 2]} for place in range(9)]
    with opened(put(tmp_path, "t.jsonl", lines(rows) + '{"broken": \n' + lines(rows))) as data:
        assert data.about.rows == 18 and data.about.classes == ("a", "b")
        assert data.about.field("meta.stars").kind == "number"
        assert data.about.problems[0].where == "line 10"
        assert data.samples([1])[0].label == "b"


def test_a_stray_value_among_lists_is_named_and_the_rest_stays_tokens(tmp_path):
    rows = [{"ids": [1, 2, place + 100], "label": 1} for place in range(40)]
    rows[7] = {"ids": "none", "label": 0}
    with opened(put(tmp_path, "t.jsonl", lines(rows))) as data:
        assert data.about.field("ids").kind == "tokens"
        assert "got 'none'" in data.about.problems[0].sentence
        assert data.samples([8])[0].values["ids"].tolist() == [1, 2, 108]


def test_several_files_of_an_archive_are_one_table_with_their_splits(tmp_path):
    path = tmp_path / "set.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("test.jsonl", lines([{"text": f"t {place}", "label": "b"} for place in range(3)]))
        archive.writestr("train.jsonl", lines([{"text": f"n {place}", "label": "a"} for place in range(5)]) + "{\n")
        archive.writestr("other.jsonl", "[1, 2")
    with opened(ModelFile.at(path)) as data:
        assert data.about.rows == 8
        assert set(data.about.splits) == {"test", "train"}
        assert any("3 files" in note and "test.jsonl" in note for note in data.about.notes)
        assert {one.where for one in data.about.problems} == {"train.jsonl, line 6", "other.jsonl"}
        assert {(sample.split, sample.label) for sample in data.samples(range(8))} == {("test", "b"), ("train", "a")}


@each(
    "value",
    [
        [{"a": 1, "y": 0}, {"a": 2, "y": 1}],
        {"data": [{"a": 1, "y": 0}, {"a": 2, "y": 1}]},
        {"a": [1, 2], "y": [0, 1]},
        {"a": {"0": 1, "1": 2}, "y": {"0": 0, "1": 1}},
    ],
    ids=["records", "under a key", "columns", "pandas"],
)
def test_one_json_value_in_all_its_shapes(tmp_path, value):
    with opened(put(tmp_path, "t.json", json.dumps(value, indent=1))) as data:
        assert data.feed(0, 2)["a"].tolist() == [1, 2] and data.feed(0, 2)["y"].tolist() == [0, 1]


def test_token_ids_are_of_any_length(tmp_path):
    rows = [{"input_ids": list(range(place + 1)), "label": place} for place in range(3)]
    with opened(put(tmp_path, "t.jsonl", lines(rows))) as data:
        assert data.about.field("input_ids").kind == "tokens"
        assert [sample.values["input_ids"].tolist() for sample in data.samples([0, 2])] == [[0], [0, 1, 2]]


def test_a_value_of_another_kind_is_missing_and_said(tmp_path):
    rows = [{"a": place, "target": 1.5} for place in range(40)] + [{"a": "many", "target": 2.5}]
    with opened(put(tmp_path, "t.jsonl", lines(rows))) as data:
        assert np.isnan(data.columns(40, 41)["a"][0]) and data.about.problems[0].where == "row 41"


def test_json_nested_too_deeply_is_a_sentence(tmp_path):
    with pytest.raises(StethoscopeError, match=r"t\.json"):
        opened(put(tmp_path, "t.json", "[" * 100_000))


def test_lines_of_text_and_of_token_ids(tmp_path):
    with opened(put(tmp_path, "t.txt", "First line, comma.\n\nSecond; line\nThird\n")) as data:
        assert data.about.rows == 3 and data.about.field("text").kind == "text"
        assert data.feed(0, 3)["x"].tolist()[0] == "First line, comma."
    with opened(put(tmp_path, "ids.txt", "1 2 3\n4 5\n")) as data:
        assert [sample.values["tokens"].tolist() for sample in data.samples([0, 1])] == [[1, 2, 3], [4, 5]]


def test_fast_text_labels(tmp_path):
    text = "__label__good fine thing\n__label__bad __label__old broken\n"
    with opened(put(tmp_path, "t.txt", text)) as data:
        assert [sample.label for sample in data.samples([0, 1])] == ["good", "bad, old"]
        assert str(data.samples([0])[0].values["text"]) == "fine thing"


def test_label_and_text_separated_by_a_tab_are_a_table(tmp_path):
    text = "".join(f"{'spam' if place % 2 else 'ham'}\tmessage {place}, and more\n" for place in range(20))
    with opened(put(tmp_path, "t.txt", text)) as data:
        assert data.about.rows == 20 and data.about.classes == ("ham", "spam")


def test_texts_in_folders_by_class_without_the_readme(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("reviews/README.txt", "about this")
        for split in ("train", "test"):
            for kind in ("pos", "neg"):
                archive.writestr(f"reviews/{split}/{kind}/1.txt", f"{kind} of {split}")
    with opened(put(tmp_path, "t.zip", (tmp_path / "t.zip").read_bytes())) as data:
        assert data.about.rows == 4 and data.about.classes == ("neg", "pos") and data.about.splits == ("train", "test")
        first = data.samples([0])[0]
        assert (first.label, first.split, str(first.values["text"])) == ("neg", "train", "neg of train")
        assert data.feed(0, 4)["y"].tolist() == [0, 1, 0, 1]
        assert [one.label for one in data.outlines(range(4))] == ["neg", "pos", "neg", "pos"]


def test_markup_and_binary_are_no_text(tmp_path):
    for name, content in (("a.txt", b"<html></html>"), ("b.txt", b"\x00\x01\x02\x03" * 9)):
        with pytest.raises(StethoscopeError, match="expected data"):
            recognise(put(tmp_path, name, content))


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@examples(40)
@given(st.lists(JSON, min_size=1, max_size=5))
def test_any_json_is_records_or_a_sentence(tmp_path_factory, values):
    file = put(tmp_path_factory.mktemp("json"), "t.jsonl", lines(values))
    try:
        with opened(file) as data:
            data.samples(range(5))
            data.feed(0, 5)
    except StethoscopeError as error:
        assert "t.jsonl" in str(error) or "target" in str(error).lower()


@examples(50)
@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_a_sentence(tmp_path_factory, content):
    file = put(tmp_path_factory.mktemp("text"), "t.txt", content)
    try:
        with opened(file) as data:
            assert len(data.samples(range(3))) == min(3, data.about.rows)
    except StethoscopeError as error:
        assert "t.txt" in str(error)
