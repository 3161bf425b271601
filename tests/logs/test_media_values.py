"""Histograms, images, texts and curves as somebody sees them, out of the bytes writers leave."""

from __future__ import annotations

import contextlib
import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from stethoscope.logs.media_values import (
    LARGEST,
    SMALLEST,
    EncodedImages,
    Graph,
    Histogram,
    PrecisionRecall,
    Texts,
    drawn,
    media_value,
)
from stethoscope.logs.tensorboard import EventFolder
from stethoscope.models.containers.wire import Malformed, encode_bytes, encode_varint
from tests.exploring import examples
from tests.logs.event_writing import event, graph_def, graph_event, tensor, write_events
from tests.tables import each


def dims(*sizes):
    return b"".join(encode_bytes(2, b"\x08" + encode_varint(size)) for size in sizes)


def doubles(values):
    return np.asarray(values, "<f8").tobytes()


def png(width, height, mode="L"):
    out = io.BytesIO()
    Image.new(mode, (width, height)).save(out, "PNG")
    return out.getvalue()


def decoded(value, tag, kind):
    content = event(1, value)[12:-4]
    return media_value(content, tag, kind)


def test_buckets_are_the_tensor_that_was_written():
    buckets = np.arange(12.0).reshape(4, 3)
    value = tensor("w", 2, encode_bytes(4, doubles(buckets)), "histograms", dims(4, 3))
    found = decoded(value, "w", "histogram")
    assert isinstance(found, Histogram)
    assert found.buckets.tolist() == buckets.tolist()


def test_a_last_number_that_repeats_is_written_once():
    value = tensor("w", 1, b"".join(b"\x2d" + struct.pack("<f", one) for one in (1, 2, 0)), "histograms", dims(2, 3))
    assert decoded(value, "w", "histogram").buckets.tolist() == [[1, 2, 0], [0, 0, 0]]


def test_older_histograms_end_where_their_values_do():
    limits, counts = [-1.0, 0.0, 1.0, 1.7e308], [0.0, 2.0, 3.0, 0.0]
    numbers = encode_bytes(6, doubles(limits)) + encode_bytes(7, doubles(counts))
    body = b"\x09" + doubles([-0.5]) + b"\x11" + doubles([0.75]) + numbers
    found = decoded(encode_bytes(1, b"w") + encode_bytes(5, body), "w", "histogram")
    assert found.buckets.tolist() == [[-0.5, 0.0, 2.0], [0.0, 0.75, 3.0]]


def test_a_tag_is_found_behind_the_name_of_its_folder_and_among_others():
    record = event(1, tensor("b", 2, b"", "histograms", dims(0, 3)), tensor("a/b", 2, b"", "histograms", dims(0, 3)))
    assert media_value(record[12:-4], "train/a/b", "histogram").buckets.shape == (0, 3)
    assert media_value(record[12:-4], "train/c", "histogram") is None


def test_images_texts_and_curves():
    image = tensor(
        "i", 7, b"".join(encode_bytes(8, one) for one in (b"3", b"2", png(3, 2), png(3, 2))), "images", dims(4)
    )
    found = decoded(image, "i", "image")
    assert isinstance(found, EncodedImages)
    assert (found.width, found.height, len(found.files)) == (3, 2, 2)
    older = encode_bytes(1, b"i") + encode_bytes(4, b"\x08\x02\x10\x03\x18\x01" + encode_bytes(4, png(3, 2)))
    assert decoded(older, "i", "image") == EncodedImages(3, 2, (png(3, 2),))
    words = tensor("t", 7, encode_bytes(8, b"one") + encode_bytes(8, "zwölf".encode()), "text", dims(2))
    assert decoded(words, "t", "text") == Texts(("one", "zwölf"), (2,))
    rows = np.linspace(0, 1, 18, dtype="<f4").reshape(6, 3)
    curve = decoded(tensor("p", 1, encode_bytes(4, rows.tobytes()), "pr_curves", dims(6, 3)), "p", "pr_curve")
    assert isinstance(curve, PrecisionRecall)
    assert curve.recall.tolist() == rows[5].tolist()


@pytest.mark.parametrize("shape", [dims(1 << 39, 3), dims(5, 3), dims(5, 0)])
def test_a_shape_that_does_not_fit_is_no_histogram(shape):
    value = tensor("w", 2, encode_bytes(4, doubles([1.0] * 18)), "histograms", shape)
    with contextlib.suppress(Malformed):
        assert decoded(value, "w", "histogram") is None


@examples(100)
@given(st.binary(max_size=120), st.sampled_from(["histogram", "image", "text", "pr_curve"]))
def test_whatever_the_bytes_nothing_but_malformed_is_raised(payload, kind):
    for value in (tensor("v", 2, payload, "x", payload[:9]), encode_bytes(1, b"v") + encode_bytes(5, payload)):
        with contextlib.suppress(Malformed):
            media_value(event(1, value)[12:-4], "v", kind)


def test_small_images_keep_their_pixels_and_large_ones_become_smaller():
    small, large = drawn(png(3, 2)), drawn(png(3_000, 10, "RGB"))
    assert (small.width, small.height) == (3, 2)
    assert Image.open(io.BytesIO(small.png)).size == (SMALLEST, SMALLEST * 2 // 3)
    assert Image.open(io.BytesIO(large.png)).width == LARGEST
    assert (large.width, large.height) == (3_000, 10)


@each("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_images_of_every_kind(mode):
    assert drawn(png(5, 5, mode)) is not None


def test_what_is_no_image_or_too_large_is_none():
    assert drawn(b"") is None
    assert drawn(png(40, 40)[:30]) is None
    assert drawn(b"<svg xmlns='http://www.w3.org/2000/svg'/>") is None
    huge = bytearray(png(1, 1))
    huge[16:24] = struct.pack(">II", 60_000, 60_000)
    assert drawn(bytes(huge)) is None


@examples(100)
@given(st.binary(max_size=60), st.integers(0, 60))
def test_damaged_images_are_none_or_images(noise, at):
    whole = png(9, 9, "RGB")
    found = drawn(whole[:at] + noise + whole[at + len(noise) :])
    assert found is None or found.png.startswith(b"\x89PNG")


def test_media_of_real_files_are_what_they_say(shared_dir):
    seen = set()
    for path in sorted((shared_dir / "real" / "tfevents").iterdir()):
        content = path.read_bytes()
        for run in EventFolder(path).poll():
            for tag, media in run.media.items():
                start, size = int(media.start[0]), int(media.size[0])
                if media.kind in ("histogram", "image", "pr_curve"):
                    found = media_value(content[start : start + size], tag, media.kind)
                    seen.add(type(found))
                    assert not isinstance(found, EncodedImages) or all(drawn(one) for one in found.files)
    assert seen == {Histogram, EncodedImages, PrecisionRecall}


def test_a_file_written_by_the_test_is_read_back(tmp_path):
    buckets = tensor("w", 2, encode_bytes(4, doubles(range(90))), "histograms", dims(30, 3))
    path = write_events(tmp_path, [event(step, buckets) for step in range(40)])
    (media,) = EventFolder(tmp_path).poll()[0].media.values()
    content = path.read_bytes()
    for start, size in zip(media.start.tolist(), media.size.tolist(), strict=True):
        assert media_value(content[start : start + size], "w", "histogram").buckets[0].tolist() == [0, 1, 2]


def test_a_graph_is_the_same_however_it_was_written(tmp_path):
    graph = graph_def(("x", "Placeholder", ""), ("y", "Relu", "x"))
    written = tensor("net", 7, encode_bytes(8, graph), "graphs")
    write_events(tmp_path, [graph_event(graph), graph_event(graph, meta=True), event(0, written)])
    (run,) = EventFolder(tmp_path).poll()
    assert {(tag, one.kind) for tag, one in run.media.items()} == {
        (tag, "graph") for tag in ("graph", "meta graph", "net")
    }
    content = (tmp_path / run.files[0]).read_bytes()
    for tag, one in run.media.items():
        body = content[int(one.start[0]) : int(one.start[0] + one.size[0])]
        assert media_value(body, tag, "graph") == Graph(graph)


def test_what_keras_says_of_its_layers_is_text():
    value = tensor("keras", 7, encode_bytes(8, b'{"class_name": "Sequential"}'), "graph_keras_model")
    assert decoded(value, "keras", "graph") == Texts(('{"class_name": "Sequential"}',), ())
