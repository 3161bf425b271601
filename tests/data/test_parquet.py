"""Parquet tables, also with images inside and in shards."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from stethoscope.errors import StethoscopeError, UnreadableFile
from tests.data.opened import opened, put
from tests.exploring import examples


def table(rows: int = 300) -> pa.Table:
    return pa.table(
        {
            "a": np.arange(rows) / 2,
            "n": pa.array([None if place % 7 == 0 else place for place in range(rows)]),
            "word": [f"w{place % 3}" for place in range(rows)],
            "ids": [list(range(place % 4)) for place in range(rows)],
            "vector": [[float(place), 1.0] for place in range(rows)],
            "good": [place % 2 == 0 for place in range(rows)],
        }
    )


def written(content: pa.Table, **options) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(content, stream, **options)
    return stream.getvalue()


def test_columns_of_all_kinds_over_row_groups(tmp_path):
    with opened(put(tmp_path, "t.parquet", written(table(), row_group_size=50))) as data:
        assert data.about.rows == 300 and data.about.classes == ("False", "True")
        kinds = {field.name: field.kind for field in data.about.fields}
        assert kinds["ids"] == "tokens" and kinds["word"] == "category" and data.about.field("good").role == "target"
        columns = data.columns(48, 53)
        assert columns["a"].tolist() == [24.0, 24.5, 25.0, 25.5, 26.0]
        assert np.isnan(columns["n"][1]) and columns["vector"].shape == (5, 2)
        assert [row.tolist() for row in columns["ids"]] == [[], [0], [0, 1], [0, 1, 2], []]
        assert data.feed(0, 2)["y"].tolist() == [1, 0]


def test_images_as_the_datasets_library_stores_them(tmp_path):
    from PIL import Image

    def png(value: int) -> bytes:
        stream = io.BytesIO()
        Image.fromarray(np.full((4, 5, 3), value, np.uint8)).save(stream, "PNG")
        return stream.getvalue()

    rows = [{"bytes": png(place), "path": ""} for place in range(3)] + [{"bytes": b"\x89PNG\r\n\x1a\nbad", "path": ""}]
    names = {"info": {"features": {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}}}
    content = pa.table({"image": rows, "label": [0, 1, 0, 1]}).replace_schema_metadata(
        {"huggingface": json.dumps(names)}
    )
    with opened(put(tmp_path, "t.parquet", written(content))) as data:
        samples = data.samples(range(4))
        assert samples[1].values["image"].shape == (4, 5, 3) and int(samples[1].values["image"].max()) == 1
        assert [sample.label for sample in samples] == ["cat", "dog", "cat", "dog"]
        assert "image" not in samples[3].values and samples[3].problems
        feed = data.feed(0, 4)
        assert feed["x"].shape == (3, 4, 5, 3) and feed["y"].tolist() == [0, 1, 0]


def test_shards_in_an_archive_are_one_table_with_splits(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("data/test-00000.parquet", "data/train-00000.parquet", "data/train-00001.parquet"):
            archive.writestr(name, written(table(10)))
        archive.writestr("data/other.parquet", written(pa.table({"z": [1]})))
    with opened(put(tmp_path, "t.zip", (tmp_path / "t.zip").read_bytes())) as data:
        assert data.about.rows == 30 and data.about.splits == ("train", "test")
        assert [sample.split for sample in data.samples([0, 19, 20])] == ["train", "train", "test"]
        assert data.about.problems[0].where == "data/other.parquet"


def test_a_truncated_file_is_a_sentence(tmp_path):
    with pytest.raises(UnreadableFile, match=r"t\.parquet"):
        opened(put(tmp_path, "t.parquet", written(table())[:-9]))


@examples(40)
@given(st.data())
def test_damaged_bytes_are_read_or_said(tmp_path_factory, data):
    content = bytearray(written(table(20)))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        with opened(put(tmp_path_factory.mktemp("parquet"), "t.parquet", bytes(content))) as found:
            found.samples([0, 5])
    except StethoscopeError as error:
        assert "t.parquet" in str(error)
