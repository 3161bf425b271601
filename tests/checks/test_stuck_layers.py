"""Recorded layers that stand still are named; those of trainings that learn, or that broke, are not blamed."""

from __future__ import annotations

from dataclasses import replace

from sample_models.specimens.stuck_layers import SPECIMEN
from stethoscope.checks.findings import Severity
from stethoscope.checks.stuck_layers import CHECK
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.logs.as_curve import curve_of
from stethoscope.logs.curves import CurveEvidence, LayerMeasure
from stethoscope.tasks.examine_runs import examine_runs, gather_runs
from tests.tables import each

FLAT = tuple(2.3 + 0.001 * (at % 3) for at in range(20))
FALLING = tuple(2.3 * 0.8**at for at in range(20))


def measure(kind="dead_fraction", layer="hidden", lowest=1.0, highest=1.0, looks=30):
    return LayerMeasure(kind, layer, f"train/{kind}/{layer}", looks, 200.0, 300.0, lowest, highest)


def found(loss, *layers, **more):
    curve = CurveEvidence("run", "log", "epoch", tuple(map(float, range(len(loss)))), loss, layers=layers, **more)
    return [(one.where, one.severity) for one in CHECK.run(EvidenceSet(logs=curve))]


def test_the_specimen_is_named_and_its_twin_is_not(tmp_path):
    for name in ("faulty", "healthy"):
        (tmp_path / name).mkdir()
        getattr(SPECIMEN, name)().logs(tmp_path / name)
    report = examine_runs(gather_runs(tmp_path / "faulty"))
    first = report.findings[0]
    assert (first.check_id, first.where, first.severity) == ("stuck-layers", "hidden", Severity.HIGH)
    assert "units of hidden" in first.message and "reaches hidden" in first.message
    (mark,) = first.marks
    assert mark.tag == "dead_fraction/hidden" and mark.at > 100 and mark.until == 200
    assert not [
        one for one in examine_runs(gather_runs(tmp_path / "healthy")).findings if one.severity >= Severity.HIGH
    ]


def test_what_is_read_of_a_layer_is_the_last_third(tmp_path):
    SPECIMEN.faulty().logs(tmp_path)
    (run,) = gather_runs(tmp_path)
    (dead,) = (one for one in curve_of(run).layers if one.kind == "dead_fraction")
    assert (dead.layer, dead.looks, dead.lowest, dead.highest) == ("hidden", 40, 1.0, 1.0)
    assert (dead.since, dead.until) == (135.0, 200.0)


@each(
    ("loss", "layers", "wanted"),
    [
        (FLAT, [measure()], [("hidden", Severity.HIGH)]),
        (FALLING, [measure()], [("hidden", Severity.LOW)]),
        (FLAT, [measure(lowest=0.5)], []),
        (FLAT, [measure(looks=3)], []),
        ((*FLAT, float("nan")), [measure()], []),
        (FLAT, [measure("gradient_norm", lowest=0.0, highest=0.0)], [("hidden", Severity.HIGH)]),
        (FLAT, [measure("gradient_norm", lowest=0.0, highest=1e-9)], []),
        (FALLING, [measure("gradient_norm", lowest=0.0, highest=0.0)], []),
        ((0.0,) * 20, [measure("gradient_norm", lowest=0.0, highest=0.0)], []),
        (FLAT, [measure("saturated_fraction")], []),
    ],
)
def test_when_it_speaks(loss, layers, wanted):
    assert found(loss, *layers) == wanted


def test_saturated_layers_are_blamed_when_a_score_says_that_nothing_is_learned():
    steps = tuple(map(float, range(20)))
    guessed = {"metric": (0.5, 0.51) * 10, "metric_steps": steps, "metric_name": "accuracy"}
    known = {"metric": (0.98, 0.99) * 10, "metric_steps": steps, "metric_name": "accuracy"}
    layer = replace(measure("saturated_fraction"), layer="gate")
    assert found(FLAT, layer, **guessed) == [("gate", Severity.HIGH)]
    assert found(FLAT, layer, **known) == []
