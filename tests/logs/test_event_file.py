"""Event files, whole, damaged and still being written."""

from __future__ import annotations

import math
import struct
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.logs import event_file
from stethoscope.logs.event_file import EventReader, is_event_file
from stethoscope.logs.series import Place
from stethoscope.models.containers.record_framing import masked
from stethoscope.models.containers.wire import encode_bytes, encode_varint
from tests.exploring import examples
from tests.logs.event_writing import event, first_record, record, simple, tensor, write_events
from tests.tables import each


def read(path):
    reader = EventReader(path)
    reader.poll()
    return reader


def points(reader, tag="loss"):
    series = reader.points.series().get(tag)
    return [] if series is None else list(zip(series.step.tolist(), series.value.tolist(), strict=True))


def losses(count):
    return [event(at, simple("loss", float(at))) for at in range(count)]


def double(values):
    return b"".join(struct.pack("<d", value) for value in values)


VALUES = [
    (simple("v", 0.5), 0.5),
    (simple("v", -math.inf), -math.inf),
    (tensor("v", 1, encode_bytes(4, struct.pack("<f", 0.25))), 0.25),
    (tensor("v", 1, encode_bytes(5, struct.pack("<f", 0.75))), 0.75),
    (tensor("v", 1, b"\x2d" + struct.pack("<f", 0.125)), 0.125),
    (tensor("v", 1, b""), 0.0),
    (tensor("v", 1, encode_bytes(4, struct.pack("<f", 3)), None, encode_bytes(2, b"\x08\x01")), 3.0),
    (tensor("v", 2, encode_bytes(4, struct.pack("<d", 0.1))), 0.1),
    (tensor("v", 2, encode_bytes(6, struct.pack("<d", 1e300))), 1e300),
    (tensor("v", 3, encode_bytes(7, encode_varint((1 << 64) - 5))), -5.0),
    (tensor("v", 3, encode_bytes(4, struct.pack("<i", -7))), -7.0),
    (tensor("v", 4, encode_bytes(7, b"\xff\x01")), 255.0),
    (tensor("v", 9, encode_bytes(10, encode_varint(70_000))), 70_000.0),
    (tensor("v", 9, b"\x50" + encode_varint(9)), 9.0),
    (tensor("v", 10, encode_bytes(11, b"\x01")), 1.0),
    (tensor("v", 14, encode_bytes(4, b"\x80\x3f")), 1.0),
    (tensor("v", 14, encode_bytes(13, encode_varint(0xBF80))), -1.0),
    (tensor("v", 19, encode_bytes(13, encode_varint(0x3800))), 0.5),
    (tensor("v", 19, encode_bytes(4, struct.pack("<e", 1.5))), 1.5),
    (tensor("v", 23, encode_bytes(17, encode_varint((1 << 64) - 1))), float((1 << 64) - 1)),
]


@each(("value", "expected"), VALUES)
def test_a_scalar_of_every_kind(tmp_path, value, expected):
    reader = read(write_events(tmp_path, [event(3, value)]))
    assert points(reader, "v") == [(3, expected)]
    assert reader.health("f").problem == ""


def test_nan_and_times_and_steps_are_kept_to_the_bit(tmp_path):
    steps = [-3, 0, 1, 127, 128, 1 << 40, -(1 << 63), (1 << 63) - 1]
    written = [event(step, simple("loss", math.nan), wall_time=step / 7) for step in steps]
    series = read(write_events(tmp_path, written)).points.series()["loss"]
    assert series.step.tolist() == steps
    assert series.wall_time.tolist() == [step / 7 for step in steps]
    assert np.isnan(series.value).all()


def test_a_step_that_is_not_stored_is_zero(tmp_path):
    content = b"\x09" + struct.pack("<d", 5.0) + encode_bytes(5, encode_bytes(1, simple("loss", 2.0)))
    assert points(read(write_events(tmp_path, [record(content)]))) == [(0, 2.0)]


def test_many_tags_of_the_same_length_stay_apart_and_in_order(tmp_path):
    tags = [f"layer_{at:03}/{'x' * (at % 4)}" for at in range(300)]
    written = [
        event(step, *(simple(tag, step + at) for at, tag in enumerate(tags) if at % 2))
        + b"".join(event(step, simple(tag, step + at)) for at, tag in enumerate(tags) if not at % 2)
        for step in range(130)
    ]
    reader = read(write_events(tmp_path, written))
    for at, tag in enumerate(tags):
        assert points(reader, tag) == [(step, float(step + at)) for step in range(130)], tag


def test_points_stay_in_the_order_written_however_they_are_stored(tmp_path):
    kinds = [value for value, expected in VALUES if expected == expected]
    written = [event((at * 37) % 400, kinds[at % len(kinds)]) for at in range(600)]
    expected = [((at * 37) % 400, VALUES[at % len(kinds)][1]) for at in range(600)]
    assert points(read(write_events(tmp_path, written)), "v") == expected


def test_media_are_kept_out_of_the_way_and_found_again(tmp_path):
    histogram = encode_bytes(1, b"weights") + encode_bytes(5, b"\x09" + bytes(8) + encode_bytes(6, double([1, 2])))
    image = encode_bytes(1, b"picture") + encode_bytes(4, encode_bytes(4, b"\x89PNG" + bytes(5000)))
    text = tensor("words", 7, encode_bytes(8, b"hello"), "text")
    bins = tensor("kernel", 2, encode_bytes(4, double(range(90))), "histograms", encode_bytes(2, b"\x08\x1e"))
    whole = [event(at, histogram, simple("loss", 1.0), image, text, bins) for at in range(3)]
    reader = read(write_events(tmp_path, whole))
    media = {one.tag: one for one in reader.points.media(0)}
    assert {tag: one.kind for tag, one in media.items()} == {
        "weights": "histogram",
        "picture": "image",
        "words": "text",
        "kernel": "histogram",
    }
    assert points(reader) == [(at, 1.0) for at in range(3)]
    start, size = int(media["picture"].start[1]), int(media["picture"].size[1])
    assert record(reader.path.read_bytes()[start : start + size]) == whole[1]


def test_a_tag_said_to_be_no_scalar_once_is_none_later(tmp_path):
    written = [event(0, tensor("v", 1, encode_bytes(4, bytes(4)), "strange"))]
    written += [event(at, tensor("v", 1, encode_bytes(4, bytes(4)), None)) for at in range(1, 4)]
    reader = read(write_events(tmp_path, written))
    assert points(reader, "v") == []
    (media,) = reader.points.media(0)
    assert (media.kind, media.step.tolist()) == ("strange", [0, 1, 2, 3])


def test_hyper_parameters(tmp_path):
    entries = {
        b"rate": b"\x11" + struct.pack("<d", 0.01),
        b"optimizer": encode_bytes(3, b"adam"),
        b"shuffle": b"\x20\x01",
    }
    session = b"".join(
        encode_bytes(1, encode_bytes(1, name) + encode_bytes(2, value)) for name, value in entries.items()
    )
    plugin = encode_bytes(1, encode_bytes(1, b"hparams") + encode_bytes(2, encode_bytes(3, session)))
    value = encode_bytes(1, b"_hparams_/session_start_info") + encode_bytes(9, plugin)
    reader = read(write_events(tmp_path, [event(0, value)]))
    assert reader.points.parameters == {"rate": 0.01, "optimizer": "adam", "shuffle": True}


def test_a_flipped_byte_loses_its_record_only(tmp_path):
    path = write_events(tmp_path, losses(2000))
    whole = bytearray(path.read_bytes())
    size = len(event(1999, simple("loss", 0.0)))
    whole[len(whole) - 1000 * size + 30] ^= 0xFF
    path.write_bytes(whole)
    reader = read(path)
    assert points(reader) == [(at, float(at)) for at in range(2000) if at != 1000]
    assert reader.health("f").bad_records == 1


def test_a_flipped_byte_among_tags_of_one_length_loses_its_record_only(tmp_path):
    tags = ("loss", "rate", "norm", "accuracy")
    whole = write_events(
        tmp_path, [event(step, simple(tag, step + at)) for step in range(100) for at, tag in enumerate(tags)]
    ).read_bytes()
    cycle = [len(event(50, simple(tag, 0.0))) for tag in tags]
    damaged = len(whole) - 50 * sum(cycle) + cycle[0]
    for byte in range(12, cycle[1]):
        content = bytearray(whole)
        content[damaged + byte] ^= 0x40
        reader = read(write_events(tmp_path, [bytes(content[len(first_record()) :])]))
        for at, tag in enumerate(tags):
            kept = [(step, float(step + at)) for step in range(100) if (step, tag) != (50, "rate")]
            assert points(reader, tag) == kept, (byte, tag)
        assert reader.health("f").bad_records == 1


def test_tags_of_one_length_may_be_stored_differently(tmp_path):
    values = {
        "a": lambda step: simple("a", step),
        "b": lambda step: simple("b", math.sqrt(step)),
        "c": lambda step: tensor("c", 3, encode_bytes(7, encode_varint(step)), None),
        "picture_1": lambda step: encode_bytes(1, b"picture_1") + encode_bytes(4, bytes([step % 256]) * 300),
        "picture_2": lambda step: encode_bytes(1, b"picture_2") + encode_bytes(4, bytes([step % 256]) * 300),
    }
    sizes = {tag: len(event(200, value(200))) for tag, value in values.items()}
    values["b" * (1 + sizes["c"] - sizes["a"])] = lambda step: simple("b" * (1 + sizes["c"] - sizes["a"]), -step)
    reader = read(write_events(tmp_path, [event(step, one(step)) for step in range(300) for one in values.values()]))
    assert points(reader, "a") == [(step, float(step)) for step in range(300)]
    assert points(reader, "b") == [(step, float(np.float32(math.sqrt(step)))) for step in range(300)]
    assert points(reader, "c") == [(step, float(step)) for step in range(300)]
    assert points(reader, list(values)[-1]) == [(step, float(-step)) for step in range(300)]
    content = reader.path.read_bytes()
    for one in reader.points.media(0):
        found = [content[start : start + size] for start, size in zip(one.start, one.size, strict=True)]
        assert [record(each) for each in found] == [event(step, values[one.tag](step)) for step in range(300)]
    assert len(reader.points.media(0)) == 2
    assert reader.health("f").problem == ""


def test_a_damaged_length_costs_one_record_and_is_named(tmp_path):
    path = write_events(tmp_path, losses(200))
    whole = bytearray(path.read_bytes())
    at = len(whole) - 50 * len(event(199, simple("loss", 0.0)))
    whole[at] ^= 0xFF
    path.write_bytes(whole)
    reader = read(path)
    assert points(reader) == [(step, float(step)) for step in range(200) if step != 150]
    health = reader.health("f")
    assert (health.bad_records, health.truncated_bytes) == (1, 0)
    assert health.resynchronised == (Place("f", at + len(event(199, simple("loss", 0.0)))),)


def test_a_writer_that_died_within_a_record_and_went_on_loses_that_record_only(tmp_path):
    parts = losses(200)
    parts[100] = parts[100][:20]
    reader = read(write_events(tmp_path, parts))
    assert points(reader) == [(at, float(at)) for at in range(200) if at != 100]
    assert reader.health("f").bad_records == 1


def test_a_file_cut_short_keeps_its_whole_records(tmp_path):
    path = write_events(tmp_path, losses(2000))
    path.write_bytes(path.read_bytes()[:-5])
    reader = read(path)
    assert points(reader) == [(at, float(at)) for at in range(1999)]
    assert reader.health("f").truncated_bytes == len(event(1999, simple("loss", 0.0))) - 5


@pytest.mark.parametrize("tail", [bytes(1), bytes(4096), b"\xff" * 11])
def test_zeros_and_stumps_at_the_end_are_an_incomplete_record(tmp_path, tail):
    reader = read(write_events(tmp_path, [*losses(20), tail]))
    assert len(points(reader)) == 20
    assert (reader.health("f").bad_records, reader.health("f").truncated_bytes) == (0, len(tail))


def test_a_run_of_zeros_within_costs_nothing_but_itself(tmp_path):
    reader = read(write_events(tmp_path, [*losses(20), bytes(100_000), event(20, simple("loss", 20.0))]))
    assert points(reader) == [(at, float(at)) for at in range(21)]
    assert reader.health("f").bad_records == 1


def test_a_hostile_length_is_not_believed(tmp_path):
    size = struct.pack("<Q", 1 << 60)
    head = size + struct.pack("<I", masked(size))
    reader = read(write_events(tmp_path, [*losses(20), head, bytes(50)]))
    assert len(points(reader)) == 20
    assert reader.health("f").truncated_bytes == 62


def test_a_record_above_the_limit_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(event_file, "MAX_RECORD_BYTES", 1000)
    monkeypatch.setattr(event_file, "_CHUNK_BYTES", 500)
    long = event(5, simple("loss", 5.0), encode_bytes(1, b"x") + encode_bytes(4, bytes(5000)))
    reader = read(write_events(tmp_path, [*losses(5), long, event(6, simple("loss", 6.0))]))
    assert [step for step, _ in points(reader)] == [0, 1, 2, 3, 4, 6]
    assert "left out" in reader.health("f").problem


def test_records_longer_than_what_is_read_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(event_file, "_CHUNK_BYTES", 500)
    image = encode_bytes(1, b"x") + encode_bytes(4, bytes(5000))
    reader = read(write_events(tmp_path, [event(at, simple("loss", at), image) for at in range(20)]))
    assert len(points(reader)) == 20
    assert reader.health("f").problem == ""


def test_an_empty_file(tmp_path):
    path = tmp_path / "events.out.tfevents.0"
    path.write_bytes(b"")
    assert not is_event_file(path)
    assert not read(path).points.series()


def test_a_file_written_anew_is_read_anew(tmp_path):
    path = write_events(tmp_path, losses(20))
    reader = read(path)
    write_events(tmp_path, losses(3))
    reader.poll()
    assert len(points(reader)) == 3
    assert "written anew" in reader.health("f").problem


def test_a_writer_appending_while_it_is_read(tmp_path):
    path = write_events(tmp_path, [])
    content = b"".join(losses(20_000))
    done = threading.Event()

    def write():
        random = np.random.default_rng(0)
        with path.open("ab", buffering=0) as stream:
            at = 0
            while at < len(content):
                step = int(random.integers(1, 5000))
                stream.write(content[at : at + step])
                at += step
        done.set()

    writer = threading.Thread(target=write)
    reader = EventReader(path)
    writer.start()
    seen = 0
    while not done.is_set():
        reader.poll()
        now = points(reader)
        assert len(now) >= seen
        seen = len(now)
    writer.join()
    reader.poll()
    assert points(reader) == [(at, float(at)) for at in range(20_000)]
    assert reader.health("f").problem == ""


def test_reading_in_steps_is_reading_at_once(tmp_path):
    parts = losses(300)
    parts[50] = parts[50][:-6]
    parts[100] = b"\xff" + parts[100][1:]
    content = first_record() + b"".join(parts)
    path = tmp_path / "events.out.tfevents.1"
    reader = EventReader(path)
    for end in [*range(1, len(content), 97), len(content)]:
        path.write_bytes(content[:end]) if end == 1 else path.open("ab").write(content[path.stat().st_size : end])
        reader.poll()
    assert points(reader) == points(read(path)) == [(at, float(at)) for at in range(300) if at not in (50, 100)]
    assert reader.health("f") == read(path).health("f")


MIXED = first_record() + b"".join(
    event(at, *(value for value, _ in VALUES[at % 5 :: 5])) + event(at, simple("loss", at / 3)) for at in range(60)
)


@examples(40)
@given(st.data())
def test_damage_of_any_kind_never_raises_and_never_invents_a_point(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damage") / "events.out.tfevents.1"
    path.write_bytes(MIXED)
    whole = {(tag, *point) for tag in ("v", "loss") for point in _all(read(path), tag)}
    content = bytearray(MIXED[: data.draw(st.integers(0, len(MIXED)))])
    for _ in range(data.draw(st.integers(0, 8))):
        if content:
            content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    reader = read(path)
    found = [(tag, *point) for tag in reader.points.tags for point in _all(reader, tag)]
    assert set(found) <= whole
    assert len(found) <= len(whole)


def _all(reader, tag):
    series = reader.points.series()[tag]
    return zip(series.step.tolist(), series.wall_time.tolist(), series.value.tolist(), strict=True)


@examples(80)
@given(st.binary(max_size=300), st.lists(st.binary(max_size=80), max_size=20))
def test_foreign_records_never_raise(tmp_path_factory, tail, contents):
    reader = read(write_events(tmp_path_factory.mktemp("foreign"), [*map(record, contents), tail]))
    assert reader.points.count >= 0
