"""Rows of data as a page asks for them."""

from __future__ import annotations

import io
import json
import wave
import zipfile

import numpy as np
import pytest
from PIL import Image

from stethoscope.codec import decode, plain
from stethoscope.data.view.shown import ShownArray, ShownCurve, ShownPicture, ShownSound
from stethoscope.errors import BadSetting, StethoscopeError
from stethoscope.task import TaskContext
from stethoscope.tasks.read_data import TASK, RowsRead
from stethoscope.types import Budget, ModelFile


def read(tmp_path, path, **params):
    folder = tmp_path / f"job-{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    context = TaskContext(
        files={"data": ModelFile.at(path)},
        params=params,
        folder=folder,
        budget=Budget(1 << 30, 10),
        report=lambda *_, **__: None,
        memory=None,
        open_model=None,
    )
    return decode(RowsRead, json.loads(json.dumps(plain(TASK.run(context)), allow_nan=False))), folder / "out"


@pytest.fixture
def images(tmp_path):
    path = tmp_path / "images.npz"
    x = np.zeros((30, 8, 6, 1), np.float32)
    x[:, 2, 3] = 1
    np.savez(path, x=x, y=np.arange(30) % 3)
    return path


def photos(path, members=()):
    with zipfile.ZipFile(path, "w") as made:
        for name, size in (("cat/a.jpg", (64, 32)), ("dog/b.jpg", (400, 800))):
            content = io.BytesIO()
            Image.new("RGB", size, (200, 30, 30)).save(content, "JPEG")
            made.writestr(name, content.getvalue())
        for name, content in members:
            made.writestr(name, content)
    return path


def test_images_come_as_png_files_with_their_labels(tmp_path, images):
    value, out = read(tmp_path, images, start=3, count=4)
    assert value.places == (3, 4, 5, 6)
    assert [one.label for one in value.samples] == ["0", "1", "2", "0"]
    first = value.samples[0]
    shown = Image.open(out / first.picture)
    assert (shown.format, shown.size, (first.width, first.height)) == ("PNG", (6, 8), (6, 8))
    assert np.asarray(shown)[2, 3] == 255 and np.asarray(shown)[0, 0] == 0
    assert value.about.rows == value.matches == 30


def test_a_class_can_be_asked_for_and_is_offered(tmp_path, images):
    value, _ = read(tmp_path, images, only={"class": "2"}, count=60)
    assert value.places == tuple(range(2, 30, 3))
    assert value.classes == ("0", "1", "2")


def test_thumbnails_are_small_and_one_row_alone_is_large(tmp_path):
    path = photos(tmp_path / "photos.zip")
    value, out = read(tmp_path, path, thumbnail=100)
    sizes = [Image.open(out / one.picture).size for one in value.samples]
    assert sizes == [(64, 32), (50, 100)]
    assert [(one.width, one.height, one.label) for one in value.samples] == [(64, 32, "cat"), (400, 800, "dog")]
    value, out = read(tmp_path, path, full=1)
    assert value.places == (1,)
    assert Image.open(out / value.samples[0].picture).size == (400, 800)


def test_a_damaged_image_is_a_problem_of_its_row_only(tmp_path):
    value, _ = read(tmp_path, photos(tmp_path / "photos.zip", [("dog/c.jpg", b"\xff\xd8\xff no image")]))
    assert [bool(one.problems) for one in value.samples] == [False, False, True]
    assert value.samples[2].picture is None
    value, _ = read(tmp_path, tmp_path / "photos.zip", only={"problem": True})
    assert value.places == (2,)


def test_marks_are_told_in_pixels_and_areas_as_a_picture(tmp_path):
    annotations = {
        "images": [{"id": 1, "file_name": "a.png", "width": 20, "height": 10}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [
            {
                "id": 1,
                "image_id": 1,
                "category_id": 1,
                "bbox": [2, 3, 8, 4],
                "iscrowd": 0,
                "area": 32,
                "segmentation": [],
            },
            {
                "id": 2,
                "image_id": 1,
                "category_id": 1,
                "bbox": [0, 0, 2, 10],
                "iscrowd": 1,
                "area": 20,
                "segmentation": {"size": [10, 20], "counts": [0, 20, 180]},
            },
        ],
    }
    picture = io.BytesIO()
    Image.new("L", (20, 10)).save(picture, "PNG")
    path = tmp_path / "coco.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("annotations.json", json.dumps(annotations))
        made.writestr("a.png", picture.getvalue())
    value, out = read(tmp_path, path)
    (sample,) = value.samples
    boxes = [mark for mark in sample.marks if mark.type == "box"]
    assert [getattr(boxes[0], name) for name in ("label", "x", "y", "width", "height")] == ["cat", 2, 3, 8, 4]
    place = next(at for at, mark in enumerate(sample.marks) if mark.type == "region")
    index = np.asarray(Image.open(out / sample.areas))[..., 0]
    assert set(np.unique(index)) == {0, place + 1}
    assert (index[:, :2] == place + 1).all() and not index[:, 2:].any()


def test_a_table_comes_as_a_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,kind\n" + "1,x,yes\n2.5,,no\n" * 20)
    value, _ = read(tmp_path, path, count=2)
    assert [column.name for column in value.table.columns] == ["a", "b", "kind"]
    assert value.table.rows[0][0] == 1 and value.table.rows[0][2] == "yes"
    assert not value.samples
    value, _ = read(tmp_path, path, full=1)
    assert {one.field: getattr(one, "number", None) for one in value.samples[0].values}["a"] == 2.5


def test_sounds_can_be_played_and_seen(tmp_path):
    content = io.BytesIO()
    with wave.open(content, "wb") as made:
        made.setnchannels(1)
        made.setsampwidth(2)
        made.setframerate(8_000)
        made.writeframes((np.sin(np.arange(4_000)) * 9_000).astype("<i2").tobytes())
    path = tmp_path / "s.wav"
    path.write_bytes(content.getvalue())
    value, out = read(tmp_path, path)
    (sound,) = [one for one in value.samples[0].values if isinstance(one, ShownSound)]
    with wave.open(str(out / sound.sound)) as written:
        assert (written.getframerate(), written.getnframes()) == (8_000, 4_000)
    assert np.load(out / sound.file).shape[:2] == (1, 2)
    assert sound.seconds == 0.5


def test_what_a_model_gets_is_shown_beside(tmp_path, images):
    steps = [{"step": "scale", "of": "x", "factor": 2.0, "offset": -1.0}]
    value, _ = read(tmp_path, images, count=2, preparation=steps)
    fed = {one.field: one for one in value.samples[0].fed}
    assert (fed["x"].min, fed["x"].max, type(fed["x"])) == (-1, 1, ShownPicture)


def test_values_that_are_no_numbers_are_told_by_name(tmp_path):
    path = tmp_path / "n.npz"
    np.savez(path, x=np.array([[np.nan, np.inf, -np.inf, 1.0]] * 3), y=np.arange(3))
    value, _ = read(tmp_path, path)
    (told,) = [one for one in value.samples[0].values if one.field == "x"]
    assert told.nonfinite == 3 and "nan, inf, -inf, 1" in told.text


@pytest.mark.parametrize(
    "params",
    [{"count": 0}, {"start": -1}, {"places": "all"}, {"only": {"colour": "red"}}, {"full": -1}, {"thumbnail": 1e9}],
)
def test_settings_without_sense_are_refused(tmp_path, images, params):
    with pytest.raises(BadSetting):
        read(tmp_path, images, **params)


def test_other_content_is_a_sentence(tmp_path):
    path = tmp_path / "x.npz"
    path.write_bytes(b"PK\x03\x04 not at all")
    with pytest.raises(StethoscopeError, match=r"x\.npz"):
        read(tmp_path, path)


def test_of_many_curves_the_first_few_are_drawn(tmp_path):
    path = tmp_path / "curves.npz"
    np.savez(path, **{f"c{at}": np.zeros((4, 12, 2), np.float32) for at in range(6)})
    value, _ = read(tmp_path, path, count=1)
    assert [type(one) for one in value.samples[0].values] == [ShownCurve] * 4 + [ShownArray] * 2
    value, _ = read(tmp_path, path, full=0)
    assert {type(one) for one in value.samples[0].values} == {ShownCurve}
