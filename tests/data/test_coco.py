"""COCO: outlines, both run-length forms, crowds, key points, several files, and everything that can be wrong in them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.data import open_data
from stethoscope.data.dataset import Box, Points, Polygon, Region, Sample
from stethoscope.data.images import mark_checks
from stethoscope.data.images.listed_marks import bits_of, from_string
from stethoscope.data.tables.python_columns import JsonRecords
from stethoscope.errors import TooLarge
from stethoscope.types import ModelFile
from tests.data.annotated_sets import png, put
from tests.exploring import examples
from tests.tables import each

BUDGET = 1 << 30
CATEGORIES = [{"id": 1, "name": "person", "keypoints": ["nose"]}, {"id": 2, "name": "empty"}]


def to_string(counts: list[int]) -> str:
    """COCO's packing of counts, written from its description (maskApi.c, rleToString)."""
    out = ""
    for place, count in enumerate(counts):
        value = count - counts[place - 2] if place > 2 else count
        more = True
        while more:
            piece = value & 0x1F
            value >>= 5
            more = value != -1 if piece & 0x10 else value != 0
            out += chr(48 + (piece | 0x20 if more else piece))
    return out


def counts_of(mask: np.ndarray) -> list[int]:
    counts, last = [0], 0
    for value in mask.T.ravel():
        if value != last:
            counts.append(0)
            last = value
        counts[-1] += 1
    return counts


def shown(tmp_path: Path, annotations: list[Any], images: list[Any] | None = None, **more: Any) -> tuple[Sample, Any]:
    put(tmp_path / "a.png", png(20, 10))
    value = {
        "images": images or [{"id": 1, "file_name": "a.png", "width": 20, "height": 10}],
        "categories": CATEGORIES,
        "annotations": annotations,
        **more,
    }
    put(tmp_path / "set.json", json.dumps(value))
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        return data.samples([0])[0], data.about


@examples(100)
@given(st.lists(st.integers(0, 300_000), min_size=1, max_size=60))
def test_packed_counts_are_unpacked(counts):
    assert from_string(to_string(counts)) == counts


@examples(100)
@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_masks_of_both_forms_are_the_drawn_pixels(height, width, data):
    cells = data.draw(st.lists(st.booleans(), min_size=height * width, max_size=height * width))
    mask = np.array(cells).reshape(height, width)
    counts = counts_of(mask)
    for form in (counts, to_string(counts)):
        np.testing.assert_array_equal(bits_of({"size": [height, width], "counts": form}), mask)


@examples(60)
@given(st.text(max_size=30), st.integers(-5, 50), st.integers(-5, 50))
def test_any_text_is_a_mask_or_a_reason(text, height, width):
    try:
        assert bits_of({"size": [height, width], "counts": text}).shape == (height, width)
    except ValueError as error:
        assert str(error)


def test_known_packed_mask():
    # Three rows, four columns, the second column set: runs of 3, 3 and 6.
    np.testing.assert_array_equal(
        bits_of({"size": [3, 4], "counts": "336"}), np.eye(4, dtype=bool)[1][None].repeat(3, 0)
    )


def test_outlines_holes_crowds_and_points(tmp_path):
    mask = np.zeros((10, 20), bool)
    mask[2:5, 3:9] = True
    sample, about = shown(
        tmp_path,
        [
            {
                "id": 1,
                "image_id": 1,
                "category_id": 1,
                "bbox": [1, 1, 4, 4],
                "segmentation": [[1, 1, 5, 1, 5, 5], [6, 6, 8, 6, 8, 8]],
            },
            {
                "id": 2,
                "image_id": 1,
                "category_id": 1,
                "iscrowd": 1,
                "bbox": [3, 2, 6, 3],
                "segmentation": {"size": [10, 20], "counts": counts_of(mask)},
            },
            {
                "id": 3,
                "image_id": 1,
                "category_id": 1,
                "bbox": [0, 0, 20, 10],
                "keypoints": [5, 6, 2, 0, 0, 0, 7, 8, 1],
                "num_keypoints": 2,
            },
        ],
    )
    assert isinstance(sample.marks[0], Polygon)
    assert sample.marks[0].rings[1][2] == (8.0, 8.0)
    assert isinstance(sample.marks[1], Region)
    np.testing.assert_array_equal(sample.marks[1].bits, mask)
    assert isinstance(sample.marks[2], Box) and sample.marks[2].details["crowd"] is True
    assert sample.marks[4] == Points("person", ((5.0, 6.0), (7.0, 8.0)))
    (problem,) = about.problems
    assert problem.where == "empty" and "no annotation" in problem.sentence


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"category_id": 9, "bbox": [0, 0, 1, 1]}, "listed category, got 9"),
    ({"category_id": 1, "bbox": [0, 0, "x", 1]}, "no number"),
    ({"category_id": 1, "bbox": [0, 0, 1]}, r"a box of \[x, y"),
    ({"category_id": 1, "bbox": [15, 0, 30, 5]}, "beyond .* 20 × 10"),
    ({"category_id": 1, "bbox": [5, 5, 0, 5]}, "no area"),
    ({"category_id": 1, "segmentation": [[1, 2, 3]]}, "three points"),
    ({"category_id": 1, "segmentation": {"size": [10, 20], "counts": [5]}}, "fill 5 of 200"),
    ({"category_id": 1, "segmentation": {"size": [5, 5], "counts": [25]}}, "the image of 20 × 10"),
    ({"category_id": 1, "segmentation": {"size": [60_000, 60_000], "counts": [1]}}, "than any image"),
    ({"category_id": 1, "bbox": [0, 0, 1e308, 1]}, "no number"),
    ({"category_id": 1, "bbox": [0, 0, 1, 1], "keypoints": [1, 2]}, "key points"),
]


@each(("annotation", "sentence"), WRONG)
def test_what_is_wrong_is_a_sentence_and_the_rest_is_drawn(tmp_path, annotation, sentence):
    good = {"id": 2, "image_id": 1, "category_id": 1, "bbox": [2, 2, 3, 3]}
    sample, _ = shown(tmp_path, [{"id": 1, "image_id": 1, **annotation}, good])
    assert any(re.search(sentence, problem) for problem in sample.problems)
    assert Box("person", 2.0, 2.0, 3.0, 3.0, details={"id": 2}) in sample.marks


def test_masks_without_end_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(mark_checks, "_MASK_BYTES", 1_000)
    mask = {"image_id": 1, "category_id": 1, "segmentation": {"size": [10, 20], "counts": [50, 150]}}
    sample, _ = shown(tmp_path, [{"id": number, **mask} for number in range(50)])
    assert len(sample.marks) == 5
    assert "first 5 marks" in sample.problems[0]


def test_an_image_of_another_size_than_annotated_is_named(tmp_path):
    sample, _ = shown(tmp_path, [], [{"id": 1, "file_name": "a.png", "width": 10, "height": 20}])
    assert "10 × 20" in sample.problems[0] and "20 × 10" in sample.problems[0]


def test_annotations_of_unlisted_images_are_counted(tmp_path):
    _, about = shown(tmp_path, [{"id": n, "image_id": 77, "category_id": 1, "bbox": [1, 1, 1, 1]} for n in range(4)])
    assert any("4 of 4 annotations" in problem.sentence for problem in about.problems)


def test_several_files_are_splits_and_say_more_about_the_same_images(tmp_path):
    for split in ("train2017", "val2017"):
        put(tmp_path / split / "1.png", png(20, 10))
        image = {"id": 1, "file_name": "1.png", "width": 20, "height": 10}
        box = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}
        put(
            tmp_path / f"annotations/instances_{split}.json",
            json.dumps({"images": [image], "annotations": [box], "categories": CATEGORIES}),
        )
        caption = {"id": 1, "image_id": 1, "caption": f"A picture of {split}."}
        put(tmp_path / f"annotations/captions_{split}.json", json.dumps({"images": [image], "annotations": [caption]}))
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        assert data.about.rows == 2
        assert sorted(data.about.splits) == ["train2017", "val2017"]
        samples = data.samples([0, 1])
    assert [sample.split for sample in samples] == [sample.name.split("/")[0] for sample in samples]
    assert [str(sample.values["caption"]) for sample in samples] == [
        f"A picture of {sample.split}." for sample in samples
    ]
    assert all(len(sample.marks) == 1 for sample in samples)


def test_categories_after_the_annotations_and_no_list_of_images(tmp_path):
    boxes = [{"id": 1, "image_id": 7, "category_id": 1, "bbox": [1, 1, 2, 2]}]
    put(tmp_path / "images" / "000000000007.jpg", png(20, 10))
    put(tmp_path / "set.json", json.dumps({"annotations": boxes, "categories": CATEGORIES[:1]}))
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        (sample,) = data.samples([0])
        assert data.about.problems == ()
    assert [mark.label for mark in sample.marks] == ["person"] and not sample.canvas


def test_a_json_cut_off_keeps_what_stands_before(tmp_path):
    put(tmp_path / "a.png", png(20, 10))
    text = json.dumps(
        {
            "images": [{"id": 1, "file_name": "a.png"}],
            "categories": CATEGORIES,
            "annotations": [{"id": n, "image_id": 1, "category_id": 1, "bbox": [n, 1, 1, 1]} for n in range(5)],
        }
    )
    put(tmp_path / "set.json", text[: text.index('"id": 3')])
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        assert any("damaged" in problem.sentence for problem in data.about.problems)
        assert len(data.samples([0])[0].marks) == 3


def test_a_file_larger_than_the_budget_is_refused(tmp_path):
    put(tmp_path / "a.png", png(20, 10))
    rows = [{"id": n, "image_id": 1, "category_id": 1, "bbox": [1, 1, 1, 1]} for n in range(2_000)]
    put(tmp_path / "set.json", json.dumps({"images": [{"id": 1, "file_name": "a.png"}], "annotations": rows}))
    with pytest.raises(TooLarge, match="one split"):
        open_data(ModelFile.at(tmp_path), 100_000)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@examples(40)
@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=5), st.sampled_from([None, 1, 2]))
def test_records_are_what_json_reads(value, indent):
    text = json.dumps(value, indent=indent)
    records = JsonRecords(text)
    found: dict[str, Any] = {key: [] for key, one in value.items() if isinstance(one, list)}
    for record in records:
        assert records.again(record.start) == record.value
        if isinstance(value[record.key], list):
            found[record.key].append(record.value)
        else:
            found[record.key] = record.value
    assert found == value
    assert records.damage == ""


@examples(100)
@given(st.text(max_size=60) | st.text(alphabet='{}[]",:0123 \\', max_size=60))
def test_any_text_ends_with_records_or_a_reason(text):
    records = JsonRecords(text)
    found = list(records)
    try:
        value = json.loads(text)
    except ValueError:
        return
    if isinstance(value, dict | list):
        assert records.damage == ""
        assert (
            len(found) >= sum(one != [] for one in value.values())
            if isinstance(value, dict)
            else len(found) == len(value)
        )
    else:
        assert records.damage
