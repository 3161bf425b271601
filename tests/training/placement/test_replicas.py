"""One device against two: whether the curves agree, and what is named when they do not."""

from __future__ import annotations

import pytest

from stethoscope.codec import answer_of
from stethoscope.training.placement.config_changes import ReplicaReport, distance, explained
from stethoscope.types import Budget, Job, ModelFile, Status


def trained(engine, models, name, data="", **params) -> ReplicaReport:
    files = {"model": ModelFile.at(models / f"{name}.keras")}
    if data:
        files["data"] = ModelFile.at(models / f"{data}.npz")
    given = {"fit": {"batch_size": 32}, "epochs": 3} | params
    result = engine.wait(engine.submit(Job("replicas", files, given, Budget(3 << 30, 280), "tensorflow")), 290)
    assert result.status is Status.OK, result.reason
    return answer_of(result, ReplicaReport)


def test_equal_parts_of_the_same_batch_train_alike(engine, models):
    report = trained(engine, models, "plain", "even")
    assert report.agree and report.gap < 1e-5 and not report.suspects
    assert [curve.devices for curve in report.curves][:2] == [1, 2]
    assert all(len(curve.losses) == 3 for curve in report.curves)
    compile(report.code, "program.py", "exec")


def test_batch_normalisation_and_unequal_parts_are_named(engine, models):
    report = trained(engine, models, "old", "odd")
    assert not report.agree
    found = {suspect.id: suspect for suspect in report.suspects}
    assert set(found) == {"batch-normalisation", "reduction"}
    assert found["batch-normalisation"].explains != "nothing" and found["reduction"].explains == "all"
    assert "Batch normalisation" in report.sentence
    for suspect in report.suspects:
        compile(suspect.code, "change.py", "exec")


def test_a_batch_for_each_replica_is_a_larger_batch(engine, models):
    report = trained(engine, models, "plain", "even", batch="per replica")
    assert report.global_batch_size == 64 and not report.agree
    assert [suspect.id for suspect in report.suspects] == ["batch-size", "learning-rate"]
    assert report.suspects[0].explains == "all"
    assert "learning_rate = 0.1 * 2" in report.suspects[1].code
    faster = [curve for curve in report.curves if curve.learning_rate_factor == 2]
    slower = [curve for curve in report.curves if curve.devices == 2 and curve.learning_rate_factor == 1]
    assert faster and faster[0].losses[-1] != pytest.approx(slower[0].losses[-1], rel=1e-3)


def test_random_layers_are_no_disagreement(engine, models):
    report = trained(engine, models, "random", "even")
    assert report.agree and report.tolerance > 1e-3
    assert [suspect.id for suspect in report.suspects] == ["random-layers"]
    assert report.suspects[0].gap_after < 1e-5  # with nothing random they are the same


def test_settings_that_make_no_sense(engine, models):
    job = Job(
        "replicas", {"model": ModelFile.at(models / "plain.keras")}, {"devices": 1}, Budget(2 << 30, 60), "tensorflow"
    )
    result = engine.wait(engine.submit(job), 90)
    assert result.status is Status.FAILED and "2 to 8" in result.reason


@pytest.mark.parametrize(
    ("first", "second", "gap"),
    [([2.0, 1.0], [2.0, 0.9], 0.05), ([1.0], [float("nan")], float("inf")), ([float("nan")], [float("nan")], 0.0)],
)
def test_the_distance_of_two_curves(first, second, gap):
    assert distance(first, second) == pytest.approx(gap)


def test_how_much_is_explained():
    assert [explained(0.1, after, 1e-3) for after in (1e-4, 0.03, 0.07, 0.1, None)] == [
        "all",
        "most",
        "part",
        "nothing",
        "not tried",
    ]
