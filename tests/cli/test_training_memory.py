"""`sweep --train`: points of `call` "fit", changes by rank with the code of the best, and what makes no sense."""

from __future__ import annotations

import pytest

from stethoscope.cli import training_memory
from stethoscope.codec import plain
from stethoscope.errors import BadSetting
from stethoscope.memory.fit_changes import CHANGE_KINDS, fit_changes
from stethoscope.memory.points import LargestBatch, LargestBatchAt, Point
from stethoscope.memory.training_points import FitTrial, HeldBytes, TrainingSwept, compared, ranked
from stethoscope.types import JobResult, Status

MIB = 1 << 20
SGD = next(change for change in fit_changes("Adam", 8, modern=True) if change.optimizer == "SGD")
ANSWER = TrainingSwept(
    "fit",
    points=(Point(8, "fit", 100 * MIB).measured(110 * MIB, time_per_sample_s=0.001),),
    largest_batch=LargestBatch(60, 70, 1 << 30),
    largest_batches=(LargestBatchAt(60, 70, 1 << 30, None),),
    optimizer="Adam",
    assumed=("Nobody said it.",),
    trials_batch=8,
    trials=ranked([FitTrial(SGD, peak_bytes=60 * MIB, time_per_sample_s=0.0005)], 110 * MIB),
    best=SGD.id,
    compared=compared(8, 24, (110 * MIB, HeldBytes(weights=MIB)), (50 * MIB, HeldBytes(weights=MIB)), None),
)
RESULT = JobResult(Status.OK, plain(ANSWER), "", "sweep_training", 110 * MIB, 1.0)


def test_the_answer_has_the_shape_of_a_sweep():
    value = training_memory.answer(RESULT)
    assert [point["call"] for point in value["points"]] == ["fit"]
    assert value["largest_batch"] == {"low": 60, "high": 70, "budget_bytes": 1 << 30}
    (call,) = value["calls"]
    assert call["trials"][0]["change"]["id"] == call["best"] == "optimizer-sgd"
    assert call["compared"]["fit_peak_bytes"] == 110 * MIB


def test_people_read_the_rank_and_the_code(capsys):
    training_memory.show(RESULT)
    shown = capsys.readouterr().out
    assert "60 to 70" in shown
    assert "+45%" in shown
    assert SGD.code in shown
    assert "Nobody said it." in shown


def test_kinds_of_changes_are_those_of_training():
    assert training_memory.change_kinds("batch,call", "batch,call") == CHANGE_KINDS
    assert training_memory.change_kinds("precision, optimizer", "batch,call") == ("precision", "optimizer")
    with pytest.raises(BadSetting, match="luck"):
        training_memory.change_kinds("luck", "batch,call")
