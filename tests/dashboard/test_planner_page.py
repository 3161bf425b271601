"""The Planner: plans that follow the settings in the address, and several models on one card."""

from __future__ import annotations

import onnx
import pytest

from dashboard.cost import sharing_inputs, sharing_parts
from stethoscope.memory.lowering_report import ModelRun, TogetherReport
from tests.dashboard.visiting import OTHER, add, badges, open_page, reopened, settle, text
from tests.small_models import tiny_onnx

TOGETHER = "Several models on one card"


def test_a_link_opens_the_same_plan(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    open_page(app, "planner", entry, device="other", plan="data", devices="4")
    app.text_input("device-memory").set_value("1GB")
    shown = text(settle(app))
    assert badges(app)["It fits"] == "green"
    assert "One device" in shown
    assert app.selectbox("device").value == "other"
    assert app.selectbox("plan").value == "data"
    assert "--device 1000000000B --devices 4" in app.code[-1].value


def test_what_does_not_fit_is_said_with_the_smallest_plan(app, tmp_path):
    open_page(app, "planner", add(tmp_path, tiny_onnx), device="other")
    app.text_input("device-memory").set_value("1")
    settle(app)
    assert app.warning or badges(app)["It does not fit"] == "red"


def test_inference_asks_for_no_optimizer(app, tmp_path):
    open_page(app, "planner", add(tmp_path, tiny_onnx), mode="inference")
    assert "optimizer" not in [box.key for box in app.selectbox]
    assert not [box for box in app.number_input if box.key == "sequence"]


@pytest.fixture
def two(tmp_path):
    first = add(tmp_path / "a", tiny_onnx, "one.onnx")
    second = add(tmp_path / "b", lambda path: tiny_onnx(path, 3.0), "one.onnx", owner=OTHER)
    return first, second


@pytest.mark.sweep  # a journey in the browser does the same
def test_models_run_together_and_the_link_reopens_it(app, two):
    first, second = two
    open_page(app, "planner", first, **{"plan-for": TOGETHER, "with": second.id, "card": "1GB"})
    assert app.multiselect("with").value == [second.id]  # a colleague's, by the link
    app.button("study-together").click()
    settle(app)
    assert badges(app)["They fit"] == "green"
    (table,) = app.dataframe
    assert list(table.value["Model"]) == ["one.onnx", "one (2).onnx"]
    fresh = reopened(app, "planner")
    assert badges(fresh) == badges(app)
    assert fresh.dataframe[0].value.equals(table.value)


def test_nothing_runs_before_a_second_model_is_chosen(app, two):
    open_page(app, "planner", two[0], **{"plan-for": TOGETHER, "with": "gone-gone-gone"})
    assert app.multiselect("with").value == []
    assert app.button("study-together").disabled
    assert "with" not in app.query_params


def test_files_of_the_same_name_are_told_apart(two):
    names = [tenant.name for tenant in sharing_inputs._tenants([two[0], two[1], two[0]], 4)]
    assert names == ["one.onnx", "one (2).onnx", "one (3).onnx"]
    assert onnx.load(two[0].file.path).graph.name == "tiny"


def test_the_card_is_not_being_divided_before_every_model_ran_alone():
    fresh, measured = ModelRun("a"), ModelRun("b", alone_bytes=1 << 20)
    assert sharing_parts.progress(TogetherReport((fresh, measured))) == (0.0, "")
    assert sharing_parts.progress(TogetherReport((measured, measured)))[1]
