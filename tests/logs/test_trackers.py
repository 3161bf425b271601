"""Logs as trackers write them, whole and damaged."""

from __future__ import annotations

import json
import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.codec import decode, plain
from stethoscope.errors import UnreadableFile
from stethoscope.logs import all_trackers
from stethoscope.logs.as_curve import Roles, roles
from stethoscope.logs.curves import CurveEvidence
from stethoscope.task import TaskContext
from stethoscope.tasks.examine_runs import gather_logs, gather_runs
from stethoscope.tasks.read_logs import TASK
from stethoscope.types import Budget, ModelFile
from tests.exploring import examples
from tests.logs.event_writing import event, simple, write_events
from tests.tables import each


def test_csv_as_keras_writes_it(tmp_path):
    path = tmp_path / "training.log"
    path.write_text(
        "epoch,accuracy,loss,val_accuracy,val_loss\n0,0.5,0.7,0.5,NA\n1,0.6,nan,0.55,0.8\n2,0.7,0.5,0.5,0.9\n3,0."
    )
    run = gather_logs(tmp_path)
    assert (run.steps, run.unit, run.metric_name) == ((0.0, 1.0, 2.0), "epoch", "accuracy")
    assert run.loss[0] == 0.7
    assert math.isnan(run.loss[1])
    assert (run.val_steps, run.val_loss) == ((1.0, 2.0), (0.8, 0.9))
    assert "1 damaged record" in run.problem


def test_csv_of_a_run_that_was_started_again(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("epoch,loss\n0,5\n1,4\n2,3\n" + "epoch,loss\n1,2\n2,1\n")
    assert gather_logs(path).loss == (5.0, 2.0, 1.0)


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
    run = gather_logs(tmp_path)
    assert run.loss == (3.0, 2.0, 1.0)
    assert run.val_loss[:2] == (3.0, 3.0)
    assert math.isnan(run.val_loss[2])
    assert run.learning_rate == (0.1, 0.1, 0.01)


def test_train_and_validation_folders_are_one_run(tmp_path):
    write_events(
        tmp_path / "run" / "train",
        [event(at, simple("epoch_loss", 1 - at / 10), simple("epoch_accuracy", at / 10)) for at in range(5)],
    )
    write_events(tmp_path / "run" / "validation", [event(at, simple("epoch_loss", 2 - at / 10)) for at in range(5)])
    run = gather_logs(tmp_path)
    assert (run.run, run.unit, run.metric_name) == ("run", "epoch", "accuracy")
    assert run.val_loss[0] == pytest.approx(2)
    assert run.loss[-1] == pytest.approx(0.6)


def test_a_restart_overwrites_later_steps(tmp_path):
    write_events(tmp_path, [event(at, simple("loss", 1.0)) for at in range(10)], "events.out.tfevents.1.host")
    write_events(tmp_path, [event(at, simple("loss", 2.0)) for at in range(5, 8)], "events.out.tfevents.2.host")
    run = gather_logs(tmp_path)
    assert run.steps == tuple(range(8))
    assert run.loss == (1.0,) * 5 + (2.0,) * 3


@each(
    ("older", "newer", "chosen"),
    [
        ([5, 4, 3, 2, 1], [9], "a.csv"),
        ([5, 4, 3, 2, 1], [9, 8, 7, 6, 5], "b.csv"),
        ([5, 4, 3, 2, 1], ["nan"], "b.csv"),
        ([5, 4], [9], "a.csv"),
        ([5, 4], [9, 8], "b.csv"),
    ],
    ids=["the new one has only begun", "both are whole", "the new one broke", "both are short", "alike"],
)
def test_the_newest_run_that_tells_something_is_chosen(tmp_path, older, newer, chosen):
    for at, (name, losses) in enumerate({"a.csv": older, "b.csv": newer}.items()):
        rows = "".join(f"{epoch},{loss}\n" for epoch, loss in enumerate(losses))
        (tmp_path / name).write_text(f"epoch,loss\n{rows}")
        os.utime(tmp_path / name, (at, at))
    assert gather_logs(tmp_path).run == chosen


def test_what_a_recording_measured_of_layers_is_no_loss():
    found = roles(
        ["train/epoch_loss", "gradient_norm/loss", "update_ratio/accuracy", "memory/loss", "validation/epoch_loss"]
    )
    assert found == Roles("train/epoch_loss", "", "validation/epoch_loss", "", "")


def test_curves_of_dvclive_are_one_run(tmp_path):
    for name, value in (("train/loss", 0.5), ("eval/loss", 0.7)):
        path = tmp_path / "dvclive" / "plots" / "metrics" / f"{name}.tsv"
        path.parent.mkdir(parents=True)
        path.write_text(f"step\tloss\n0\t{value}\n1\t{value / 2}\n")
    run = gather_logs(tmp_path)
    assert (run.loss, run.val_loss) == ((0.5, 0.25), (0.7, 0.35))
    assert len(gather_runs(tmp_path)) == 1
    assert gather_logs(tmp_path / "dvclive" / "plots" / "metrics" / "train").loss == (0.5, 0.25)


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


@examples(100)
@given(st.binary(max_size=400))
def test_foreign_bytes_never_raise(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("foreign")
    for name in ("events.out.tfevents.x", "a.csv", "b.json"):
        (folder / name).write_bytes(content)
    write_events(folder, [content], "events.out.tfevents.y")
    for tracker in all_trackers().values():
        if tracker.sniff(folder):
            tracker.read(folder)


def test_the_task_answers_with_curve_evidence(tmp_path):
    (tmp_path / "log.csv").write_text("epoch,loss\n0,1\n1,nan\n")
    context = TaskContext(
        files={"logs": ModelFile.at(tmp_path)},
        params={},
        folder=tmp_path,
        budget=Budget(1 << 30, 10),
        report=lambda *_, **__: None,
        memory=None,
        open_model=None,
    )
    run = decode(CurveEvidence, json.loads(json.dumps(plain(TASK.run(context)), allow_nan=False)))
    assert run.loss[0] == 1
    assert math.isnan(run.loss[1])
