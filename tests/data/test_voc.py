"""Pascal VOC: coordinates from 1 or from 0, parts, flags, class and object masks, XML that attacks."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from stethoscope.data import open_data
from stethoscope.data.dataset import Box, Polygon, Region
from stethoscope.data.images.bounded_text import parse_xml
from stethoscope.data.images.image_dataset import ImageDataset
from stethoscope.data.images.mask_meaning import VOC_CLASSES, packed, voc_palette
from stethoscope.errors import StethoscopeError, UnreadableFile, UnsafeFile
from stethoscope.types import ModelFile
from tests.data import annotated_sets
from tests.data.annotated_sets import png, put
from tests.exploring import examples


def opened(path: Path) -> ImageDataset:
    data = open_data(ModelFile.at(path), 1 << 30)
    assert isinstance(data, ImageDataset) and data.about.reader_id == "voc"
    return data


def annotation(objects: str, size: tuple[int, int] = (20, 10)) -> str:
    return f"<annotation><size><width>{size[0]}</width><height>{size[1]}</height></size>{objects}</annotation>"


def box(name: str, left: object, top: object, right: object, bottom: object, more: str = "") -> str:
    sides = f"<xmin>{left}</xmin><ymin>{top}</ymin><xmax>{right}</xmax><ymax>{bottom}</ymax>"
    return f"<object><name>{name}</name>{more}<bndbox>{sides}</bndbox></object>"


def png_of(array: np.ndarray, palette: bool = False) -> bytes:
    image = Image.fromarray(array)
    if palette:
        image.putpalette(voc_palette().ravel().tolist())
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def test_pixels_count_from_one_unless_a_box_touches_zero(tmp_path):
    put(tmp_path / "one" / "a.png", png(20, 10))
    put(tmp_path / "one" / "a.xml", annotation(box("cat", 1, 1, 20, 10)))
    put(tmp_path / "zero" / "a.png", png(20, 10))
    put(tmp_path / "zero" / "a.xml", annotation(box("cat", 0, 0, 20, 10)))
    for place in ("one", "zero"):
        with opened(tmp_path / place) as data:
            (sample,) = data.samples([0])
        assert sample.marks == (Box("cat", 0.0, 0.0, 20.0, 10.0),)
        assert sample.problems == ()


def test_flags_parts_outlines_and_turned_boxes(tmp_path):
    part = "<part><name>head</name><bndbox><xmin>3</xmin><ymin>3</ymin><xmax>4</xmax><ymax>4</ymax></bndbox></part>"
    outline = "<object><name>leaf</name><polygon><x1>1</x1><y1>1</y1><x2>5</x2><y2>1</y2><x3>5</x3><y3>6</y3></polygon></object>"
    turned = "<object><name>ship</name><robndbox><cx>10</cx><cy>5</cy><w>4</w><h>2</h><angle>1.5707963</angle></robndbox></object>"
    person = box("person", 2, 2, 9, 9, "<difficult>1</difficult><truncated>1</truncated><pose>Left</pose>" + part)
    put(tmp_path / "a.png", png(20, 10))
    put(tmp_path / "a.xml", annotation(person + outline + turned))
    with opened(tmp_path) as data:
        first, head, leaf, ship = data.samples([0])[0].marks
    assert first.details == {"difficult": True, "truncated": True, "pose": "Left"}
    assert isinstance(head, Box) and head.label == "person head" and (head.x, head.width) == (2.0, 2.0)
    assert isinstance(leaf, Polygon) and leaf.rings == (((1.0, 1.0), (5.0, 1.0), (5.0, 6.0)),)
    assert isinstance(ship, Box) and round(ship.angle_degrees) == 90 and (ship.x, ship.y) == (8.0, 4.0)


def test_splits_come_from_the_lists(tmp_path):
    annotated_sets.voc(tmp_path)
    with opened(tmp_path) as data:
        assert {Path(sample.name).stem: sample.split for sample in data.samples([0, 1])} == {
            "one": "train",
            "two": "val",
        }


def test_what_is_wrong_in_one_file_is_named_there(tmp_path):
    annotated_sets.voc(tmp_path)
    bad = box("cat", "x", 1, 2, 3) + "<object><bndbox/></object>" + box("cat", 30, 1, 60, 90) + box("cat", 9, 9, 3, 12)
    put(tmp_path / "Annotations" / "one.xml", annotation(bad, (40, 30)))
    put(tmp_path / "Annotations" / "two.xml", "<annotation><size>")
    with opened(tmp_path) as data:
        one, two = data.samples([0, 1])
        assert any("two.xml" in problem.where for problem in data.about.problems)
    assert any("<xmin>" in problem for problem in one.problems)
    assert any("has no <name>" in problem for problem in one.problems)
    assert any("40 × 30" in problem for problem in one.problems)
    assert any("no area" in problem for problem in one.problems)
    assert "malformed" in two.problems[0] and two.values["image"].shape == (50, 24, 3)


@pytest.mark.parametrize("form", ["palette", "colours"])
def test_masks_are_class_numbers_and_objects(tmp_path, form):
    classes, objects = np.zeros((10, 20), np.uint8), np.zeros((10, 20), np.uint8)
    classes[1:4, 1:4], classes[5:9, 10:18], classes[0, :] = 15, 15, 255
    objects[1:4, 1:4], objects[5:9, 10:18] = 1, 2
    palette = voc_palette()
    put(tmp_path / "JPEGImages" / "a.png", png(20, 10))
    for folder, mask in (("SegmentationClass", classes), ("SegmentationObject", objects)):
        put(tmp_path / folder / "a.png", png_of(mask, palette=True) if form == "palette" else png_of(palette[mask]))
    with opened(tmp_path) as data:
        (sample,) = data.samples([0])
        assert data.about.classes == VOC_CLASSES
        feed = data.feed(0, 1)
    regions = [mark for mark in sample.marks if isinstance(mark, Region)]
    assert [region.label for region in regions] == ["person", "person"]
    small, large = sorted(regions, key=lambda region: int(region.bits.sum()))
    assert (int(small.bits.sum()), int(large.bits.sum())) == (9, 32)
    assert large.bits[5, 10] and not large.bits[1, 1]
    np.testing.assert_array_equal(feed["y"][0], classes)


def test_the_palette_is_vocs():
    palette = voc_palette()
    known = {1: (128, 0, 0), 2: (0, 128, 0), 15: (192, 128, 128), 20: (0, 64, 128), 255: (224, 224, 192)}
    assert {number: tuple(int(part) for part in palette[number]) for number in known} == known
    assert len(set(packed(palette).tolist())) == 256


BOMB = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><annotation><size/>&c;</annotation>'
READS = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><annotation><size/><filename>&x;</filename></annotation>'


@pytest.mark.parametrize("content", [BOMB, READS, "<!DOCTYPE annotation SYSTEM 'http://127.0.0.1/x.dtd'><annotation/>"])
def test_document_types_are_refused_in_that_file_only(tmp_path, content):
    annotated_sets.voc(tmp_path)
    put(tmp_path / "Annotations" / "one.xml", content)
    with pytest.raises(UnsafeFile, match="DOCTYPE"):
        parse_xml(content.encode(), "one.xml")
    with opened(tmp_path) as data:
        one, two = data.samples([0, 1])
    assert "DOCTYPE" in one.problems[0] and one.marks == ()
    assert len(two.marks) == 1


def test_deep_nesting_is_refused():
    with pytest.raises(UnreadableFile, match="nested"):
        parse_xml(b"<a>" * 5_000, "deep.xml")


@examples(100)
@given(st.binary(max_size=80) | st.text(alphabet="<>/ab=\"'&;![]-", max_size=80).map(str.encode))
def test_any_bytes_are_a_tree_or_a_sentence(content):
    try:
        assert parse_xml(content, "a.xml") is not None
    except StethoscopeError as error:
        assert "a.xml" in str(error)
