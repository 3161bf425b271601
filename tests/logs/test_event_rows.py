"""What is read of many media at once is what reading each in full gives."""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.logs.event_columns import decode
from stethoscope.logs.event_file import EventReader
from stethoscope.logs.event_layout import layout
from stethoscope.logs.event_rows import media_records
from stethoscope.models.containers.record_framing import frame
from stethoscope.models.containers.wire import encode_bytes, encode_varint
from tests.exploring import examples
from tests.logs.event_writing import event, first_record, record, simple, tensor, write_events

TAGS = st.text(max_size=12)
STEPS = st.integers(-(1 << 63), (1 << 63) - 1)
PAYLOADS = st.binary(max_size=300)
PLUGINS = st.sampled_from([None, "", "scalars", "images", "histograms", "text", "other"])


@st.composite
def events(draw):
    tag, payload, plugin = draw(TAGS), draw(PAYLOADS), draw(PLUGINS)
    metadata = b"" if plugin is None else encode_bytes(9, encode_bytes(1, encode_bytes(1, plugin.encode())))
    value = draw(
        st.sampled_from(
            [
                encode_bytes(1, tag.encode()) + encode_bytes(draw(st.sampled_from([4, 5, 6, 8])), payload) + metadata,
                tensor(tag, 7, encode_bytes(8, payload), plugin),
                simple(tag, 1.5),
                payload,
            ]
        )
    )
    values = [value] * draw(st.sampled_from([1, 1, 1, 2]))
    return event(draw(STEPS), *values, wall_time=draw(st.floats(allow_nan=False)))[12:-4]


@given(st.lists(events(), min_size=1, max_size=20))
@examples(50)
def test_many_at_once_are_what_each_is_in_full(contents):
    whole = b"".join(contents) + bytes(8)
    sizes = np.array([len(one) for one in contents], np.int64)
    ends = np.cumsum(sizes)
    found = media_records(whole, ends - sizes, ends)
    for at, content in enumerate(contents):
        if found.which[at] < 0:
            continue
        expected, described = layout(content), found.described[found.which[at]]
        assert not expected.numbers
        assert (described.media, described.plugins) == (expected.media, expected.plugins)
        assert found.step[at] == expected.step_value
        assert found.wall_time[at] == struct.unpack_from("<d", content, expected.wall)[0]


def test_common_media_need_not_be_read_in_full():
    written = [
        event(300, tensor("layer/kernel", 7, encode_bytes(8, bytes(9_000)), "images")),
        event(0, encode_bytes(1, b"w") + encode_bytes(5, bytes(700))),
    ]
    whole = b"".join(written)
    sizes = np.array([len(one) - 16 for one in written])
    begins = np.array([12, len(written[0]) + 12])
    # Other writers leave a step of 0 out, and may put the plugin's name after the tensor.
    found = media_records(whole, begins, begins + sizes)
    assert [described.media[0].kind for described in found.described][-1] == "histogram"
    last = event(
        5,
        encode_bytes(1, b"a")
        + encode_bytes(8, bytes(99))
        + encode_bytes(9, encode_bytes(1, encode_bytes(1, b"images"))),
    )
    found = media_records(last, np.array([12]), np.array([len(last) - 4]))
    assert (found.described[0].media[0], found.step.tolist()) == (("a", "image"), [5])


def test_media_of_every_size_between_scalars_are_all_found(tmp_path):
    written = []
    for step in range(400):
        written.append(event(step, simple("loss", step)))
        picture = encode_bytes(8, bytes(600 + 7 * (step * 31 % 50)))
        written.append(
            event(
                step,
                encode_bytes(1, b"i")
                + encode_bytes(8, b"\x08\x07" + picture)
                + encode_bytes(9, encode_bytes(1, encode_bytes(1, b"images"))),
            )
        )
    reader = EventReader(write_events(tmp_path, written))
    reader.poll()
    (media,) = reader.points.media(0)
    assert (media.tag, media.kind, media.step.tolist()) == ("i", "image", list(range(400)))
    content = reader.path.read_bytes()
    assert content[int(media.start[7]) - 12 : int(media.start[7]) + int(media.size[7]) + 4] == written[15]
    assert reader.points.series()["loss"].value.tolist() == list(range(400))
    assert reader.health("f").problem == ""


def test_records_in_cycles_are_read_as_others_are():
    tags = ["loss", "rate", "norm", "accuracy"]
    written = [event(step, simple(tag, step * 4 + at)) for step in range(3_000) for at, tag in enumerate(tags)]
    damaged = bytearray(first_record() + b"".join(written))
    place = len(first_record()) + sum(map(len, written[:8_001])) + 30
    damaged[place] ^= 4
    found = frame(bytes(damaged), {})
    assert any(region.cycle == 4 and region.cycles > 2_000 for region in found.regions)
    quick, plain = (decode(bytes(damaged), found.start, found.size, regions) for regions in (found.regions, ()))
    assert quick.bad == plain.bad == [8_002]
    by_record = []
    for decoded in (quick, plain):
        rows = {}
        for piece in decoded.scalars:
            for at, one in enumerate(piece.record.tolist()):
                rows[one] = (piece.tags[piece.tag[at]], piece.step[at], piece.wall_time[at], piece.value[at])
        by_record.append(rows)
    assert by_record[0] == by_record[1]
    assert len(by_record[0]) == 11_999


def test_a_tag_that_comes_twice_in_a_cycle_and_a_record_keeps_its_order(tmp_path):
    written = [
        event(step, simple("a", step), simple("a", -step)) + event(step, simple("a", 0.5)) for step in range(700)
    ]
    reader = EventReader(write_events(tmp_path, written))
    reader.poll()
    assert reader.points.series()["a"].value.tolist() == [one for step in range(700) for one in (step, -step, 0.5)]


def test_a_varint_that_never_ends_is_a_damaged_record_and_no_step(tmp_path):
    content = (
        b"\x09"
        + bytes(8)
        + b"\x10"
        + b"\xff" * 11
        + encode_varint(1)
        + encode_bytes(5, encode_bytes(1, simple("a", 1)))
    )
    reader = EventReader(write_events(tmp_path, [record(content)] * 10))
    reader.poll()
    assert (reader.points.count, reader.health("f").bad_records) == (0, 10)
