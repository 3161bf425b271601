"""Reading protocol buffers in place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.errors import UnreadableFile
from stethoscope.models.containers import wire
from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.types import ModelFile
from tests.exploring import examples
from tests.models.formats import tf_graphs


@examples(100)
@given(st.integers(0, (1 << 64) - 1))
def test_numbers_survive_encoding(value):
    encoded = wire.encode_varint(value)
    assert wire.varint(memoryview(encoded), 0, len(encoded)) == (value, len(encoded))


@examples(100)
@given(st.integers(1, 1 << 20), st.binary(max_size=300))
def test_byte_fields_survive_encoding(number, payload):
    view = memoryview(wire.encode_bytes(number, payload))
    (field,) = wire.fields(view)
    assert (field.number, field.kind, bytes(view[field.start : field.end])) == (number, wire.BYTES, payload)


@examples(100)
@given(st.binary(max_size=200))
def test_any_bytes_are_fields_inside_the_message_or_malformed(data):
    position = 0
    try:
        for field in wire.fields(memoryview(data)):
            assert field.begin == position
            assert field.begin < field.start <= field.end <= len(data)
            position = field.end
    except wire.Malformed:
        return
    assert position == len(data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x80" * 11, "truncated number"),
        (b"\x0a\x05abc", "past the end"),
        (b"\x00\x00", "field number 0"),
        (b"\x0b\x0c", "wire type 3"),
        (b"\x0d\x01", "past the end"),
    ],
)
def test_malformed_messages_say_where(data, why):
    with pytest.raises(wire.Malformed, match=why):
        list(wire.fields(memoryview(data)))


def test_mapping_an_empty_or_short_file_says_that_the_upload_is_incomplete(tmp_path):
    path = tmp_path / "x.pb"
    path.write_bytes(b"")
    with pytest.raises(UnreadableFile, match=r"x\.pb: .*incomplete"), wire.mapped(ModelFile.at(path)):
        pass
    path.write_bytes(b"abc")
    with pytest.raises(UnreadableFile, match="expected 12 bytes, got 3"), wire.mapped(ModelFile.at(path), 2, 10):
        pass


def test_a_mapped_part_is_that_part(tmp_path):
    path = tmp_path / "x.pb"
    path.write_bytes(b"0123456789")
    with wire.mapped(ModelFile.at(path), 2, 3) as view:
        assert bytes(view) == b"234"


def test_leaving_weights_out_keeps_names_shapes_and_small_values(tmp_path):
    graph = tf_graphs.dense(units=5000)
    tf_graphs.constant(graph, "axes", [2], tf_graphs.INT32, tf_graphs.integers(1, 2))
    data = graph.SerializeToString()
    small = tf_proto.without_weights(ModelFile.at(tmp_path / "g.pb"), memoryview(data), tf_proto.GRAPH_DEF)
    assert len(small) < 2000 < 80_000 < len(data)
    left = {node.name: node for node in tf_proto.messages().GraphDef.FromString(small).node}
    kernel = left["dense/kernel"].attr["value"].tensor
    assert [dim.size for dim in kernel.tensor_shape.dim] == [4, 5000]
    assert kernel.tensor_content == b""
    assert left["axes"].attr["value"].tensor.tensor_content == tf_graphs.integers(1, 2)
