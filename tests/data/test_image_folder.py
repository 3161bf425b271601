"""Plain images: classes by folder as Keras reads them, splits, odd files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from stethoscope.data import open_data, recognise
from stethoscope.data.images.image_dataset import ImageDataset
from stethoscope.errors import TooLarge, UnsafeFile
from stethoscope.types import ModelFile
from tests.data.annotated_sets import png, put
from tests.data.test_image_decoding import bomb_png

BUDGET = 1 << 30


def opened(path: Path, budget: int = BUDGET) -> ImageDataset:
    assert recognise(ModelFile.at(path)).id == "images"
    data = open_data(ModelFile.at(path), budget)
    assert isinstance(data, ImageDataset)
    return data


def test_folders_are_classes(tmp_path):
    for number in range(3):
        put(tmp_path / "cats" / f"{number}.png", png(8, 6))
        put(tmp_path / "dogs" / f"{number}.png", png(8, 6))
    with opened(tmp_path) as data:
        assert data.about.classes == ("cats", "dogs")
        assert data.about.fields[0].shape == (6, 8, 3)
        feed = data.feed(0, 6)
        assert feed["x"].shape == (6, 6, 8, 3)
        np.testing.assert_array_equal(feed["y"], [0, 0, 0, 1, 1, 1])
        assert [sample.label for sample in data.samples([5, 0, 99])] == ["dogs", "cats"]
        assert list(data.columns(0, 4, ["label"])["label"]) == ["cats"] * 3 + ["dogs"]


@pytest.mark.parametrize("top", ["", "my set/", "a/b/"])
def test_splits_are_recognised_below_any_top_folder(tmp_path, top):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        for split in ("train", "validation"):
            for label in ("0", "1", "2"):
                packed.writestr(f"{top}{split}/{label}/x.png", png(4, 4))
        packed.writestr("__MACOSX/._x.png", b"junk")
        packed.writestr(f"{top}.DS_Store", b"junk")
    with opened(tmp_path / "a.zip") as data:
        assert data.about.rows == 6
        assert data.about.splits == ("train", "validation")
        assert data.about.classes == ("0", "1", "2")
        assert data.samples([4])[0].split == "validation"


def test_classes_above_the_splits_and_a_folder_called_images(tmp_path):
    for split in ("train", "test"):
        for label in ("oak", "elm"):
            put(tmp_path / label / split / "images" / "1.png", png(4, 4))
    with opened(tmp_path) as data:
        assert (data.about.classes, data.about.splits) == (("elm", "oak"), ("test", "train"))


def test_a_class_called_train_is_a_class(tmp_path):
    for label in ("bus", "car", "train"):
        put(tmp_path / label / "1.png", png(4, 4))
        put(tmp_path / label / ".ipynb_checkpoints" / "1-checkpoint.png", png(4, 4))
    with opened(tmp_path) as data:
        assert (data.about.rows, data.about.classes, data.about.splits) == (3, ("bus", "car", "train"), ())


def test_a_split_beside_other_folders_is_a_split(tmp_path):
    for name in ("train/a/1.png", "train/b/1.png", "extra/a/2.png", "more/b/2.png"):
        put(tmp_path / name, png(4, 4))
    with opened(tmp_path) as data:
        assert data.about.splits == ("train",)


def test_a_flat_folder_has_no_labels_and_says_so(tmp_path):
    put(tmp_path / "pictures" / "a.png", png(4, 4))
    put(tmp_path / "pictures" / "b.png", png(5, 4))
    with opened(tmp_path) as data:
        assert data.about.classes == ()
        assert "no labels" in data.about.notes[0]
        feed = data.feed(0, 2)
        assert "y" not in feed
        assert [image.shape for image in feed["x"]] == [(4, 4, 3), (4, 5, 3)]
        assert data.about.fields[0].shape == (4, None, 3)


def test_one_image_alone(tmp_path):
    put(tmp_path / "holiday.png", png(7, 3))
    with opened(tmp_path / "holiday.png") as data:
        assert data.about.rows == 1
        assert data.samples([0])[0].values["image"].shape == (3, 7, 3)


def test_an_empty_class_and_a_class_missing_from_a_split_are_named(tmp_path):
    put(tmp_path / "train" / "cat" / "1.png", png(4, 4))
    put(tmp_path / "train" / "dog" / "1.png", png(4, 4))
    put(tmp_path / "val" / "cat" / "1.png", png(4, 4))
    (tmp_path / "train" / "cow").mkdir()
    with opened(tmp_path) as data:
        problems = data.about.problems
    assert any(problem.where == "val" and "'dog' has no image" in problem.sentence for problem in problems)
    assert any("'cow' holds no image" in problem.sentence for problem in problems)


def test_bad_images_are_sentences_and_left_out_of_what_is_fed(tmp_path):
    put(tmp_path / "a" / "good.png", png(4, 4))
    put(tmp_path / "a" / "text.png", b"not an image")
    put(tmp_path / "b" / "bomb.png", bomb_png(60_000, 60_000))
    put(tmp_path / "b" / "good.png", png(4, 4))
    put(tmp_path / "b" / "raw.heic", b"....ftypheic")
    with opened(tmp_path) as data:
        samples = data.samples(range(4))
        assert [len(sample.problems) for sample in samples] == [0, 1, 1, 0]
        assert "3,600,000,000" in samples[2].problems[0]
        feed = data.feed(0, 4)
        assert feed["x"].shape == (2, 4, 4, 3)
        np.testing.assert_array_equal(feed["y"], [0, 1])
        assert data.columns(0, 4, ["image"])["image"][1] is None
        assert any(".heic" in note for note in data.about.notes)
        assert data.about.problem_count >= 2


def test_an_image_outside_the_class_folders_has_no_label(tmp_path):
    put(tmp_path / "cat" / "1.png", png(4, 4))
    put(tmp_path / "dog" / "1.png", png(4, 4))
    put(tmp_path / "stray.png", png(4, 4))
    with opened(tmp_path) as data:
        assert [problem.where for problem in data.about.problems] == ["stray.png"]
        np.testing.assert_array_equal(sorted(data.feed(0, 3)["y"]), [-1, 0, 1])


def test_how_an_image_was_stored_is_a_remark_and_no_problem(tmp_path):
    turned = Image.new("RGB", (8, 6))
    exif = turned.getexif()
    exif[0x0112] = 6
    turned.save(tmp_path / "turned.jpg", exif=exif)
    with opened(tmp_path) as data:
        sample = data.samples([0])[0]
    assert sample.problems == ()
    assert "orientation" in sample.remarks[0]


def test_more_than_the_budget_at_once_is_refused(tmp_path):
    for number in range(20):
        put(tmp_path / f"{number}.png", png(64, 64))
    with opened(tmp_path, budget=200_000) as data:
        assert len(data.samples([0])) == 1
        with pytest.raises(TooLarge, match="at image"):
            data.feed(0, 20)


def test_a_link_in_a_folder_is_refused(tmp_path):
    put(tmp_path / "set" / "a.png", png(4, 4))
    (tmp_path / "set" / "b.png").symlink_to("/etc/passwd")
    with pytest.raises(UnsafeFile, match="link"):
        open_data(ModelFile.at(tmp_path / "set"), BUDGET)
