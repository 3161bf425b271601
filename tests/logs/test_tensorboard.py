"""Folders of event files, and files as they are found in the wild."""

from __future__ import annotations

import importlib.util
import sys
import types

import numpy as np
import pytest

from stethoscope.logs.as_curve import curve_of
from stethoscope.logs.event_file import EventReader
from stethoscope.logs.tensorboard import EventFolder
from tests.logs.event_writing import event, simple, write_events


def losses(start, stop, value=1.0):
    return [event(at, simple("loss", value)) for at in range(start, stop)]


def append(path, events):
    with path.open("ab") as stream:
        stream.write(b"".join(events))


def test_runs_appear_files_rotate_and_points_are_appended(tmp_path):
    folder = EventFolder(tmp_path)
    assert folder.poll() == ()
    first = write_events(tmp_path / "a", losses(0, 3), "events.out.tfevents.1.host")
    (run,) = folder.poll()
    assert (run.run, run.series["loss"].step.tolist()) == ("a", [0, 1, 2])
    append(first, losses(3, 5))
    write_events(tmp_path / "a", losses(5, 7), "events.out.tfevents.2.host")
    write_events(tmp_path / "seeds" / "b", losses(0, 2))
    one, two = sorted(folder.poll(), key=lambda run: run.run)
    assert one.series["loss"].step.tolist() == list(range(7))
    assert one.files == ("a/events.out.tfevents.1.host", "a/events.out.tfevents.2.host")
    assert (two.run, two.group) == ("seeds/b", "seeds")


def test_a_run_nothing_was_added_to_is_the_same_object(tmp_path):
    grows = write_events(tmp_path / "grows", losses(0, 3))
    write_events(tmp_path / "rests", losses(0, 3))
    folder = EventFolder(tmp_path)
    before = {run.run: run for run in folder.poll()}
    append(grows, losses(3, 4))
    after = {run.run: run for run in folder.poll()}
    assert after["rests"] is before["rests"]
    assert len(after["grows"].series["loss"].step) == 4


def test_a_file_that_is_empty_at_first_and_one_that_goes(tmp_path):
    (tmp_path / "events.out.tfevents.1.host").write_bytes(b"")
    folder = EventFolder(tmp_path)
    assert folder.poll() == ()
    path = write_events(tmp_path, losses(0, 3))
    assert len(folder.poll()) == 1
    path.unlink()
    assert folder.poll() == ()


def test_train_and_validation_are_one_run_with_prefixes(tmp_path):
    for name, count in (("train", 5), ("validation", 4), ("test", 3)):
        write_events(tmp_path / "run" / name, [event(at, simple("epoch_loss", at)) for at in range(count)])
    (run,) = EventFolder(tmp_path).poll()
    assert (run.run, run.unit) == ("run", "epoch")
    assert {tag: len(one.step) for tag, one in run.series.items()} == {
        "train/epoch_loss": 5,
        "validation/epoch_loss": 4,
        "test/epoch_loss": 3,
    }
    curve = curve_of(run)
    assert (len(curve.loss), len(curve.val_loss)) == (5, 4)


def test_a_train_folder_alone_leaves_the_tags_as_they_are(tmp_path):
    write_events(tmp_path / "run" / "train", losses(0, 3))
    (run,) = EventFolder(tmp_path).poll()
    assert (run.run, list(run.series)) == ("run", ["loss"])


def test_a_restart_is_named_and_everything_written_is_kept(tmp_path):
    write_events(tmp_path, losses(0, 1500), "events.out.tfevents.1.host")
    write_events(tmp_path, losses(1000, 1500, 2.0), "events.out.tfevents.2.host")
    (run,) = EventFolder(tmp_path).poll()
    series = run.series["loss"]
    assert len(series.step) == 2000
    assert run.health.restarts == (1000,)
    latest = series.latest()
    assert latest.step.tolist() == list(range(1500))
    assert latest.value[[999, 1000]].tolist() == [1.0, 2.0]


def test_each_of_several_restarts_from_one_checkpoint_counts_whatever_the_number_of_tags(tmp_path):
    for attempt in range(4):
        both = [event(at, simple(tag, 1.0)) for at in range(10 * bool(attempt), 20) for tag in ("loss", "accuracy")]
        write_events(tmp_path, both, f"events.out.tfevents.{attempt}.host")
    (run,) = EventFolder(tmp_path).poll()
    assert run.health.restarts == (10, 10, 10)


def test_points_of_a_metric_written_less_often_have_their_own_steps(tmp_path):
    write_events(tmp_path, [*losses(0, 10), *(event(at, simple("accuracy", 0.5)) for at in (4, 9))])
    (run,) = EventFolder(tmp_path).poll()
    curve = curve_of(run)
    assert (curve.metric_steps, curve.metric) == ((4.0, 9.0), (0.5, 0.5))


def test_a_folder_of_damaged_files_says_where(tmp_path):
    path = write_events(tmp_path / "run", losses(0, 20))
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 60] = b"\xff" * 60
    path.write_bytes(content)
    (run,) = EventFolder(tmp_path).poll()
    assert run.health.bad_records >= 1
    assert run.health.resynchronised[0].file == "run/events.out.tfevents.1.host"
    assert "damaged" in curve_of(run).problem


def test_real_event_files_hold_what_they_are_known_to_hold(shared_dir):
    found = {}
    for path in sorted((shared_dir / "real" / "tfevents").iterdir()):
        reader = EventReader(path)
        reader.poll()
        assert reader.health(path.name).problem == ""
        found[path.name[:3]] = reader.points
    assert found["012"].parameters == {"units": 200.0, "dropout": 0.2, "optimizer": "adam"}
    kinds = {kind for points in found.values() for kind in (one.kind for one in points.media(0))}
    assert {"histogram", "image", "pr_curve", "hparams", "graph"} <= kinds
    assert sum(bool(points.count) for points in found.values()) >= 14


@pytest.fixture
def tensorboard_alone(monkeypatch):
    """TensorBoard without TensorFlow, as it is built for those who have none, and nothing of it for later tests."""
    monkeypatch.setitem(sys.modules, "tensorboard.compat.notf", types.ModuleType("tensorboard.compat.notf"))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorboard"]:
        del sys.modules[name]


@pytest.mark.skipif(importlib.util.find_spec("tensorboard") is None, reason="TensorBoard is not installed")
@pytest.mark.usefixtures("tensorboard_alone")
def test_real_event_files_are_read_as_tensorboard_reads_them(shared_dir):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    compared = 0
    for path in sorted((shared_dir / "real" / "tfevents").iterdir()):
        theirs = EventAccumulator(str(path), size_guidance={"scalars": 0, "tensors": 0})
        theirs.Reload()
        reader = EventReader(path)
        reader.poll()
        ours = reader.points.series()
        events = {tag: theirs.Scalars(tag) for tag in theirs.Tags()["scalars"]}
        values = {tag: [one.value for one in found] for tag, found in events.items()}
        for tag in theirs.Tags()["tensors"]:
            if theirs.SummaryMetadata(tag).plugin_data.plugin_name == "scalars":
                events[tag] = theirs.Tensors(tag)
                values[tag] = [make_ndarray(one.tensor_proto).item() for one in events[tag]]
        assert set(events) == set(ours)
        for tag, found in events.items():
            assert [one.step for one in found] == ours[tag].step.tolist()
            assert [one.wall_time for one in found] == ours[tag].wall_time.tolist()
            assert np.array_equal(values[tag], ours[tag].value, equal_nan=True)
            compared += 1
    assert compared > 20


def test_a_file_that_goes_between_listing_and_reading_is_no_error(tmp_path, monkeypatch):
    write_events(tmp_path / "stays", losses(0, 3))
    path = write_events(tmp_path / "goes", losses(0, 3))
    folder = EventFolder(tmp_path)
    assert len(folder.poll()) == 2
    real = EventReader.poll

    def poll(reader):
        if reader.path == path:
            path.unlink(missing_ok=True)
        return real(reader)

    monkeypatch.setattr(EventReader, "poll", poll)
    assert [run.run for run in folder.poll()] == ["stays"]
