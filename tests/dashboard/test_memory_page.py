"""The Memory page on light workers: sweeps, what lowers the peak, repeated calls; each reopened by its link."""

from __future__ import annotations

import re

from dashboard.cost.numbers import numbers
from tests.dashboard.visiting import add, badges, cancel, keys, open_page, reopened, said, settle, text
from tests.small_models import endless_onnx, hungry_onnx, tiny_onnx


def test_a_sweep_says_the_largest_batch_and_its_link_reopens_it(app, tmp_path):
    open_page(app, "memory", add(tmp_path, lambda path: hungry_onnx(path, 2)), sizes="1, 4, 16", limit="512")
    app.button("run-Sweep").click()
    shown = text(settle(app))
    for part in ("Largest batch", "Worth its memory", "within 512 MiB"):
        assert part in shown
    assert app.code[0].value == (
        "stethoscope sweep model.onnx --batch-sizes 1,4,16 --call function --memory-limit 512MiB"
    )
    (table,) = app.dataframe
    assert list(table.value["Batch"])[:3] == ["1", "4", "16"]
    assert next(iter(table.value["Error"])) == "calibration"
    fresh = reopened(app, "memory")
    assert fresh.text_input("sizes").value == "1, 4, 16"
    assert "within 512 MiB" in text(fresh)


def test_batch_sizes_that_are_none_are_said_to_be(app, tmp_path):
    open_page(app, "memory", add(tmp_path, tiny_onnx))
    for wrong in ("", "none", "1, -4", "0"):
        app.text_input("sizes").set_value(wrong)
        assert [one.value.partition(":")[0] for one in settle(app).warning] == ["Batch sizes"], wrong
        assert "run-Sweep" not in keys(app)


def test_numbers_are_read_with_commas_or_spaces():
    assert numbers("8, 1 64,8") == [1, 8, 64]
    assert numbers("") == []
    assert numbers("1.5") is None


def test_a_sweep_is_cancelled(app, tmp_path):
    open_page(app, "memory", add(tmp_path, endless_onnx))
    app.button("run-Sweep").click()
    assert badges(cancel(app)) == {"Cancelled": "gray"}


def test_repeated_calls_say_whether_memory_leaks(app, tmp_path):
    open_page(app, "memory", add(tmp_path, tiny_onnx), question="Repeated calls", calls="20")
    assert "call" not in [box.key for box in app.selectbox]  # one way of calling such a file
    app.button("run-Call it again and again").click()
    shown = text(settle(app))
    assert "20 equal calls" in shown
    assert "nothing is traced" in shown
    assert "First call" in shown
    assert "--calls 20" in app.code[0].value


def test_what_lowers_the_peak_is_ranked_and_kept(app, tmp_path):
    open_page(app, "memory", add(tmp_path, tiny_onnx), question="What lowers it")
    app.button("study-lowering").click()
    shown = text(settle(app))
    assert badges(app)["Nothing better"] == "gray"
    untried = re.findall(r"Not tried: (.*?)\.", shown.replace("\\", ""))
    assert [kind.removeprefix("other ") for kind in untried[0].split(", ")] == ["call styles", "XLA", "precisions"]
    (table,) = app.dataframe
    assert set(table.value["Ended"]) == {"done"}
    assert "study" in app.query_params
    assert badges(reopened(app, "memory")) == badges(app)


def test_a_search_that_runs_is_not_started_twice_and_is_cancelled(app, tmp_path):
    open_page(app, "memory", add(tmp_path, endless_onnx), question="What lowers it")
    app.button("study-lowering").click()
    app.run()
    assert app.button("study-lowering").disabled
    assert "Cancelled" in said(cancel(app))
    assert not app.button("study-lowering").disabled
