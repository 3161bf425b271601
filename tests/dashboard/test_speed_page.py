"""The view Speed and size of the page Parity, on real models and a real job."""

from __future__ import annotations

import pytest

from sample_models import BUILT
from stethoscope.jobs.store import store
from tests.dashboard.visiting import ME, badges, keys, open_page, said, settle, visitor

QUICK = {"look": "speed", "speed-sizes": "1,4", "speed-seconds": "0.1"}


@pytest.fixture
def exported(app):
    return store().add_file(BUILT / "digits_cnn.onnx", "digits.onnx", ME)


@pytest.fixture
def on_the_phone(app):
    return store().add_file(BUILT / "digits_cnn.tflite", "digits.tflite", ME)


def test_without_an_answer_the_view_says_what_it_would_tell(app, exported):
    open_page(app, "parity", exported, **QUICK)
    assert app.multiselect[0].value == []
    assert not app.dataframe
    assert not app.button("run-Times").disabled  # one alone can be timed


def test_two_models_are_timed_and_a_link_reopens_the_answer(app, exported, on_the_phone):
    open_page(app, "parity", exported, other=on_the_phone.id, **QUICK)
    app.button("run-Times").click()
    shown = said(settle(app))
    assert all(word in shown for word in ("fastest with 1 row", "fastest with 4 rows", "smallest"))
    assert app.dataframe[0].value["Model"].tolist() == ["digits.onnx", "digits.tflite"] * 2
    assert app.code[-1].value == "stethoscope latency digits.onnx digits.tflite --batch-sizes 1,4 --seconds 0.1"

    link = {name: app.query_params[name] for name in ("model", "job", "look")}
    fresh = visitor("parity", **link)
    assert fresh.dataframe[0].value.equals(app.dataframe[0].value)
    assert fresh.multiselect[0].value == [on_the_phone.id]

    first = app.query_params["job"]
    app.button("run-Times").click()
    settle(app)
    assert app.query_params["job"] != first  # times are never twice the same: asked again, taken again


def test_both_views_keep_their_own_answer(app, exported, on_the_phone):
    open_page(app, "parity", exported, other=on_the_phone.id, **QUICK)
    app.button("run-Times").click()
    settle(app)
    app.session_state["look"] = "answers"
    assert "run-Compare" in keys(settle(app))
    app.button("run-Compare").click()
    assert badges(settle(app)) == {"Within tolerance": "green"}
    app.session_state["look"] = "speed"
    assert "fastest with 1 row" in said(settle(app))
    assert badges(app) == {"Timed": "green"}


def test_batch_sizes_that_are_none_are_a_sentence(app, exported):
    open_page(app, "parity", exported, **{**QUICK, "speed-sizes": "many"})
    assert "Batch sizes" in [one.value.partition(":")[0] for one in app.warning]
    assert app.button("run-Times").disabled
