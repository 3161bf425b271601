"""The view Speed and size of the page Parity, on real models and a real job."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from stethoscope.store import store
from tests.conftest import PROJECT
from tests.dashboard.visiting import ME, open_page, settle, text

BUILT = PROJECT / "sample_models" / "built"
QUICK = {"look": "speed", "speed-sizes": "1,4", "speed-seconds": "0.1"}


@pytest.fixture
def exported(app):
    return store().add_file(BUILT / "digits_cnn.onnx", "digits.onnx", ME)


@pytest.fixture
def on_the_phone(app):
    return store().add_file(BUILT / "digits_cnn.tflite", "digits.tflite", ME)


def said(app: AppTest) -> str:
    return text(app).replace("\\", "").replace("\u2060", "")


def test_without_an_answer_the_view_says_what_it_would_tell(app, exported):
    open_page(app, "parity", exported, **QUICK)
    assert "Which one is faster, and which is smaller?" in said(app)
    assert "Choose the models that do the same job" in said(app)
    assert not app.button("run-Times").disabled  # one alone can be timed


def test_two_models_are_timed_and_a_link_reopens_the_answer(app, exported, on_the_phone):
    open_page(app, "parity", exported, other=on_the_phone.id, **QUICK)
    app.button("run-Times").click()
    shown = said(settle(app))
    assert "is the fastest with 1 row a call" in shown
    assert "is the smallest" in shown
    assert app.dataframe[0].value["Model"].tolist() == ["digits.onnx", "digits.tflite"] * 2
    assert app.code[-1].value == "stethoscope latency digits.onnx digits.tflite --batch-sizes 1,4 --seconds 0.1"

    link = {name: app.query_params[name] for name in ("model", "job", "look")}
    fresh = open_page(AppTest.from_file(str(PROJECT / "dashboard" / "Home.py"), default_timeout=90), "parity", **link)
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
    assert "Does the other one answer the same?" in said(settle(app))
    app.button("run-Compare").click()
    assert "answers as digits.onnx does" in said(settle(app))
    app.session_state["look"] = "speed"
    assert "is the fastest with 1 row a call" in said(settle(app))


def test_batch_sizes_that_are_none_are_a_sentence(app, exported):
    open_page(app, "parity", exported, **{**QUICK, "speed-sizes": "many"})
    assert "Batch sizes: expected whole numbers" in said(app)
    assert app.button("run-Times").disabled
