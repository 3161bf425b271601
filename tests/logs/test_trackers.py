"""Logs as trackers write them, whole and damaged."""

from __future__ import annotations

import json
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.containers.wire import encode_bytes, encode_varint
from stethoscope.errors import UnreadableFile
from stethoscope.evidence.curves import CurveEvidence
from stethoscope.evidence.decode import decode
from stethoscope.gathering.logs import gather_logs
from stethoscope.logs import all_trackers
from stethoscope.logs.crc32c import crc32c, masked
from stethoscope.logs.event_file import EventLog, read_events
from stethoscope.types import Budget, ModelFile, TaskContext


def record(content: bytes) -> bytes:
    size = struct.pack("<Q", len(content))
    return size + struct.pack("<I", masked(size)) + content + struct.pack("<I", masked(content))


def event(step: int, *values: bytes) -> bytes:
    summary = b"".join(encode_bytes(1, value) for value in values)
    whole = step if step >= 0 else step + (1 << 64)
    return record(b"\x09" + struct.pack("<d", 1e9 + step) + b"\x10" + encode_varint(whole) + encode_bytes(5, summary))


def simple(tag: str, value: float) -> bytes:
    return encode_bytes(1, tag.encode()) + b"\x15" + struct.pack("<f", value)


def tensor(tag: str, dtype: int, payload: bytes, plugin: str = "scalars", shape: bytes = b"") -> bytes:
    metadata = encode_bytes(9, encode_bytes(1, encode_bytes(1, plugin.encode())))
    body = b"\x08" + encode_varint(dtype) + encode_bytes(2, shape) + payload
    return encode_bytes(1, tag.encode()) + metadata + encode_bytes(8, body)


def write_events(folder, events, name="events.out.tfevents.1.host"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(record(b"\x09" + struct.pack("<d", 0.0) + encode_bytes(3, b"brain.Event:2")) + b"".join(events))
    return path


def points(path, tag="loss"):
    log = EventLog()
    read_events(path, log)
    return log.points.get(tag, []), log


def test_the_checksum_is_the_published_one():
    assert crc32c(b"123456789") == 0xE3069283


def test_csv_as_keras_writes_it(tmp_path):
    path = tmp_path / "training.log"
    path.write_text(
        "epoch,accuracy,loss,val_accuracy,val_loss\n0,0.5,0.7,0.5,NA\n1,0.6,nan,0.55,0.8\n2,0.7,0.5,0.5,0.9\n3,0."
    )
    run = gather_logs(tmp_path).chosen
    assert (run.steps, run.unit, run.metric_name) == ((0.0, 1.0, 2.0), "epoch", "accuracy")
    assert run.loss[0] == 0.7
    assert math.isnan(run.loss[1])
    assert (run.val_steps, run.val_loss) == ((1.0, 2.0), (0.8, 0.9))
    assert "1 damaged row" in run.problem


def test_csv_of_a_run_that_was_started_again(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("epoch,loss\n0,5\n1,4\n2,3\n" + "epoch,loss\n1,2\n2,1\n")
    assert gather_logs(path).chosen.loss == (5.0, 2.0, 1.0)


@pytest.mark.parametrize(
    "value",
    [
        {"loss": [3, 2, 1], "val_loss": [3, 3, None], "lr": [0.1, 0.1, 0.01]},
        {"history": {"loss": [3, 2, 1], "val_loss": [3, 3, math.nan], "lr": [0.1, 0.1, 0.01]}, "epoch": [0, 1, 2]},
        {
            "loss": {"0": 3, "1": 2, "2": 1},
            "val_loss": {"0": 3, "1": 3, "2": "nan"},
            "lr": {"0": 0.1, "1": 0.1, "2": 0.01},
        },
    ],
    ids=["history.history", "a whole History", "pandas"],
)
def test_history_as_json(tmp_path, value):
    (tmp_path / "history.json").write_text(json.dumps(value))
    run = gather_logs(tmp_path).chosen
    assert run.loss == (3.0, 2.0, 1.0)
    assert run.val_loss[:2] == (3.0, 3.0)
    assert math.isnan(run.val_loss[2])
    assert run.learning_rate == (0.1, 0.1, 0.01)


def test_event_values_of_every_kind(tmp_path):
    values = [
        simple("loss", 0.5),
        tensor("float", 1, encode_bytes(4, struct.pack("<f", 0.25))),
        tensor("packed", 1, encode_bytes(5, struct.pack("<f", 0.75))),
        tensor("double", 2, encode_bytes(4, struct.pack("<d", 0.1))),
        tensor("half", 19, encode_bytes(13, encode_varint(0x3800))),
        tensor("bfloat", 14, encode_bytes(4, b"\x80\x3f")),
        tensor("whole", 9, encode_bytes(10, encode_varint(7))),
        tensor("nan", 1, encode_bytes(4, struct.pack("<f", math.nan))),
        tensor("pairs", 1, encode_bytes(4, b"12345678"), "histograms", encode_bytes(2, b"\x08\x02")),
        tensor("words", 7, encode_bytes(8, b"hello"), "text"),
    ]
    path = write_events(tmp_path, [event(-3, *values)])
    log = EventLog()
    read_events(path, log)
    found = {tag: value for tag, ((_, _, value),) in log.points.items()}
    assert math.isnan(found.pop("nan"))
    assert found == {
        "loss": 0.5,
        "float": 0.25,
        "packed": 0.75,
        "double": 0.1,
        "half": 0.5,
        "bfloat": 1.0,
        "whole": 7.0,
    }
    assert log.points["loss"][0][0] == -3


def test_a_damaged_record_loses_itself(tmp_path):
    path = write_events(tmp_path, [event(at, simple("loss", float(at))) for at in range(200)])
    whole = bytearray(path.read_bytes())
    size = len(event(0, simple("loss", 0.0)))
    whole[len(whole) - 100 * size + 30] ^= 0xFF
    path.write_bytes(whole)
    found, log = points(path)
    assert (len(found), log.bad_records) == (199, 1)


def test_a_damaged_length_costs_one_record(tmp_path):
    path = write_events(tmp_path, [event(at, simple("loss", float(at))) for at in range(200)])
    whole = bytearray(path.read_bytes())
    whole[len(whole) - 100 * len(event(199, simple("loss", 0.0)))] ^= 0xFF
    path.write_bytes(whole)
    found, log = points(path)
    assert len(found) >= 198
    assert log.bad_records == 1
    assert found[-1][2] == 199


def test_a_file_cut_short_keeps_its_whole_records(tmp_path):
    path = write_events(tmp_path, [event(at, simple("loss", float(at))) for at in range(20)])
    path.write_bytes(path.read_bytes()[:-5])
    found, log = points(path)
    assert len(found) == 19
    assert log.truncated_bytes > 0
    assert "incomplete" in gather_logs(tmp_path).chosen.problem


def test_train_and_validation_folders_are_one_run(tmp_path):
    write_events(
        tmp_path / "run" / "train",
        [event(at, simple("epoch_loss", 1 - at / 10), simple("epoch_accuracy", at / 10)) for at in range(5)],
    )
    write_events(tmp_path / "run" / "validation", [event(at, simple("epoch_loss", 2 - at / 10)) for at in range(5)])
    run = gather_logs(tmp_path).chosen
    assert (run.run, run.unit, run.metric_name) == ("run", "epoch", "accuracy")
    assert run.val_loss[0] == pytest.approx(2)
    assert run.loss[-1] == pytest.approx(0.6)


def test_a_restart_overwrites_later_steps(tmp_path):
    write_events(tmp_path, [event(at, simple("loss", 1.0)) for at in range(10)], "events.out.tfevents.1.host")
    write_events(tmp_path, [event(at, simple("loss", 2.0)) for at in range(5, 8)], "events.out.tfevents.2.host")
    run = gather_logs(tmp_path).chosen
    assert run.steps == tuple(range(8))
    assert run.loss == (1.0,) * 5 + (2.0,) * 3


def test_a_folder_without_logs_is_said_to_be_one(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "data.json").write_text("[1, 2]")
    with pytest.raises(UnreadableFile, match="expected training logs"):
        gather_logs(tmp_path)


def test_links_are_not_followed(tmp_path):
    outside = tmp_path / "outside.csv"
    outside.write_text("epoch,loss\n0,1\n")
    inside = tmp_path / "logs"
    inside.mkdir()
    (inside / "link.csv").symlink_to(outside)
    with pytest.raises(UnreadableFile):
        gather_logs(inside)


@given(st.binary(max_size=400))
def test_foreign_bytes_never_raise(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("foreign")
    for name in ("events.out.tfevents.x", "a.csv", "b.json"):
        (folder / name).write_bytes(content)
    write_events(folder, [content], "events.out.tfevents.y")
    for tracker in all_trackers().values():
        if tracker.sniff(folder):
            tracker.read(folder)


def test_real_event_files(shared_dir):
    sizes = {}
    for path in sorted((shared_dir / "real" / "tfevents").iterdir()):
        _, log = points(path)
        assert log.bad_records == 0
        sizes[path.name[:3]] = {tag: len(values) for tag, values in log.points.items()}
    assert sizes["012"]["train/loss" if "train/loss" in sizes["012"] else next(iter(sizes["012"]))] > 100


def test_the_task_answers_with_curve_evidence(tmp_path):
    (tmp_path / "log.csv").write_text("epoch,loss\n0,1\n1,nan\n")
    from stethoscope.tasks import all_tasks

    context = TaskContext(
        files={"logs": ModelFile.at(tmp_path)}, params={}, folder=tmp_path, budget=Budget(1 << 30, 10),
        report=lambda *_, **__: None, memory=None, open_model=None,
    )  # fmt: skip
    value = json.loads(json.dumps(all_tasks()["read_logs"].run(context), allow_nan=False))
    run = decode(CurveEvidence, value)
    assert (value["others"], value["left_out"]) == ([], 0)
    assert run.loss[0] == 1
    assert math.isnan(run.loss[1])
