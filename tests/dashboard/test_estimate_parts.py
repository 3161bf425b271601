"""What an estimate's pictures say, and the button that makes one on the Memory page."""

from __future__ import annotations

from typing import Any

from dashboard.cost import estimate_figures
from tests.answers import row_of
from tests.dashboard.visiting import add, open_page, settle, text
from tests.models import hungry_onnx

MIB = 1 << 20


def one(batch: int, live: int) -> dict[str, Any]:
    sizes = {"weights": 10, "live": live, "workspace": 0, "outputs": 0, "input": 1, "runtime": 5}
    moments = [("a", "first", live // 2), ("b", "second", live), ("c", "", 1)]
    timeline = [
        row_of("estimate", "estimates")["timeline"][0]
        | {"operation": name, "layer": layer, "live_bytes": size * MIB, "largest": [[layer or name, size * MIB]]}
        for name, layer, size in moments
    ]
    bytes_of = {f"{part}_bytes": size * MIB for part, size in sizes.items()}
    peak = sum(sizes.values()) * MIB
    return row_of("estimate", "estimates", batch_size=batch, peak_bytes=peak, timeline=timeline, **bytes_of)


def test_parts_are_stacked_beside_what_was_measured():
    points = [row_of("sweep", "points", batch_size=8, measured_peak_bytes=60 * MIB)]
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
