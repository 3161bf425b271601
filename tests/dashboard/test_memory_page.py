"""The Memory page on light workers: sweeps, what lowers the peak, repeated calls; each reopened by its link."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.cost import memory_inputs
from tests.conftest import PROJECT
from tests.dashboard.visiting import add, keys, open_page, settle, text
from tests.models import endless_onnx, hungry_onnx, tiny_onnx


def again(app: AppTest) -> AppTest:
    """Another browser tab with the same address."""
    fresh = AppTest.from_file(str(PROJECT / "dashboard" / "Home.py"), default_timeout=90)
    for name, value in app.query_params.items():
        fresh.query_params[name] = value
    fresh.run()
    return fresh


def reopened(app: AppTest) -> AppTest:
    fresh = again(app)
    fresh.switch_page("../pages/50_memory.py")
    return settle(fresh)


def test_a_sweep_says_the_largest_batch_and_its_link_reopens_it(app, tmp_path):
    open_page(app, "memory", add(tmp_path, lambda path: hungry_onnx(path, 2)), sizes="1, 4, 16", limit="512")
    assert "Small batches are measured" in text(app)
    app.button("run-Sweep").click()
    shown = text(settle(app, 60))
    for part in ("Largest batch", "Worth its memory", "within 512 MiB"):
        assert part in shown
    assert app.code[0].value == (
        "stethoscope sweep model.onnx --batch-sizes 1,4,16 --call function --memory-limit 512MiB"
    )
    (table,) = app.dataframe
    assert list(table.value["Batch"]) == ["1", "4", "16"]
    assert next(iter(table.value["Error"])) == "calibration"
    fresh = reopened(app)
    assert fresh.text_input("sizes").value == "1, 4, 16"
    assert "within 512 MiB" in text(fresh)


@pytest.mark.parametrize("wrong", ["", "none", "1, -4", "0"])
def test_batch_sizes_that_are_none_are_said_to_be(app, tmp_path, wrong):
    open_page(app, "memory", add(tmp_path, tiny_onnx))
    app.text_input("sizes").set_value(wrong)
    assert "Batch sizes: expected whole numbers" in text(settle(app))
    assert "run-Sweep" not in keys(app)


def test_numbers_are_read_with_commas_or_spaces():
    assert memory_inputs.numbers("8, 1 64,8") == [1, 8, 64]
    assert memory_inputs.numbers("") == []
    assert memory_inputs.numbers("1.5") is None


def test_a_sweep_is_cancelled(app, tmp_path):
    open_page(app, "memory", add(tmp_path, endless_onnx))
    app.button("run-Sweep").click()
    app.run()
    next(button for button in app.button if (button.key or "").startswith("cancel-page")).click()
    app.run()
    assert "This run was cancelled" in text(settle(app))


def test_repeated_calls_say_whether_memory_leaks(app, tmp_path):
    open_page(app, "memory", add(tmp_path, tiny_onnx), question="Repeated calls", calls="20")
    assert "call" not in [box.key for box in app.selectbox]  # one way of calling such a file
    app.button("run-Call it again and again").click()
    shown = text(settle(app, 60))
    assert "20 equal calls" in shown
    assert "finished graph: nothing is traced" in shown.replace("\\", "")
    assert "First call" in shown
    assert "--calls 20" in app.code[0].value


def test_what_lowers_the_peak_is_ranked_and_kept(app, tmp_path):
    open_page(app, "memory", add(tmp_path, tiny_onnx), question="What lowers it")
    app.button("study-lowering").click()
    shown = text(settle(app, 60))
    assert "None of what was tried lowers the peak" in shown
    assert "Not tried: other call styles, XLA, other precisions." in shown.replace("\\", "")
    (table,) = app.dataframe
    assert set(table.value["Ended"]) == {"done"}
    assert "study" in app.query_params
    assert "None of what was tried" in text(reopened(app))


def test_a_search_that_runs_is_not_started_twice_and_is_cancelled(app, tmp_path):
    open_page(app, "memory", add(tmp_path, endless_onnx), question="What lowers it")
    app.button("study-lowering").click()
    app.run()
    assert app.button("study-lowering").disabled
    next(button for button in app.button if (button.key or "").startswith("cancel-page")).click()
    app.run()
    assert "Cancelled" in " ".join([text(app), *(badge.value for badge in settle(app).markdown)])
    assert not app.button("study-lowering").disabled
