"""What an estimate's pictures say, and the button that makes one on the Memory page."""

from __future__ import annotations

from dashboard.cost import estimate_figures
from stethoscope.memory.estimate import Estimate, Moment
from stethoscope.memory.points import Point
from tests.dashboard.visiting import add, open_page, settle, text
from tests.small_models import hungry_onnx

MIB = 1 << 20


def one(batch: int, live: int) -> Estimate:
    moments = (("a", "first", live // 2), ("b", "second", live), ("c", "", 1))
    return Estimate(
        batch,
        "function",
        None,
        weights_bytes=10 * MIB,
        live_bytes=live * MIB,
        workspace_bytes=0,
        outputs_bytes=0,
        input_bytes=1 * MIB,
        runtime_bytes=5 * MIB,
        peak_bytes=(16 + live) * MIB,
        phase="run",
        at="b",
        layer="second",
        alive=(),
        timeline=tuple(
            Moment(name, layer, size * MIB, ((layer or name, size * MIB),)) for name, layer, size in moments
        ),
    )


def test_parts_are_stacked_beside_what_was_measured():
    points = [Point(8, "function", None, measured_peak_bytes=60 * MIB)]
    figure = estimate_figures.parts([one(1, 5), one(8, 40)], points)
    bars = {bar.name: list(bar.y) for bar in figure.data if bar.type == "bar"}
    assert bars == {"weights": [10, 10], "alive together": [5, 40], "input": [1, 1], "the framework": [5, 5]}
    (measured,) = (trace for trace in figure.data if trace.name == "measured")
    assert (list(measured.x), list(measured.y)) == (["8"], [60])


def test_the_timeline_marks_its_peak_with_the_layer():
    figure = estimate_figures.timeline(one(8, 40))
    area, peak = figure.data
    assert list(area.y) == [20, 40, 1]
    assert list(peak.x) == [1]
    assert figure.layout.annotations[0].text == "second"
    assert "c" in area.customdata[2][0]


def test_a_model_is_estimated_without_a_run(app, tmp_path):
    open_page(app, "memory", add(tmp_path, lambda path: hungry_onnx(path, 2)), question="Before running", sizes="1, 16")
    app.button("run-Estimate without running").click()
    shown = text(settle(app))
    for part in ("Estimated peak", "was run", "batch 16"):
        assert part in shown
