"""Every annotation format gives the same boxes for the same picture, however it is packed, and survives damage."""

from __future__ import annotations

import re
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.data import open_data, recognise
from stethoscope.data.dataset import Box, Sample
from stethoscope.errors import BadInput, StethoscopeError, UnreadableFile
from stethoscope.types import ModelFile
from tests.data.annotated_sets import BOXES, FORMATS, SIZES, put
from tests.exploring import examples
from tests.tables import each

BUDGET = 1 << 30


def read(path: Path) -> tuple[list[Sample], tuple[str, ...], str]:
    with open_data(ModelFile.at(path), BUDGET) as data:
        return data.samples(range(data.about.rows)), data.about.classes, data.about.reader_id


def boxes(sample: Sample) -> list[tuple[str, float, float, float, float]]:
    found = [mark for mark in sample.marks if isinstance(mark, Box)]
    return [(one.label, *(round(number, 2) for number in (one.x, one.y, one.width, one.height))) for one in found]


def zipped(root: Path, target: Path, top: str = "") -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(root.rglob("*")):
            if path.is_file():
                packed.write(path, f"{top}{path.relative_to(root).as_posix()}")
    return target


@each("kind", FORMATS)
@each("packing", ["folder", "zip", "nested zip", "tar.gz"])
def test_boxes_are_the_same_in_every_format(tmp_path, kind, packing):
    root = tmp_path / "set"
    FORMATS[kind](root)
    path = root
    if packing.endswith("zip"):
        path = zipped(root, tmp_path / "set.zip", "My data (1)/" if packing == "nested zip" else "")
    elif packing == "tar.gz":
        path = tmp_path / "set.tar.gz"
        with tarfile.open(path, "w:gz") as packed:
            packed.add(root, "set")
    samples, classes, reader = read(path)
    assert reader == kind
    assert classes == ("cat", "dog")
    found = {Path(sample.name).stem: sample for sample in samples}
    assert set(found) == set(SIZES)
    for name, expected in BOXES.items():
        assert boxes(found[name]) == expected
        width, height = SIZES[name]
        assert found[name].values["image"].shape == (height, width, 3)
        assert found[name].problems == ()
    assert found["one"].label == "cat, dog"


@each("kind", FORMATS)
def test_one_damaged_image_is_a_sentence_and_the_rest_is_shown(tmp_path, kind):
    FORMATS[kind](tmp_path)
    image = next(tmp_path.rglob("one.png"))
    image.write_bytes(image.read_bytes()[:60])
    samples, _, _ = read(tmp_path)
    found = {Path(sample.name).stem: sample for sample in samples}
    assert any("one.png" in problem and "damaged" in problem for problem in found["one"].problems)
    assert found["two"].problems == ()
    assert len(found["two"].marks) == 1


@each("kind", FORMATS)
def test_without_images_marks_are_drawn_on_an_empty_canvas_that_says_so(tmp_path, kind):
    FORMATS[kind](tmp_path)
    for path in tmp_path.rglob("*.png"):
        path.unlink()
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        assert any("of the 2 images" in problem.sentence for problem in data.about.problems)
        samples = data.samples([0, 1])
        assert all(sample.canvas and sample.marks for sample in samples)
        with pytest.raises(BadInput, match="without the images"):
            data.feed(0, 2)


@each("kind", FORMATS)
def test_one_missing_image_is_named(tmp_path, kind):
    FORMATS[kind](tmp_path)
    next(tmp_path.rglob("two.png")).unlink()
    samples, _, _ = read(tmp_path)
    problems = {sample.canvas: sample.problems for sample in samples}
    if (
        kind == "open_images"
    ):  # Its tables speak of nine million images; those that are not here are counted, not shown.
        assert len(samples) == 1
    else:
        assert "image is not" in problems[True][0]
    assert problems[False] == ()


@each("kind", FORMATS)
def test_damaged_annotations_are_a_sentence_never_a_crash(tmp_path, kind):
    root = tmp_path / "whole"
    FORMATS[kind](root)
    texts = [path for path in root.rglob("*") if path.suffix in (".json", ".xml", ".csv", ".txt", ".yaml")]
    for at, path in enumerate(texts):
        for share in (0.15, 0.5, 0.9):
            broken = tmp_path / f"cut {at} {share}"
            shutil.copytree(root, broken)
            content = path.read_bytes()
            put(broken / path.relative_to(root), content[: int(len(content) * share)] + b"\xff\x00<&{")
            try:
                samples, _, _ = read(broken)
            except StethoscopeError as error:
                assert str(error)
                continue
            assert all(isinstance(sample, Sample) for sample in samples)
            assert {Path(sample.name).stem for sample in samples if "image" in sample.values} <= {*SIZES, "frame"}


WORDS = [
    b"1e309",
    b"-1",
    b"null",
    b"NaN",
    b"{}",
    b"[]",
    b'""',
    b"99999999999999999999",
    b"\x00",
    b"\xff",
    b"<",
    b'"',
    b",",
    b"../../x",
]


@examples(20)
@given(kind=st.sampled_from(sorted(FORMATS)), data=st.data())
def test_changed_annotations_are_read_or_refused_with_a_sentence(tmp_path_factory, kind, data):
    root = tmp_path_factory.mktemp("changed")
    FORMATS[kind](root)
    path = data.draw(
        st.sampled_from(sorted(path for path in root.rglob("*") if path.is_file() and path.suffix != ".png"))
    )
    content = bytearray(path.read_bytes())
    tokens = list(re.finditer(rb'[-\d.]+|"[^"]*"|[a-zA-Z]+', bytes(content)))
    for token in sorted(
        data.draw(st.lists(st.sampled_from(tokens), max_size=3, unique=True)), key=lambda one: -one.start()
    ):
        content[token.start() : token.end()] = data.draw(st.sampled_from(WORDS))
    path.write_bytes(content)
    try:
        with open_data(ModelFile.at(root), BUDGET) as opened:
            samples = opened.samples(range(opened.about.rows))
            opened.columns(0, opened.about.rows)
    except StethoscopeError as error:
        assert str(error)
    else:
        assert all(isinstance(sample, Sample) for sample in samples)


@each("kind", FORMATS)
def test_marks_can_be_had_without_pixels(tmp_path, kind):
    FORMATS[kind](tmp_path)
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        whole = {sample.name: boxes(sample) for sample in data.samples([0, 1])}
        outlined = data.outlines([0, 1])
    assert {sample.name: boxes(sample) for sample in outlined} == whole
    assert all("image" not in sample.values for sample in outlined)


def test_hostile_names_are_kept_as_text_and_found(tmp_path):
    name = "a <script>alert(1)</script> [x](javascript:1) ünïcode.png"
    FORMATS["coco"](tmp_path)
    path = next(tmp_path.rglob("instances_train.json"))
    path.write_text(path.read_text().replace("one.png", name))
    next(tmp_path.rglob("one.png")).rename(tmp_path / "train" / name.replace("/", "_"))
    path.write_text(path.read_text().replace(name, name.replace("/", "_")))
    samples, _, _ = read(tmp_path)
    assert any("<script>" in sample.name and sample.marks and not sample.canvas for sample in samples)


def test_a_truncated_zip_says_so(tmp_path):
    FORMATS["coco"](tmp_path / "set")
    path = zipped(tmp_path / "set", tmp_path / "set.zip")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(UnreadableFile, match=r"set\.zip.*incomplete"):
        open_data(ModelFile.at(path), BUDGET)


def test_several_kinds_together_are_named(tmp_path):
    FORMATS["coco"](tmp_path / "a")
    FORMATS["voc"](tmp_path / "b")
    with open_data(ModelFile.at(tmp_path), BUDGET) as data:
        assert any("Pascal VOC" in note for note in data.about.notes)


@pytest.mark.parametrize(
    ("place", "reader"),
    [
        ("000_voc_dataset1", "voc"),
        ("001_labelme_dataset", "labelme_xml"),
        ("002_open_images_dataset", "open_images"),
        ("003_roboflow_dataset/coco", "coco"),
        ("003_roboflow_dataset/createml", "createml"),
        ("003_roboflow_dataset/multiclass", "class_table"),
        ("003_roboflow_dataset/voc", "voc"),
        ("003_roboflow_dataset/yolo", "yolo"),
        ("003_roboflow_dataset/yolo_obb", "yolo"),
        ("004_kitti_detection", "kitti"),
        ("005_cvat_dataset", "cvat"),
        ("005_cvat_dataset/for_video", "cvat"),
        ("006_annotations", "voc"),
        ("007_data/raccoon_labels.csv", "box_table"),
        ("008_instance_segmentation", "yolo"),
    ],
)
def test_real_sets_are_drawn(shared_dir, place, reader):
    file = ModelFile.at(shared_dir / "real" / "annotations" / place)
    assert recognise(file).id == reader
    with open_data(file, BUDGET) as data:
        samples = data.samples(range(min(60, data.about.rows)))
    assert samples
    assert all("image" in sample.values for sample in samples)
    assert any(sample.marks or sample.label for sample in samples)
