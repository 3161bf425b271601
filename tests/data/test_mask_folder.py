"""Images with masks beside them: how they pair, what their pixels mean, what is fed."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from stethoscope.data import open_data, recognise
from stethoscope.data.dataset import Region
from stethoscope.data.images.image_dataset import ImageDataset
from stethoscope.types import ModelFile
from tests.data.annotated_sets import png, put
from tests.tables import each

MASK = np.zeros((6, 8), np.uint8)
MASK[1:3, 2:5] = 1


def as_file(array: np.ndarray, kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.fromarray(array).save(out, kind)
    return out.getvalue()


def photograph(seed: int) -> bytes:
    return as_file(np.random.default_rng(seed).integers(0, 255, (6, 8, 3), np.uint8))


def opened(path: Path) -> ImageDataset:
    assert recognise(ModelFile.at(path)).id == "masks"
    data = open_data(ModelFile.at(path), 1 << 30)
    assert isinstance(data, ImageDataset)
    return data


@each(
    ("image", "mask"),
    [
        ("images/a.png", "masks/a.png"),
        ("train/images/a.png", "train/masks/a.png"),
        ("a.png", "a_mask.png"),
        ("train_images/a.png", "train_masks/a.png"),
        ("images/a.png", "labels/a_L.png"),
        ("images/a.jpg", "annotations/trimaps/a.png"),
        ("leftImg8bit/train/x/a_leftImg8bit.png", "gtFine/train/x/a_gtFine_labelIds.png"),
        ("CamVid/train/a.png", "CamVid/trainannot/a.png"),
    ],
)
def test_pairs_are_found_in_every_layout(tmp_path, image, mask):
    put(tmp_path / image, photograph(0))
    put(tmp_path / mask, as_file(MASK * 255))
    put(tmp_path / image.replace("a.", "b.").replace("a_", "b_"), photograph(1))
    put(tmp_path / mask.replace("/a", "/b").replace("a_mask", "b_mask"), as_file(MASK * 0))
    with opened(tmp_path) as data:
        samples = data.samples(range(data.about.rows))
        assert [sample.name for sample in samples] == sorted(sample.name for sample in samples) and len(samples) == 2
        assert data.about.classes == ("background", "object")
        np.testing.assert_array_equal(data.feed(0, 2)["y"][0], MASK)
    (region,) = samples[0].marks
    assert isinstance(region, Region)
    np.testing.assert_array_equal(region.bits, MASK == 1)
    assert samples[1].marks == ()


def test_numbers_are_classes_with_names_from_a_list(tmp_path):
    mask = MASK.copy()
    mask[5, :], mask[0, 0] = 2, 255
    put(tmp_path / "images" / "a.png", photograph(0))
    put(tmp_path / "masks" / "a.png", as_file(mask))
    put(tmp_path / "classes.txt", "sky\nroad\ntree\n")
    with opened(tmp_path) as data:
        (sample,) = data.samples([0])
        assert data.about.classes == ("sky", "road", "tree")
        assert [mark.label for mark in sample.marks] == ["road", "tree"]
        np.testing.assert_array_equal(data.feed(0, 1)["y"][0], mask)


def test_colours_are_classes(tmp_path):
    colours = np.zeros((6, 8, 3), np.uint8)
    colours[1:3, 2:5], colours[4, :] = (128, 64, 128), (0, 0, 142)
    put(tmp_path / "images" / "a.png", photograph(0))
    put(tmp_path / "masks" / "a.png", as_file(colours))
    put(tmp_path / "class_dict.csv", "name,r,g,b\nvoid,0,0,0\nroad,128,64,128\ncar,0,0,142\n")
    with opened(tmp_path) as data:
        (sample,) = data.samples([0])
        assert [(mark.label, int(mark.bits.sum())) for mark in sample.marks] == [("road", 6), ("car", 8)]
        assert set(np.unique(data.feed(0, 1)["y"])) == {0, 1, 2}


def test_masks_of_single_objects_are_put_together(tmp_path):
    for name in ("n1", "n2"):
        put(tmp_path / name / "images" / f"{name}.png", photograph(0))
        for row in range(3):
            mask = np.zeros((6, 8), np.uint8)
            mask[row, :3] = 255
            put(tmp_path / name / "masks" / f"{name}{row}abc.png", as_file(mask))
    with opened(tmp_path) as data:
        assert data.about.rows == 2
        assert len(data.samples([1])[0].marks) == 3
        assert data.feed(0, 2)["y"].sum() == 18


def test_a_missing_and_a_wrong_mask_are_named(tmp_path):
    for number in range(4):
        put(tmp_path / "images" / f"{number}.png", photograph(number))
        put(tmp_path / "masks" / f"{number}.png", as_file(MASK * 255))
    put(tmp_path / "images" / "4.png", photograph(4))
    put(tmp_path / "masks" / "1.png", as_file(np.zeros((3, 3), np.uint8)))
    put(tmp_path / "masks" / "2.png", b"broken")
    with opened(tmp_path) as data:
        samples = data.samples(range(5))
        assert any(problem.where.endswith("4.png") for problem in data.about.problems)
        assert len(data.feed(0, 5)["x"]) == 2
    assert "8 × 6 pixels, got 3 × 3" in samples[1].problems[0]
    assert "2.png" in samples[2].problems[0]
    assert len(samples[3].marks) == 1


def test_classes_called_mask_are_no_masks(tmp_path):
    for label in ("mask", "no_mask"):
        for number in range(3):
            put(tmp_path / label / f"{number}.png", photograph(number))
    assert recognise(ModelFile.at(tmp_path)).id == "images"


def test_compressed_black_and_white_masks_are_split(tmp_path):
    large = np.kron(MASK * 255, np.ones((16, 16), np.uint8))
    put(tmp_path / "images" / "a.png", png(*large.shape[::-1]))
    put(tmp_path / "masks" / "a.jpg", as_file(large, "JPEG"))
    with opened(tmp_path) as data:
        assert np.mean(data.feed(0, 1)["y"][0] != large // 255) < 0.01
