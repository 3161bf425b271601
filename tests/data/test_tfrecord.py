"""TFRecord files, written here byte by byte; that TensorFlow's own writer agrees is tried where it is there."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.data import recognise
from stethoscope.data.dataset import Box
from stethoscope.data.streams.tf_records import read_example
from stethoscope.errors import StethoscopeError
from stethoscope.models.containers.record_framing import masked
from stethoscope.models.containers.wire import encode_bytes, encode_varint
from tests.data.opened import opened, put
from tests.exploring import examples


def feature(value) -> bytes:
    if isinstance(value, bytes | str):
        value = [value]
    values = np.atleast_1d(np.asarray(value)) if not isinstance(value, list) else value
    if isinstance(values, list) and values and isinstance(values[0], bytes | str):
        encoded = [one.encode() if isinstance(one, str) else one for one in values]
        return encode_bytes(1, b"".join(encode_bytes(1, one) for one in encoded))
    numbers = np.asarray(values)
    if numbers.dtype.kind == "f":
        return encode_bytes(2, encode_bytes(1, numbers.astype("<f4").tobytes()))
    packed = b"".join(encode_varint(int(one) & (1 << 64) - 1) for one in numbers)
    return encode_bytes(3, encode_bytes(1, packed))


def features(**values) -> bytes:
    entries = (
        encode_bytes(1, name.replace("__", "/").encode()) + encode_bytes(2, feature(value))
        for name, value in values.items()
    )
    return b"".join(encode_bytes(1, entry) for entry in entries)


def example(**values) -> bytes:
    return encode_bytes(1, features(**values))


def records(*payloads: bytes) -> bytes:
    made = b""
    for payload in payloads:
        head = struct.pack("<Q", len(payload))
        made += head + struct.pack("<I", masked(head)) + payload + struct.pack("<I", masked(payload))
    return made


def png(height: int = 10, width: int = 20) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(np.zeros((height, width, 3), np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def numbered(count: int) -> list[bytes]:
    return [example(x=np.array([place, 0.5]), age=-place, label=place % 3, name=f"n{place}") for place in range(count)]


def test_features_become_fields(tmp_path):
    with opened(put(tmp_path, "t.tfrecord", records(*numbered(12)))) as data:
        assert data.about.rows == 12 and data.about.rows_exact
        feed = data.feed(0, 4)
        assert feed["x"].tolist() == [[0, 0.5], [1, 0.5], [2, 0.5], [3, 0.5]]
        assert feed["y"].tolist() == [0, 1, 2, 0] and feed["age"].tolist() == [0, -1, -2, -3]
        assert str(data.samples([3])[0].values["name"]) == "n3"


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress], ids=["gzip", "zlib"])
def test_compressed_files(tmp_path, pack):
    with opened(put(tmp_path, "t.tfrecord", pack(records(*numbered(5))))) as data:
        assert data.about.rows == 5 and data.samples([4])[0].label == "1"


def test_encoded_images_with_relative_boxes_in_pixels(tmp_path):
    record = example(
        image__encoded=png(),
        image__filename="a.png",
        image__height=10,
        image__width=20,
        image__object__bbox__xmin=np.array([0.1, 0.5]),
        image__object__bbox__xmax=np.array([0.3, 1.0]),
        image__object__bbox__ymin=np.array([0.2, 0.0]),
        image__object__bbox__ymax=np.array([0.4, 0.5]),
        image__object__class__text=["cat", "dog"],
        image__object__class__label=np.array([1, 2]),
    )
    with opened(put(tmp_path, "t.record", records(record))) as data:
        sample = data.samples([0])[0]
        assert sample.name == "a.png" and sample.values["image/encoded"].shape == (10, 20, 3)
        first, second = sample.marks
        assert isinstance(first, Box) and (first.label, second.label) == ("cat", "dog")
        np.testing.assert_allclose([first.x, first.y, first.width, first.height], [2, 2, 4, 2], atol=1e-5)
        np.testing.assert_allclose([second.x, second.y, second.width, second.height], [10, 0, 10, 5], atol=1e-5)
        assert data.feed(0, 1)["x"].shape == (1, 10, 20, 3)


def test_raw_pixels_are_shaped_by_the_sizes_beside_them(tmp_path):
    pixels = np.arange(4 * 6 * 3, dtype=np.uint8)
    rows = [example(image_raw=pixels.tobytes(), height=4, width=6, depth=3, label=place) for place in range(3)]
    with opened(put(tmp_path, "t.tfrecords", records(*rows))) as data:
        np.testing.assert_array_equal(data.samples([1])[0].values["image_raw"], pixels.reshape(4, 6, 3))
        assert data.feed(0, 3)["x"].shape == (3, 4, 6, 3) and data.feed(0, 3)["y"].tolist() == [0, 1, 2]


def test_sequence_examples_are_steps_over_time(tmp_path):
    def row(steps: int) -> bytes:
        lists = encode_bytes(1, b"frames") + encode_bytes(
            2, b"".join(encode_bytes(1, feature(np.array([one, 2.0]))) for one in range(steps))
        )
        return encode_bytes(1, features(label=1)) + encode_bytes(2, encode_bytes(1, lists))

    with opened(put(tmp_path, "t.tfrecord", records(row(3), row(5)))) as data:
        assert [one.values["frames"].shape for one in data.samples([0, 1])] == [(3, 2), (5, 2)]
        assert data.about.field("frames").kind == "sequence"


def test_a_damaged_record_is_said_and_the_rest_is_shown(tmp_path):
    content = bytearray(records(*numbered(6)))
    content[30] ^= 1
    with opened(put(tmp_path, "t.tfrecord", bytes(content[:-3]))) as data:
        samples = data.samples(range(6))
        assert "checksum" in samples[0].problems[0] and not samples[0].values
        assert samples[1].label == "1" and len(samples) == 5
        assert any("ends within" in problem.sentence for problem in data.about.problems)
        assert len(data.feed(0, 5)["x"]) == 4


def test_shards_and_a_label_map_in_an_archive(tmp_path):
    box = {
        f"image__object__bbox__{side}": np.array([value])
        for side, value in zip(("xmin", "ymin", "xmax", "ymax"), (0.0, 0.0, 0.5, 0.5), strict=True)
    }
    row = example(
        image__encoded=b"", image__height=10, image__width=20, image__object__class__label=np.array([2]), **box
    )
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("val.tfrecord", records(row))
        archive.writestr("train.tfrecord-00000-of-00002", records(row))
        archive.writestr("train.tfrecord-00001-of-00002", records(row))
        archive.writestr("map.pbtxt", "item { id: 1 name: 'cat' }\nitem { id: 2\n display_name: \"dog\" }")
    with opened(put(tmp_path, "t.zip", (tmp_path / "t.zip").read_bytes())) as data:
        samples = data.samples(range(3))
        assert [sample.split for sample in samples] == ["train", "train", "val"]
        assert [mark.label for mark in samples[2].marks] == ["dog"]
        assert samples[0].values["image/encoded"].shape == (10, 20, 3) and "canvas" in samples[0].problems[0]


def test_event_files_are_no_examples(tmp_path):
    event = b"\x09" + struct.pack("<d", 1.0) + encode_bytes(3, b"brain.Event:2")
    with pytest.raises(StethoscopeError, match="expected data"):
        recognise(put(tmp_path, "events.out.tfevents.1", records(event)))


def test_the_sets_that_others_made(shared_dir):
    from stethoscope.types import ModelFile

    with opened(ModelFile.at(shared_dir / "real" / "annotations" / "007_data" / "test.record")) as data:
        assert data.about.rows == 40
        assert all(mark.label == "raccoon" for sample in data.samples(range(40)) for mark in sample.marks)
        assert all(
            mark.x >= 0 and mark.x + mark.width <= sample.values["image/encoded"].shape[1] + 1
            for sample in data.samples(range(40))
            for mark in sample.marks
        )


@examples(100)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30), st.binary(max_size=20))
def test_numbers_of_any_size_come_back(numbers, text):
    found = read_example(example(n=np.array(numbers, np.int64), t=[text]))
    assert found is not None and found["n"].tolist() == numbers and found["t"] == [text]


@examples(200)
@given(st.binary(max_size=80))
def test_any_bytes_are_an_example_or_none(content):
    found = read_example(content)
    assert found is None or isinstance(found, dict)
