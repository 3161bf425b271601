"""YOLO: every layout and kind of line, class lists, and lines that are none."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stethoscope.data import open_data, recognise
from stethoscope.data.dataset import Box, Points, Polygon
from stethoscope.data.images.image_dataset import ImageDataset
from stethoscope.data.images.yolo_lines import from_yaml, parse
from stethoscope.errors import UnreadableFile
from stethoscope.types import ModelFile
from tests.data import annotated_sets
from tests.data.annotated_sets import png, put
from tests.exploring import examples
from tests.tables import each

NAMES = {0: "cat", 1: "dog"}
FRACTION = st.floats(0, 1, allow_nan=False)


def opened(path: Path) -> ImageDataset:
    assert recognise(ModelFile.at(path)).id == "yolo"
    data = open_data(ModelFile.at(path), 1 << 30)
    assert isinstance(data, ImageDataset)
    return data


@examples(100)
@given(st.integers(0, 1), FRACTION, FRACTION, FRACTION, FRACTION, st.integers(1, 5_000), st.integers(1, 5_000))
def test_a_box_is_its_fractions_of_the_image(number, x, y, wide, high, width, height):
    line = parse(f"{number} {x} {y} {wide} {high}", (width, height), NAMES, None)
    assert line is not None
    (box,) = line.marks
    assert isinstance(box, Box)
    assert box.label == NAMES[number]
    np.testing.assert_allclose(
        [box.x + box.width / 2, box.y + box.height / 2, box.width, box.height],
        [x * width, y * height, wide * width, high * height],
        atol=1e-6,
    )


@examples(100)
@given(st.lists(st.tuples(FRACTION, FRACTION), min_size=4, max_size=30), st.integers(1, 2_000), st.integers(1, 2_000))
def test_an_outline_keeps_its_points(points, width, height):
    written = " ".join(f"{x!r} {y!r}" for x, y in points)
    line = parse(f"1 {written}", (width, height), NAMES, None)
    assert line is not None and isinstance(line.marks[0], Polygon)
    np.testing.assert_allclose(line.marks[0].rings[0], [(x * width, y * height) for x, y in points])


_TAGS = st.sampled_from(["!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!binary", "!!set", "!!omap", "!!map"])


@examples(100)
@given(st.text("abc:{}[]!- \n'\"?|>#%", max_size=60) | st.tuples(_TAGS, st.text(max_size=8)).map(" ".join))
@example('!!int ""')
@example("!!bool x")
@example("!!timestamp x")
def test_any_text_is_settings_or_none_or_damaged(text):
    with contextlib.suppress(ValueError):
        from_yaml(f"names: {text}", "data.yaml")


@examples(100)
@given(st.text(max_size=80) | st.text(alphabet="0123456789. -e\tnaif", max_size=80))
def test_any_line_is_an_object_or_a_reason(text):
    try:
        line = parse(text, (100, 50), NAMES, None)
    except ValueError as error:
        assert str(error)
    else:
        assert line is None or line.marks


@each(
    ("text", "kinds"),
    [
        ("0 .5 .5 .2 .2 .93", [Box]),
        ("0 .1 .1 .9 .1 .9 .9 .1 .9", [Polygon]),
        ("0 .5 .5 .4 .4 .3 .3 2 .6 .6 1 0 0 0", [Box, Points]),
        ("10 20 30 20 30 40 10 40 small-vehicle 1", [Polygon]),
        ("0 0 0 2 2 2 2 0 label_0 0", [Polygon]),
        ("10.5 20 30 20 30 40 10 40 storage tank", [Polygon]),
    ],
)
def test_kinds_of_lines(text, kinds):
    line = parse(text, (100, 100), NAMES, None)
    assert line is not None
    assert [type(mark) for mark in line.marks] == kinds


def test_a_pose_of_known_form_leaves_out_points_that_are_not_marked():
    line = parse("0 .5 .5 .4 .4 .3 .3 0 0 .6 .7", (100, 100), NAMES, (3, 2))
    assert line is not None
    assert line.marks[1] == Points("cat", ((30.0, 30.0), (60.0, 70.0)))


@each(
    ("text", "reason"),
    [
        ("0 350 200 40 60", "looks like pixels"),
        ("cat .5 .5 .1 .1", "expected numbers"),
        ("0.5 .5 .5 .1 .1", "class number"),
        ("0 .5 .5", "at least four"),
        ("0 nan .5 .1 .1", "infinity or NaN"),
        ("-1 .5 .5 .1 .1", "class number"),
    ],
)
def test_lines_that_are_none_say_why(text, reason):
    with pytest.raises(ValueError, match=reason):
        parse(text, (100, 100), NAMES, None)


LAYOUTS = [
    ("images/train", "labels/train"),
    ("train/images", "train/labels"),
    ("obj_train_data", "obj_train_data"),
    ("images", "labels"),
    ("", ""),
    ("data/JPEGImages", "data/labels"),
    ("train/images", "train/labelTxt"),
]


@each(("pictures", "labels"), LAYOUTS)
def test_labels_find_their_images_in_every_layout(tmp_path, pictures, labels):
    annotated_sets.yolo(tmp_path, pictures, labels)
    with opened(tmp_path) as data:
        samples = data.samples(range(data.about.rows))
    assert [(Path(sample.name).stem, len(sample.marks), sample.canvas) for sample in samples] == [
        ("one", 2, False),
        ("two", 1, False),
    ]


def test_names_of_the_same_stem_stay_in_their_split(tmp_path):
    for split, count in (("train", 1), ("val", 2)):
        put(tmp_path / split / "images" / "001.png", png(10, 10))
        put(tmp_path / split / "labels" / "001.txt", "0 .5 .5 .2 .2\n" * count)
    with opened(tmp_path) as data:
        assert {sample.split: len(sample.marks) for sample in data.samples([0, 1])} == {"train": 1, "val": 2}


@each(
    ("name", "content"),
    [
        ("classes.txt", "cat\ndog\n"),
        ("obj.names", "cat\ndog\n"),
        ("data.yaml", "names: {0: cat, 1: dog}\n"),
        ("dataset.yml", "names:\n- cat\n- dog\nnc: 2\n"),
    ],
)
def test_classes_are_named_by_any_list(tmp_path, name, content):
    annotated_sets.yolo(tmp_path)
    (tmp_path / "data.yaml").unlink()
    put(tmp_path / name, content)
    with opened(tmp_path) as data:
        assert data.about.classes == ("cat", "dog")
        assert {mark.label for sample in data.samples([0, 1]) for mark in sample.marks} == {"cat", "dog"}


def test_problems_name_file_and_line(tmp_path):
    put(tmp_path / "images" / "a.png", png(50, 40))
    put(tmp_path / "labels" / "a.txt", "0 .5 .5 .2 .2\n7 .5 .5 .2 .2\nnonsense here\n0 .9 .5 .5 .2\n")
    put(tmp_path / "data.yaml", "names: [cat, cow]\n")
    with opened(tmp_path) as data:
        (sample,) = data.samples([0])
        sentences = [problem.sentence for problem in data.about.problems]
    assert [mark.label for mark in sample.marks] == ["cat", "class 7", "cat"]
    assert any("line 2: class 7" in problem for problem in sample.problems)
    assert any("line 3" in problem for problem in sample.problems)
    assert any("50 × 40" in problem for problem in sample.problems)
    assert any("'cow' marks nothing" in sentence for sentence in sentences)
    assert any("Line 3" in sentence for sentence in sentences)


def test_images_without_labels_are_shown(tmp_path):
    annotated_sets.yolo(tmp_path)
    put(tmp_path / "images" / "train" / "background.png", png(9, 9))
    with opened(tmp_path) as data:
        sample = next(one for one in data.samples(range(3)) if "background" in one.name)
        assert (sample.marks, sample.problems) == ((), ())
        assert len(data.feed(0, 3)["x"]) == 3


@pytest.mark.parametrize(
    "text", ["a: &a [1]\nnames: [*a, *a]\n", "names: [\n", "names: !!python/object/apply:os.system ['true']\n"]
)
def test_hostile_yaml_is_a_reason(text):
    with pytest.raises(ValueError, match=r"anchors|valid YAML"):
        from_yaml(text, "data.yaml")


def test_a_table_of_numbers_is_no_label_file(tmp_path):
    put(tmp_path / "a.txt", "1 5.1 3.5 1.4 0.2\n2 4.9 3.0 1.4 0.2\n")
    try:
        assert recognise(ModelFile.at(tmp_path / "a.txt")).id != "yolo"
    except UnreadableFile as error:
        assert "a.txt" in str(error)


def test_a_lone_label_file_is_drawn_on_a_square(tmp_path):
    put(tmp_path / "a.txt", "3 .5 .5 .5 .5\n")
    with opened(tmp_path / "a.txt") as data:
        (sample,) = data.samples([0])
    assert sample.canvas
    assert isinstance(sample.marks[0], Box) and sample.marks[0].label == "class 3"
    assert sample.values["image"].shape == (640, 640, 3)
