"""The two trials about devices, as their answers are shown."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.dashboard.visiting import text

CLASH = {
    "sentence": "As saved it does not clash; compiled with XLA it does. 1 of 2 ways gives the same outputs: clone.",
    "clash": {
        "happened": True,
        "message": "Trying to access resource kernel/44 (defined @ /x/site-packages/keras/core.py:43) located in device CPU:0",
    },
    "attempts": [
        {
            "title": "Compile without XLA", "tried": True, "works": False, "equal": None, "reason": "It clashes.",
            "note": "", "code": "a = 1", "max_abs_diff": None,
        },
        {
            "title": "Clone", "tried": True, "works": True, "equal": True, "reason": "", "note": "Costs memory.",
            "code": "b = 2", "max_abs_diff": 0.0,
        },
    ],
    "assumed": ["The batch size was not said: 32."],
}  # fmt: skip
REPLICAS = {
    "sentence": "They agree. With nothing random the curves are 1e-05 % from each other.",
    "agree": True,
    "curves": [{"title": "One device", "losses": [2.0, 1.0]}, {"title": "2 devices", "losses": [2.0, 1.1]}],
    "suspects": [],
    "code": "strategy = 1",
}


def page(which: str, value: dict) -> None:
    import streamlit as st

    from dashboard.cost import placement_parts
    from stethoscope.jobs.state import JobState
    from stethoscope.types import JobResult, Status

    st.number_input("Devices", key="replicas")
    state = JobState("id", which, "me", "model", 0.0, status="done", result=JobResult(Status.OK, value, "", "", 0, 1.0))
    getattr(placement_parts, which)(state)


def shown(which: str, value: dict) -> AppTest:
    app = AppTest.from_function(page, args=(which, value), default_timeout=90).run()
    assert not app.exception
    return app


def test_the_clash_its_remedies_and_whether_outputs_are_equal():
    app = shown("clash", CLASH)
    said = text(app).replace("\\", "")
    assert "**As saved it does not clash; compiled with XLA it does.**" in said
    assert "The outputs are identical. Costs memory." in said
    assert "It clashes." in said
    assert "site-packages" not in app.code[0].value
    assert [one.proto.expanded for one in app.expander] == [False, True]  # the first that works is open


def test_curves_on_one_device_and_on_several():
    app = shown("replicas", REPLICAS)
    assert "1e−5 %" in text(app).replace("\\", "")
    assert len(app.get("plotly_chart")) == 1
