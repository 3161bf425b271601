"""Event files are written by hand: TensorBoard's protobufs and checksums must come out."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.models.containers.wire import fields
from stethoscope.training.recording.event_writer import BUCKETS, EventWriter, histogram
from tests.exploring import examples
from tests.training.recording.reading import contents, events


def test_scalars_come_back_with_their_steps_and_times(tmp_path):
    with EventWriter(tmp_path) as writer:
        writer.scalars(0, {"loss": 0.5, "a/b é": -2.0}, wall_time=1e9)
        writer.scalars(7, {"loss": math.nan, "huge": 1e300})
        writer.scalars(-1, {"loss": -math.inf})
        writer.scalars(8, {})
    found = events(writer.path)
    assert [(step, tag) for step, _, tag, _ in found] == [
        (0, "loss"),
        (0, "a/b é"),
        (7, "loss"),
        (7, "huge"),
        (-1, "loss"),
    ]
    assert found[0][1] == 1e9
    assert [float(value) for *_, value in found[:2]] == [0.5, -2.0]
    assert math.isnan(found[2][3]) and found[3][3] == math.inf and found[4][3] == -math.inf


@examples(50)
@given(step=st.integers(-(2**63), 2**63 - 1), value=st.floats(width=32), tag=st.text(min_size=1, max_size=200))
def test_any_tag_step_and_value_survive(tmp_path_factory, step, value, tag):
    tag = tag.encode("utf-8", "replace").decode()
    with EventWriter(tmp_path_factory.mktemp("log")) as writer:
        writer.scalars(step, {tag: value})
    ((found_step, _, found_tag, found),) = events(writer.path)
    assert (found_step, found_tag) == (step, tag)
    assert struct.pack("<f", found) == struct.pack("<f", value) or (math.isnan(found) and math.isnan(value))


def test_what_is_written_is_whole_before_the_file_is_closed(tmp_path):
    writer = EventWriter(tmp_path)
    writer.scalars(1, {"loss": 1.0})
    assert len(contents(writer.path)) == 2
    writer.close()
    writer.close()


def test_a_start_is_said_as_tensorflow_says_it(tmp_path):
    with EventWriter(tmp_path) as writer:
        writer.started(7, wall_time=1e9)
    _, content = contents(writer.path)
    told = {item.number: item for item in fields(memoryview(content), 0, len(content))}
    assert set(told) == {1, 2, 7} and told[2].value == 7
    assert content[told[7].start : told[7].end] == b"\x08\x01"  # SessionLog.status = START


def test_files_are_taken_in_the_order_they_were_made(tmp_path):
    made = []
    for _ in range(12):
        with EventWriter(tmp_path) as writer:
            made.append(writer.path.name)
    assert made == sorted(made)


def test_two_writers_of_one_folder_never_share_a_file(tmp_path):
    first, second = EventWriter(tmp_path), EventWriter(tmp_path)
    assert first.path != second.path
    first.close()
    second.close()


def test_a_histogram_counts_every_finite_value():
    rows = histogram(np.array([0.0, 1.0, 2.0, 10.0, np.nan, np.inf]))
    assert rows.shape == (BUCKETS, 3)
    assert rows[:, 2].sum() == 4 and rows[0, 0] == 0.0 and rows[-1, 1] == 10.0


@pytest.mark.parametrize("values", [[3.0, 3.0], [1e16, 1e16 + 2], [5.0]])
def test_values_that_hardly_differ_are_one_bucket(values):
    rows = histogram(np.array(values))
    assert rows.shape == (1, 3) and rows[0, 2] == len(values) and rows[0, 0] < rows[0, 1]


def test_nothing_finite_is_an_empty_histogram(tmp_path):
    rows = histogram(np.array([np.nan, np.inf]))
    assert rows.shape == (0, 3)
    with EventWriter(tmp_path) as writer:
        writer.histograms(3, {"weights/dense": rows, "weights/b": histogram(np.arange(5.0))})
    found = events(writer.path)
    assert [(step, tag, value.shape) for step, _, tag, value in found] == [
        (3, "weights/dense", (0, 3)),
        (3, "weights/b", (BUCKETS, 3)),
    ]


def test_tensorboard_reads_it_where_it_is_installed(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    tensors = pytest.importorskip("tensorboard.util.tensor_util")
    with EventWriter(tmp_path) as writer:
        for step in range(3):
            writer.scalars(step, {"loss": step / 3})
        writer.histograms(0, {"weights": histogram(np.arange(5.0))})
    found = accumulator.EventAccumulator(str(tmp_path))
    found.Reload()
    values = [tensors.make_ndarray(event.tensor_proto).item() for event in found.Tensors("loss")]
    assert values == [float(np.float32(step / 3)) for step in range(3)]
    assert found.SummaryMetadata("loss").plugin_data.plugin_name == "scalars"
    assert found.SummaryMetadata("weights").plugin_data.plugin_name == "histograms"
