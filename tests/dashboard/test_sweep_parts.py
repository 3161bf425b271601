"""What a sweep's pictures and table say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dashboard.cost import lowering_parts, sweep_figures, sweep_parts
from stethoscope.memory.alternatives import Alternative
from stethoscope.memory.lowering_report import Lowered, Trial
from stethoscope.memory.points import Point
from stethoscope.memory.run_settings import RunSettings
from stethoscope.types import Status

MIB = 1 << 20


def point(batch: int, predicted: int, measured: int | None, **more: Any) -> Point:
    planned = Point(batch, "function", predicted * MIB, **more)
    if measured is None:
        return replace(planned, status=Status.REFUSED, reason="Not started: too much.")
    return planned.measured(measured * MIB, time_per_sample_s=0.01 / batch)


def trace(figure: Any, name: str) -> Any:
    return next(one for one in figure.data if one.name == name)


SWEEP = [point(1, 10, 10, calibration=True), point(8, 22, 20), point(64, 90, None)]


def test_what_only_calibrated_is_no_prediction():
    figure = sweep_figures.memory(SWEEP, 80 * MIB)
    assert list(trace(figure, "predicted").x) == [8, 64]
    assert list(trace(figure, "measured").x) == [1, 8]
    assert list(trace(figure, "does not fit").x) == [64]
    assert [note.text for note in figure.layout.annotations] == ["limit 80.0 MiB"]


def test_a_limit_far_away_is_not_drawn():
    assert not sweep_figures.memory(SWEEP, 8_000 * MIB).layout.shapes


def test_each_open_size_has_its_own_curve():
    points = [point(batch, 10 * size, 10 * size, size=size) for size in (16, 64) for batch in (1, 8)]
    figure = sweep_figures.memory(points, None)
    assert list(trace(figure, "size 64, measured").y) == [640, 640]
    assert len(sweep_figures.times(points, 8).data) == 2
    assert list(sweep_parts.table(points)["Batch"]) == ["1 of size 16", "8 of size 16", "1 of size 64", "8 of size 64"]


def test_labels_of_batches_do_not_lie_on_each_other():
    points = [point(batch, 10, 10) for batch in (1, 2, 4, 1024)]
    assert list(sweep_figures.memory(points, None).layout.xaxis.tickvals) == [1024, 4]


def test_the_table_says_errors_and_what_was_not_started():
    table = sweep_parts.table(SWEEP, [point(70, 79, 78, purpose="largest"), point(71, 80, None, purpose="check")])
    assert table["Error"] == ["calibration", "+10.0 %", "—", "+1.3 %", "—"]
    assert table["Ended"] == ["done", "done", SWEEP[2].reason, "done", SWEEP[2].reason]
    assert table["Batch"][-2:] == ["70 (largest?)", "71 (check)"]


def test_settings_still_to_be_tried_keep_their_place():
    present, eager, half = (
        Trial(Alternative(kind, kind, title, RunSettings()), ended, peak_bytes=peak)
        for kind, title, ended, peak in (
            ("together", "as it is", Status.OK, 30 * MIB),
            ("call", "model(x)", Status.OK, 20 * MIB),
            ("precision", "bfloat16: half-size everything", None, None),
        )
    )
    figure = lowering_parts.picture(Lowered(present, (eager, half)))
    assert list(figure.layout.yaxis.ticktext) == ["model(x)", f"{present.alternative.title} now", "bfloat16"]
    assert list(figure.data[0].x) == [20, 30]
