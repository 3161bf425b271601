"""CSV files that list boxes or classes of images beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.data import open_data, recognise
from stethoscope.data.box_lines import layout_of
from stethoscope.data.dataset import Box, Region
from stethoscope.data.images.bounded_text import csv_rows
from stethoscope.types import ModelFile
from tests.data.annotated_sets import as_csv, png, put
from tests.data.test_mask_folder import MASK, as_file
from tests.exploring import examples
from tests.tables import each

BUDGET = 1 << 30
BOX = Box("cat", 2.0, 3.0, 10.0, 5.0)


@each(
    "content",
    [
        "filename,width,height,class,xmin,ymin,xmax,ymax\na.png,20,10,cat,2,3,12,8\n",
        "image;label;x_min;y_min;x_max;y_max\na.png;cat;2;3;12;8\n",
        'image_id,bbox,label\na,"[2.0, 3.0, 10.0, 5.0]",cat\n',
        "path,x,y,w,h,class\nimages/a.png,2,3,10,5,cat\n",
        "images/a.png,2,3,12,8,cat\n",
        "Image Path,X1,Y1,X2,Y2,Class Name\nC:\\data\\images\\a.png,2,3,12,8,cat\n",
        "filename,xmin,ymin,xmax,ymax,class\na.png,0.1,0.3,0.6,0.8,cat\n",
    ],
)
def test_boxes_in_every_layout_of_columns(tmp_path, content):
    put(tmp_path / "images" / "a.png", png(20, 10))
    put(tmp_path / "labels.csv", content)
    assert recognise(ModelFile.at(tmp_path)).id == "box_table"
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        (sample,) = data.samples([0])
        assert ["fractions" in note for note in data.about.notes] == [True] * ("0.1" in content)
    (box,) = sample.marks
    assert isinstance(box, Box) and box.label == "cat"
    np.testing.assert_allclose([box.x, box.y, box.width, box.height], [BOX.x, BOX.y, BOX.width, BOX.height])
    assert sample.problems == ()


def test_bad_lines_are_named_and_the_rest_is_drawn(tmp_path):
    put(tmp_path / "a.png", png(20, 10))
    put(
        tmp_path / "t.csv",
        "filename,class,xmin,ymin,xmax,ymax\na.png,cat,2,3,12,8\na.png,dog,x,1,2,3\n,dog,1,1,2,2\na.png,dog,0,0,50,5\n",
    )
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        sentences = [problem.sentence for problem in data.about.problems]
        (sample,) = data.samples([0])
    assert any(sentence.startswith("Line 3") for sentence in sentences)
    assert any("Line 4" in sentence for sentence in sentences)
    assert len(sample.marks) == 2
    assert "beyond the image" in sample.problems[0]


def test_tables_of_splits_are_not_counted_twice_with_a_table_of_all(tmp_path):
    header = ["filename", "width", "height", "class", "xmin", "ymin", "xmax", "ymax"]
    one, two = ["1.jpg", 20, 10, "cat", 1, 1, 5, 5], ["2.jpg", 20, 10, "cat", 2, 2, 6, 6]
    put(tmp_path / "all_labels.csv", as_csv([header, one, two]))
    put(tmp_path / "train_labels.csv", as_csv([header, one]))
    put(tmp_path / "test_labels.csv", as_csv([header, two]))
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        samples = data.samples(range(data.about.rows))
    marks = {(sample.split, len(sample.marks)) for sample in samples if sample.split}
    assert {("train", 1), ("test", 1)} <= marks


@examples(100)
@given(st.text(max_size=100))
def test_any_text_is_rows(text):
    for line, values in csv_rows(text):
        assert line >= 1 and any(values)
    assert layout_of([values for _, values in csv_rows(text)][:3]) is None or "," in text


def classes(tmp_path: Path, content: str) -> tuple[list[str], object, tuple[str, ...]]:
    for name in "abc":
        put(tmp_path / "pictures" / f"{name}.png", png(4, 4))
    put(tmp_path / "labels.csv", content)
    assert recognise(ModelFile.at(tmp_path)).id == "class_table"
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        return [sample.label for sample in data.samples([0, 1, 2])], data.feed(0, 3)["y"], data.about.classes


def test_a_column_of_labels(tmp_path):
    labels, y, names = classes(tmp_path, "id,breed\na,pug\nb,collie\nc,pug\n")
    assert (labels, names) == (["pug", "collie", "pug"], ("collie", "pug"))
    np.testing.assert_array_equal(y, [1, 0, 1])


def test_a_column_for_each_class(tmp_path):
    labels, y, names = classes(tmp_path, "filename, sun, rain\na.png, 1, 0\nb.png, 1, 1\nc.png, 0, 0\n")
    assert (labels, names) == (["sun", "sun, rain", ""], ("sun", "rain"))
    np.testing.assert_array_equal(y, [[1, 0], [1, 1], [0, 0]])


def test_one_column_for_each_class_and_one_class_each_is_a_class(tmp_path):
    labels, y, names = classes(tmp_path, "image,MEL,NV\na,1.0,0.0\nb,0.0,1.0\nc,1.0,0.0\n")
    assert (labels, names) == (["MEL", "NV", "MEL"], ("MEL", "NV"))
    np.testing.assert_array_equal(y, [0, 1, 0])


def test_splits_missing_images_and_empty_classes(tmp_path):
    put(tmp_path / "a.png", png(4, 4))
    put(tmp_path / "b.png", png(4, 4))
    put(tmp_path / "t.csv", "file,label,split\na.png,x,train\nb.png,,val\ngone.png,y,val\n")
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        assert data.about.splits == ("train", "val")
        problems = data.about.problems
        np.testing.assert_array_equal(data.feed(0, 3)["y"], [0, -1])
    assert any("b.png" in problem.sentence and "no label" in problem.sentence for problem in problems)
    assert any(problem.where == "gone.png" and "image is not" in problem.sentence for problem in problems)


def test_open_images_masks_take_the_size_of_their_image(tmp_path):
    put(tmp_path / "images" / "train" / "a.png", png(16, 12))
    put(tmp_path / "masks" / "train" / "a_m0_1.png", as_file(MASK * 255))
    header = "MaskPath,ImageID,LabelName,BoxID,BoxXMin,BoxXMax,BoxYMin,BoxYMax,PredictedIoU,Clicks"
    put(tmp_path / "train-annotations-object-segmentation.csv", f"{header}\na_m0_1.png,a,/m/1,1,0.2,0.6,0.1,0.5,0.9,\n")
    put(
        tmp_path / "train-annotations-human-imagelabels.csv",
        "ImageID,Source,LabelName,Confidence\na,verification,/m/1,1\na,verification,/m/2,0\n",
    )
    put(tmp_path / "class-descriptions-boxable.csv", "/m/1,Tree\n/m/2,Car\n")
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        (sample,) = data.samples([0])
    assert (sample.label, sample.split) == ("Tree", "train")
    (region,) = sample.marks
    assert isinstance(region, Region) and region.label == "Tree"
    np.testing.assert_array_equal(region.bits, np.kron(MASK, np.ones((2, 2), np.uint8)) > 0)
